use siding::prelude::*;

#[mcp_part]
struct Region;

fn main() {}
