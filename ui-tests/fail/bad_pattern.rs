use siding::prelude::*;

#[mcp_tool]
async fn tag(#[arg(pattern = "v(?=1")] name: String) -> String {
    name
}

fn main() {}
