use siding::prelude::*;

#[mcp_tool(task = "required", til = "24h")]
async fn deploy() {}

fn main() {}
