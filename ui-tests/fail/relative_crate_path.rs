use siding::prelude::*;

#[mcp_tool(crate = siding)]
async fn deploy() {}

fn main() {}
