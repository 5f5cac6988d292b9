use siding::prelude::*;

#[mcp_tool(task = "required")]
async fn deploy(ctx: &mut Ctx) -> Result<u8> {
    let hosts: u8 = ctx.input("How many hosts?").prefill("two").await?;
    Ok(hosts)
}

fn main() {}
