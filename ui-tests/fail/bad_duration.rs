use siding::prelude::*;

#[mcp_tool(task = "required", ttl = "1 fortnight")]
async fn deploy() {}

fn main() {}
