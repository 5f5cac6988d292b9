use siding::prelude::*;

#[mcp_tool(task = "required", detach = "later")]
async fn deploy(ctx: &mut Ctx) -> siding::Result<()> {
    ctx.detach().await
}

fn main() {}
