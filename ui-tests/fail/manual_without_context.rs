use siding::prelude::*;

#[mcp_tool(task = "required", detach = "manual")]
async fn deploy() {}

fn main() {}
