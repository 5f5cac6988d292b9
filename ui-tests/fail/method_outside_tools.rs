use siding::prelude::*;

struct Deployer;

impl Deployer {
    #[mcp_tool]
    async fn deploy(&self) {}
}

fn main() {}
