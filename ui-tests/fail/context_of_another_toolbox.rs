use siding::prelude::*;

struct App;
struct Deployer;

#[mcp_tools]
impl Deployer {
    #[mcp_tool]
    async fn deploy(&self, ctx: &mut Ctx<App>) {
        ctx.status("deploying");
    }
}

fn main() {}
