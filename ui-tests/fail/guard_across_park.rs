#![deny(warnings)]

use siding::prelude::*;
use tokio::sync::Mutex;

struct App {
    releases: Mutex<u32>,
}

#[mcp_tool(task = "required", allow(await_outside_step))]
async fn deploy(ctx: &mut Ctx<App>) -> Result<u32> {
    let app = ctx.state();
    let mut releases = app.releases.lock().await;
    let sure: bool = ctx.input("Deploy?").await?;
    *releases += u32::from(sure);
    Ok(*releases)
}

fn main() {
    let app = App { releases: Mutex::new(0) };
    let _ = Server::new("deployer", "1").state(app).tool::<deploy>();
}
