use siding::prelude::*;

#[mcp_tool]
async fn deploy<T: Into<String>>(service: T) -> String {
    service.into()
}

fn main() {}
