use siding::prelude::*;

#[mcp_tool(task = "required", detach = "later")]
async fn deploy() {}

fn main() {}
