use siding::prelude::*;

struct Connection;

async fn connect() -> Result<Connection> {
    Ok(Connection)
}

#[mcp_tool(task = "required")]
async fn deploy(ctx: &mut Ctx) -> Result<()> {
    let connection = ctx.step("connect", connect()).await?;
    drop(connection);
    Ok(())
}

fn main() {}
