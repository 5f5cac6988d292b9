use siding::prelude::*;

#[mcp_tool(task = "required")]
async fn deploy(ctx: &mut Ctx, count: &mut u32) {
    *count += 1;
}

fn main() {}
