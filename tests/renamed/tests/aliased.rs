//! With the dependency's own name given back to it, tools need not say where it is.

extern crate framework as siding;

use siding::prelude::*;

/// What the person fills in.
#[derive(Input)]
struct Approval {
    sure: bool,
}

/// Asks.
#[mcp_tool(task = "optional")]
async fn approve(ctx: &mut Ctx, what: &str) -> Result<String> {
    let approval: Approval = ctx.input(format!("Approve {what}?")).await?;
    let sure = approval.sure;
    ctx.step("note", async move { Ok(format!("{sure}")) }).await
}

#[test]
fn u18_an_alias_makes_the_path_unnecessary() {
    let server = Server::new("aliased", "1.0.0").tool::<approve>();
    assert!(format!("{server:?}").contains("approve"));
}
