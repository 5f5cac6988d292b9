use siding::prelude::*;

#[mcp_part]
async fn ask_region(region: &mut String) {
    region.push('1');
}

fn main() {}
