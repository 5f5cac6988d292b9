use siding::prelude::*;

#[mcp_tool]
struct Deploy;

fn main() {}
