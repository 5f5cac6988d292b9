//! Questions with all that can be said of them.

#![deny(warnings)]

use siding::prelude::*;

#[derive(Input, Clone, Copy)]
enum Pace {
    Careful,
    Fast,
}

#[derive(Input)]
struct Plan {
    pace: Pace,
    hosts: Vec<Pace>,
    note: Option<String>,
}

/// Says it all.
#[mcp_tool(task = "optional")]
async fn ask(ctx: &mut Ctx, names: Vec<String>) -> Result<String> {
    let count: u64 = ctx.input("How many?").prefill(3).was("number").await?;
    let ratio: f64 = ctx.input("Which ratio?").prefill(0.5).await?;
    let note: Option<String> = ctx.input("A note?").prefill("none").await?;
    let pace = ctx.input::<Pace>("Which pace?").prefill(Pace::Fast).optional().await?;
    let plan = Plan { pace: pace.unwrap_or(Pace::Careful), hosts: vec![], note };
    let plan: Plan = ctx.input("Which plan?").prefill(plan).key("the-plan").await?;
    let name: &String = ctx.choose("Which name?", &names).await?;
    let port: Option<u16> = ctx.choose("Which port?", [80_u16, 443]).optional().await?;
    let agreed = ctx.input_url("Sign", "https://example.com").optional().await?;
    ctx.input_url("Pay", format!("https://example.com/{name}")).key("pay").await?;
    Ok(format!("{count}{ratio}{port:?}{agreed:?}{:?}{}", plan.note, plan.hosts.len()))
}

fn main() {
    let _ = Server::new("questions", "1").tool::<ask>();
}
