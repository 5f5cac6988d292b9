use siding::prelude::*;

#[mcp_tool]
async fn deploy(service: &'static str) -> &'static str {
    service
}

fn main() {}
