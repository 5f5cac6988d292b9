use siding::prelude::*;

#[mcp_part]
async fn ask(ctx: &mut Ctx) -> Result<bool> {
    let sure: bool = ctx.input("Deploy?").await?;
    Ok(sure)
}

#[mcp_tool(task = "required")]
async fn deploy(ctx: &mut Ctx) -> Result<bool> {
    let hour = std::time::Duration::from_secs(3600);
    tokio::time::timeout(hour, ask(ctx)).await?
}

fn main() {}
