use siding::prelude::*;

#[mcp_tool(name = "deploy service")]
async fn deploy() {}

fn main() {}
