use siding::prelude::*;

#[mcp_tool(task = "required", ttl = "0s")]
async fn deploy() {}

fn main() {}
