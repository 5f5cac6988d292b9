use siding::prelude::*;

#[mcp_part]
fn announce(ctx: &mut Ctx) {
    ctx.status("deploying");
}

fn main() {}
