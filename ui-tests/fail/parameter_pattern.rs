use siding::prelude::*;

#[mcp_tool]
async fn area((width, height): (u32, u32)) -> u32 {
    width * height
}

fn main() {}
