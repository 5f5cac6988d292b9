use siding::prelude::*;

async fn ask_region(ctx: &mut Ctx) -> Result<String> {
    let region = ctx.input("Which region?").await?;
    Ok(region)
}

#[mcp_tool(task = "required")]
async fn deploy(ctx: &mut Ctx) -> Result<String> {
    ask_region(ctx).await
}

fn main() {}
