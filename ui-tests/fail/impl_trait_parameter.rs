use siding::prelude::*;

#[mcp_tool]
async fn deploy(service: impl Into<String>) -> String {
    service.into()
}

fn main() {}
