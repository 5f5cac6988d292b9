use siding::prelude::*;

#[mcp_tool]
async fn deploy(ctx: &mut Ctx) -> Result<bool> {
    let sure: bool = ctx.input("Deploy?").await?;
    Ok(sure)
}

fn main() {}
