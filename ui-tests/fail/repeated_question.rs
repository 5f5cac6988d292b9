use siding::prelude::*;

#[mcp_tool(task = "required")]
async fn deploy(ctx: &mut Ctx) -> Result<bool> {
    let sure: bool = ctx.input("Deploy?").await?;
    let sure: bool = sure && ctx.input("Sure?").key("sure").await?;
    Ok(sure)
}

fn main() {}
