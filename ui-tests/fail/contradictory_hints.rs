use siding::prelude::*;

#[mcp_tool(read_only = true, destructive = true)]
async fn deploy() {}

fn main() {}
