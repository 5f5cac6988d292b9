#![deny(warnings)]

use std::time::SystemTime;

use siding::prelude::*;

#[mcp_tool(task = "required")]
async fn deploy(ctx: &mut Ctx) -> Result<String> {
    let begun = SystemTime::now();
    let sure: bool = ctx.input("Deploy?").await?;
    Ok(format!("{sure} {begun:?}"))
}

fn main() {
    let _ = Server::new("deployer", "1").tool::<deploy>();
}
