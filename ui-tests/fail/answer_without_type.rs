use siding::prelude::*;

#[mcp_tool(task = "required")]
async fn deploy(ctx: &mut Ctx) -> Result<()> {
    let _region = ctx.input("Which region?").await?;
    Ok(())
}

fn main() {}
