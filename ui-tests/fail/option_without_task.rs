use siding::prelude::*;

#[mcp_tool(ttl = "24h")]
async fn deploy() {}

fn main() {}
