//! What goes wrong between two messages: writes that fail, clients that leave, servers that die, and
//! code that goes on all the same.

mod capabilities;
mod leaving;
mod listening;
mod writes;

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicU32, Ordering::Relaxed},
};

use serde_json::{Value, json};
use siding::prelude::*;
use tokio::{
    sync::Notify,
    time::{Duration, sleep},
};

use crate::support::accepted;

#[derive(Default)]
struct World {
    charged: AtomicU32,
    shipped: AtomicU32,
    detached: Mutex<Vec<String>>,
    began: Notify,
    gate: Notify,
}

type Shop = Arc<World>;

impl World {
    /// Tells that it began, and waits to be let.
    async fn charge_when_let(&self) -> Result<u32> {
        self.began.notify_one();
        self.gate.notified().await;
        self.charge().await
    }

    async fn charge(&self) -> Result<u32> {
        Ok(self.charged.fetch_add(1, Relaxed) + 1)
    }

    async fn ship(&self) -> Result<u32> {
        Ok(self.shipped.fetch_add(1, Relaxed) + 1)
    }
}

/// Holds a place.
#[mcp_tool(task = "required")]
async fn hold(ctx: &mut Ctx<Shop>) -> Result<String> {
    let sure: bool = ctx.input("Sure?").await?;
    Ok(sure.to_string())
}

/// Charges, takes its time, asks.
#[mcp_tool(task = "optional", detach = "after 500ms")]
async fn slow_order(ctx: &mut Ctx<Shop>) -> Result<String> {
    let world = ctx.state();
    let charge = ctx.step("charge", world.charge()).await?;
    ctx.step("pack", async {
        sleep(Duration::from_secs(2)).await;
        siding::Ok(())
    })
    .await?;
    let sure: bool = ctx.input("Sure?").await?;
    Ok(format!("{sure}, charge {charge}"))
}

/// Charges at most once, asks.
#[mcp_tool(task = "optional", detach = "after 500ms")]
async fn quick_order(ctx: &mut Ctx<Shop>) -> Result<String> {
    let world = ctx.state();
    let charge = ctx.step("charge", world.charge()).at_most_once().await?;
    let sure: bool = ctx.input("Sure?").await?;
    Ok(format!("{sure}, charge {charge}"))
}

/// Charges, wants to be a task, asks.
#[mcp_tool(task = "optional", detach = "manual")]
async fn manual_order(ctx: &mut Ctx<Shop>) -> Result<String> {
    let world = ctx.state();
    let charge = ctx.step("charge", world.charge()).await?;
    if let Err(error) = ctx.detach().await {
        let text = error.to_string();
        world.detached.lock().unwrap().push(text);
    }
    let sure: bool = ctx.input("Sure?").await?;
    Ok(format!("{sure}, charge {charge}"))
}

/// Sleeps first, then works.
#[mcp_tool(task = "optional", detach = "after 10s")]
async fn nap(ctx: &mut Ctx<Shop>) -> Result<String> {
    let world = ctx.state();
    ctx.sleep(Duration::from_secs(1)).await?;
    ctx.step("work", async {
        world.charge().await?;
        sleep(Duration::from_secs(20)).await;
        siding::Ok(())
    })
    .await?;
    Ok(ctx.is_cancelled().to_string())
}

/// Asks, then works until it is let go.
#[mcp_tool(task = "optional")]
async fn pick(ctx: &mut Ctx<Shop>) -> Result<String> {
    let world = ctx.state();
    let sure: bool = ctx.input("Sure?").await?;
    ctx.step("work", async {
        world.gate.notified().await;
        siding::Ok(())
    })
    .await?;
    Ok(sure.to_string())
}

/// Sends somebody somewhere, or asks for a code.
#[mcp_tool(task = "optional")]
async fn sign_in(ctx: &mut Ctx<Shop>) -> Result<String> {
    let visited = ctx
        .input_url("Sign in", "https://example.com")
        .key("visit")
        .await;
    match visited {
        Ok(()) => Ok("gone there".into()),
        Err(error) if error.is_cannot_ask() => {
            let code: String = ctx.input("Code?").await?;
            Ok(format!("code {code}"))
        }
        Err(error) => Err(error),
    }
}

/// Two steps, then a question.
#[mcp_tool(task = "optional")]
async fn two_steps(ctx: &mut Ctx<Shop>) -> Result<String> {
    let world = ctx.state();
    ctx.step("charge", world.charge_when_let()).await?;
    ctx.step("ship", world.ship()).await?;
    let sure: bool = ctx.input("Sure?").await?;
    Ok(sure.to_string())
}

/// Works for longer than its time to live, then asks.
#[mcp_tool(task = "optional", ttl = "1m")]
async fn long(ctx: &mut Ctx<Shop>) -> Result<String> {
    ctx.step("work", async {
        sleep(Duration::from_secs(90)).await;
        siding::Ok(())
    })
    .await?;
    let sure: bool = ctx.input("Sure?").await?;
    Ok(sure.to_string())
}

/// Sleeps a minute between two questions.
#[mcp_tool(task = "optional")]
async fn doze(ctx: &mut Ctx<Shop>) -> Result<String> {
    let sure: bool = ctx.input("Sure?").await?;
    ctx.sleep(Duration::from_mins(1)).await?;
    Ok(sure.to_string())
}

fn open(world: &Shop) -> Server<Shop> {
    Server::new("shop", "1.0.0")
        .state(world.clone())
        .tools(tools![
            hold,
            slow_order,
            quick_order,
            manual_order,
            nap,
            pick,
            sign_in,
            two_steps,
            long,
            doze
        ])
}

fn server() -> (Server<Shop>, Shop) {
    let world = Shop::default();
    (open(&world), world)
}

fn sure() -> Value {
    json!({ "sure": accepted(json!({ "value": true })) })
}

fn meta(capabilities: Value) -> Value {
    json!({ "io.modelcontextprotocol/clientCapabilities": capabilities })
}
