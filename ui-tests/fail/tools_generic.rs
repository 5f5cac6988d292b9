use siding::prelude::*;

struct Deployer<T>(T);

#[mcp_tools]
impl<T> Deployer<T> {
    #[mcp_tool]
    async fn deploy(&self) {}
}

fn main() {
    let _ = Deployer(1).0;
}
