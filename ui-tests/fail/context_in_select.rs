use siding::prelude::*;

#[mcp_part]
async fn ask(ctx: &mut Ctx) -> Result<bool> {
    let sure: bool = ctx.input("Deploy?").await?;
    Ok(sure)
}

#[mcp_tool(task = "required")]
async fn deploy(ctx: &mut Ctx) -> Result<bool> {
    tokio::select! {
        sure = ask(ctx) => sure,
        () = std::future::pending() => Ok(false),
    }
}

fn main() {}
