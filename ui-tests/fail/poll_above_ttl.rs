use siding::prelude::*;

#[mcp_tool(task = "required", ttl = "10s", poll = "1m")]
async fn deploy() {}

fn main() {}
