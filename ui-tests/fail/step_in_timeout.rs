use siding::prelude::*;

async fn fetch() -> Result<u32> {
    Ok(1)
}

#[mcp_tool(task = "required")]
async fn deploy(ctx: &mut Ctx) -> Result<u32> {
    let second = std::time::Duration::from_secs(1);
    tokio::time::timeout(second, ctx.step("fetch", fetch())).await?
}

fn main() {}
