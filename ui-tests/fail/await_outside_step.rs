#![deny(warnings)]

use siding::prelude::*;

async fn fetch() -> Result<u32> {
    Ok(1)
}

#[mcp_tool(task = "required")]
async fn deploy(ctx: &mut Ctx) -> Result<u32> {
    let count = fetch().await?;
    let sure: bool = ctx.input(format!("Deploy {count}?")).await?;
    Ok(if sure { count } else { 0 })
}

fn main() {
    let _ = Server::new("deployer", "1").tool::<deploy>();
}
