use siding::prelude::*;

async fn fetch() -> u32 {
    1
}

#[mcp_tool(task = "required")]
async fn deploy(ctx: &mut Ctx) -> Result<u32> {
    let fetched = ctx.step("fetch", tokio::spawn(fetch())).await?;
    Ok(fetched)
}

fn main() {}
