use siding::prelude::*;

struct Deployer;

#[mcp_tools]
impl Deployer {
    async fn deploy(&self) {}
}

fn main() {
    let _ = Deployer.deploy();
}
