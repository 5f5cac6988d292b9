use siding::prelude::*;

#[mcp_tool(task = "required")]
async fn deploy() -> Result<bool> {
    let sure: bool = ctx.input("Deploy?").await?;
    Ok(sure)
}

fn main() {}
