use siding::prelude::*;

#[mcp_tool]
async unsafe fn deploy() {}

fn main() {}
