use siding::prelude::*;

async fn price(_: &str) -> Result<u32> {
    Ok(20)
}

#[mcp_tool(task = "required")]
async fn deploy(ctx: &mut Ctx, items: Vec<String>) -> Result<u32> {
    let mut total = 0;
    ctx.step("total", async {
        for item in &items {
            total += price(item).await?;
        }
        Ok(())
    })
    .await?;
    Ok(total)
}

fn main() {}
