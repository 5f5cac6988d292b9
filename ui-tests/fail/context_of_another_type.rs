use siding::prelude::*;

#[mcp_tool]
async fn deploy(count: &mut u32) {
    *count += 1;
}

fn main() {}
