use siding::prelude::*;

#[mcp_tool(task = "required")]
async fn deploy(ctx: &mut Ctx) -> Result<u32> {
    ctx.step("build/test", async { Ok(1) }).await
}

fn main() {}
