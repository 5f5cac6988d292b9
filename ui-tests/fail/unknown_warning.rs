use siding::prelude::*;

#[mcp_tool(allow(await_in_step))]
async fn deploy() {}

fn main() {}
