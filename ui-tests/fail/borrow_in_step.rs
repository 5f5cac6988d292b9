use siding::prelude::*;

async fn fill(lines: &mut Vec<String>) -> Result<()> {
    lines.push("one".into());
    Ok(())
}

#[mcp_tool(task = "required")]
async fn deploy(ctx: &mut Ctx) -> Result<Vec<String>> {
    let mut lines = Vec::new();
    ctx.step("fill", fill(&mut lines)).await?;
    Ok(lines)
}

fn main() {}
