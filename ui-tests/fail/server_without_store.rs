use siding::prelude::*;

#[mcp_tool(task = "required")]
async fn deploy(ctx: &mut Ctx) -> Result<bool> {
    let sure: bool = ctx.input("Deploy?").await?;
    Ok(sure)
}

fn main() {
    let _ = Server::new("deployer", "1").store(()).tool::<deploy>();
}
