use siding::prelude::*;

#[mcp_tool(task = "required")]
async fn deploy(ctx: &mut Ctx) -> Result<bool> {
    let (sure,) = tokio::join!(ctx.input("Deploy?").key("sure"));
    sure
}

fn main() {}
