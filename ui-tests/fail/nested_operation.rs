use siding::prelude::*;

#[mcp_tool(task = "required")]
async fn deploy(ctx: &mut Ctx) -> Result<bool> {
    let ask = async || ctx.input("Deploy?").key("sure").await;
    ask().await
}

fn main() {}
