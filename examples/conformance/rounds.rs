//! Tools that ask in the middle of a call, whatever the client can do.

use siding::prelude::*;

use crate::Named;

/// What a colour is asked by.
#[derive(Input)]
struct Coloured {
    color: String,
}

/// What a yes or no is asked by.
#[derive(Input)]
struct Confirmed {
    ok: bool,
}

/// Asks for a name.
#[mcp_tool(task = "optional")]
async fn test_input_required_result_elicitation(ctx: &mut Ctx) -> Result<String> {
    let user_name: Named = ctx.input("What is your name?").await?;
    Ok(format!("Hello, {}!", user_name.name))
}

/// Asks, and needs what it handed out to be handed back.
#[mcp_tool(task = "optional")]
async fn test_input_required_result_request_state(ctx: &mut Ctx) -> Result<String> {
    let confirm: Confirmed = ctx.input("Go on?").await?;
    Ok(if confirm.ok { "state-ok" } else { "stopped" }.into())
}

/// Asks twice, one after the other.
#[mcp_tool(task = "optional")]
async fn test_input_required_result_multi_round(ctx: &mut Ctx) -> Result<String> {
    let step1: Named = ctx.input("What is your name?").await?;
    let step2: Coloured = ctx.input("What is your favourite colour?").await?;
    Ok(format!("{} likes {}", step1.name, step2.color))
}

/// Asks, and takes no state that it did not hand out.
#[mcp_tool(task = "optional")]
async fn test_input_required_result_tampered_state(ctx: &mut Ctx) -> Result<String> {
    let confirm: Confirmed = ctx.input("Go on?").await?;
    Ok(format!("confirmed: {}", confirm.ok))
}

/// Asks while its client waits, then goes on as a task.
#[mcp_tool(task = "required", detach = "manual")]
async fn test_tool_with_task(ctx: &mut Ctx) -> Result<String> {
    let user_name: Named = ctx.input("What is your name?").await?;
    ctx.detach().await?;
    Ok(format!("Hello, {}!", user_name.name))
}

/// All of them.
pub(crate) fn all() -> siding::Tools {
    tools![
        test_input_required_result_elicitation,
        test_input_required_result_request_state,
        test_input_required_result_multi_round,
        test_input_required_result_tampered_state,
        test_tool_with_task,
    ]
}
