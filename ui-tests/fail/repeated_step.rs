use siding::prelude::*;

#[mcp_tool(task = "required")]
async fn deploy(ctx: &mut Ctx) -> Result<u32> {
    let first: u32 = ctx.step("build", async { Ok(1) }).await?;
    let second: u32 = ctx.step("build", async { Ok(2) }).await?;
    Ok(first + second)
}

fn main() {}
