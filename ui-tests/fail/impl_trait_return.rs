use siding::prelude::*;

#[mcp_tool]
async fn deploy() -> impl Into<String> {
    "deployed"
}

fn main() {}
