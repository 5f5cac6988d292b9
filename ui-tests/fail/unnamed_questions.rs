use siding::prelude::*;

#[mcp_tool(task = "required")]
async fn deploy(ctx: &mut Ctx) -> Result<(String, bool)> {
    ctx.input_all(("Which?", "Sure?")).await
}

fn main() {}
