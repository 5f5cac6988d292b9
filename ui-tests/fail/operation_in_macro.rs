use siding::prelude::*;

macro_rules! twice {
    ($value:expr) => {
        2 * $value
    };
}

#[mcp_tool(task = "required")]
async fn deploy(ctx: &mut Ctx) -> Result<u32> {
    Ok(twice!(ctx.input::<u32>("How many?").key("count").await?))
}

fn main() {
    let _ = twice!(1);
}
