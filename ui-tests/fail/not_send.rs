use std::rc::Rc;

use siding::prelude::*;

#[mcp_tool]
async fn deploy(ctx: &mut Ctx) -> Result<u32> {
    let count = Rc::new(1);
    let more = ctx.step("more", async { Ok(2) }).await?;
    Ok(*count + more)
}

fn main() {}
