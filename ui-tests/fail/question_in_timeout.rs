use siding::prelude::*;

#[mcp_tool(task = "required")]
async fn deploy(ctx: &mut Ctx) -> Result<bool> {
    let hour = std::time::Duration::from_secs(3600);
    let sure = tokio::time::timeout(hour, ctx.input("Deploy?").key("sure")).await?;
    sure
}

fn main() {}
