use siding::prelude::*;

#[mcp_tool(task = "required", ttl = 60)]
async fn deploy() {}

fn main() {}
