use siding::prelude::*;

struct Deployer {
    count: u32,
}

#[mcp_tools]
impl Deployer {
    #[mcp_tool]
    async fn deploy(&mut self) -> u32 {
        self.count += 1;
        self.count
    }
}

fn main() {
    let _ = Server::new("deployer", "1").toolbox(Deployer { count: 0 });
}
