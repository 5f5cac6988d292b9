use siding::prelude::*;

#[mcp_tool(title = "Deploy", title = "Deploys")]
async fn deploy() {}

fn main() {}
