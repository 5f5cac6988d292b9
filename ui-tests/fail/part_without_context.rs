use siding::prelude::*;

#[mcp_part]
async fn ask_region(ctx: &Ctx) -> Result<String> {
    let region = ctx.input("Which region?").await?;
    Ok(region)
}

fn main() {}
