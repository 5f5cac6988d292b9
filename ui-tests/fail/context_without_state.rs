use siding::prelude::*;

/// Tells the region.
#[mcp_tool]
async fn region(ctx: &mut Ctx) -> String {
    format!("{:?}", ctx.state())
}

fn main() {}
