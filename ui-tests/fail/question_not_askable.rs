use siding::prelude::*;

struct Region;

#[mcp_tool(task = "required")]
async fn deploy(ctx: &mut Ctx) -> Result<()> {
    let region: Region = ctx.input("Which region?").await?;
    drop(region);
    Ok(())
}

fn main() {}
