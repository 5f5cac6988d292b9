use siding::prelude::*;

#[mcp_tool]
fn deploy() {}

fn main() {}
