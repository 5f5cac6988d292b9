use siding::prelude::*;

#[mcp_tools]
mod tools {
    pub async fn deploy() {}
}

fn main() {}
