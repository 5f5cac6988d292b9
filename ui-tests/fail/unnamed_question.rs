use siding::prelude::*;

#[mcp_tool(task = "required")]
async fn deploy(ctx: &mut Ctx) -> Result<bool> {
    ctx.input("Deploy?").await
}

fn main() {}
