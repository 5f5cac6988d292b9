use siding::prelude::*;

#[mcp_tool(task = "required")]
async fn deploy(ctx: &mut Ctx) -> Result<()> {
    ctx.detach().await?;
    Ok(())
}

fn main() {}
