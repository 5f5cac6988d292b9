use siding::prelude::*;

#[mcp_tool(task = "requierd")]
async fn deploy() {}

fn main() {}
