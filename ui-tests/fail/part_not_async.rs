use siding::prelude::*;

#[mcp_part]
fn ask_region(ctx: &mut Ctx) -> Result<String> {
    ctx.input("Which region?").key("region")
}

fn main() {}
