use siding::prelude::*;

#[mcp_tool(task = "required")]
async fn deploy(ctx: &mut Ctx) -> Result<bool> {
    let sure = ctx.input("Deploy?");
    sure.await
}

fn main() {}
