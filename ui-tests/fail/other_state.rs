use siding::prelude::*;

struct App;
struct Other;

#[mcp_tool]
async fn deploy(ctx: &mut Ctx<App>) {
    ctx.status("deploying");
}

fn main() {
    let _ = Server::new("deployer", "1").state(Other).tool::<deploy>();
}
