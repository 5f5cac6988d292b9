use siding::prelude::*;

/// Several mistakes are reported together, and what registers the tool has none.
#[mcp_tool(task = "requierd", til = "24h")]
fn deploy(ctx: &mut Ctx, (service, region): (String, String)) -> Result<bool> {
    if service == region {
        return Ok(false);
    }
    ctx.input("Deploy?").await
}

fn main() {
    let _ = Server::new("deployer", "1").tools(tools![deploy]);
}
