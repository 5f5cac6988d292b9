//! What outlives a leg, in a server with a tool for each.

mod operations;
mod views;

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
    time::Duration,
};

use siding::{prelude::*, retry::ConstantBuilder};
use tokio::time::sleep;

use crate::support::Wire;

/// What happened, in the order in which it did.
#[derive(Default)]
struct Log(std::sync::Mutex<Vec<String>>);

impl Log {
    fn add(&self, what: impl Into<String>) {
        self.0.lock().unwrap().push(what.into());
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

type App = Arc<Log>;

/// Sleeps for an hour between two steps.
#[mcp_tool(task = "optional", ttl = "3h")]
async fn nap(ctx: &mut Ctx<App>) -> Result<u64> {
    let log = ctx.state();
    let before = ctx.now();
    ctx.step("before", async {
        log.add("before");
        Ok(())
    })
    .await?;
    ctx.sleep(Duration::from_hours(1)).await?;
    let log = ctx.state();
    let after = ctx.now();
    log.add("after");
    Ok(after.since(before).as_secs())
}

/// Gives values twice, around a question.
#[mcp_tool(task = "required")]
async fn values(ctx: &mut Ctx<App>) -> Result<bool> {
    let first = (ctx.uuid("a"), ctx.uuid("a"), ctx.random("a"), ctx.now());
    let key = ctx.idempotency_key("pay");
    ctx.state()
        .add(format!("{first:?} {key} {}", ctx.call_id()));
    assert_ne!(first.0, first.1);
    let sure: bool = ctx.input("Sure?").await?;
    Ok(sure)
}

/// Refunds once, and gives the key by which the other side knows it again.
#[mcp_part]
async fn refund_one(ctx: &mut Ctx) -> Result<String> {
    let key = ctx.idempotency_key("refund");
    ctx.step("refund", async { Ok(key) }).await
}

/// Refunds four times: twice in a loop, twice by a part.
#[mcp_tool(task = "required")]
async fn refunds(ctx: &mut Ctx<App>) -> Result<Vec<String>> {
    let mut keys = Vec::new();
    for _ in 0..2 {
        let key = ctx.idempotency_key("refund");
        let other = ctx.idempotency_key("other");
        ctx.step("look", async { Ok(()) }).await?;
        assert_eq!(key, ctx.idempotency_key("refund"));
        ctx.step("refund", async { Ok(()) }).await?;
        assert_eq!(other, ctx.idempotency_key("other"));
        keys.push(key);
    }
    for _ in 0..2 {
        keys.push(ctx.idempotency_key("refund_one"));
        keys.push(refund_one(ctx).await?);
    }
    ctx.state().add(keys.join(" "));
    let sure: bool = ctx.input("Sure?").await?;
    assert!(sure);
    Ok(keys)
}

/// Tells three things, one of them twice.
#[mcp_tool(task = "required")]
async fn tells(ctx: &mut Ctx<App>) -> Result<bool> {
    ctx.status("first");
    ctx.set_meta("com.example/colour", "red");
    ctx.set_ttl(Some(Duration::from_mins(2)));
    let sure: bool = ctx.input("Sure?").await?;
    let handle = ctx.handle();
    ctx.step("work", async {
        handle.status("from a step");
        sleep(Duration::from_secs(20)).await;
        Ok(())
    })
    .await?;
    Ok(sure)
}

/// Reserves, asks, and releases what was not wanted.
#[mcp_tool(task = "required")]
async fn reserve(ctx: &mut Ctx<App>) -> Result<bool> {
    let log = ctx.state();
    ctx.step("reserve", async {
        log.add("reserve");
        Ok(())
    })
    .await?;
    let sure: Result<bool> = ctx.input("Take it?").key("sure").await;
    if let Ok(true) = sure {
        return Ok(true);
    }
    let log = ctx.state();
    let after = ctx
        .step("after", async {
            log.add("after");
            Ok(())
        })
        .await;
    let cancelled = after.is_err_and(|error| error.is_cancelled());
    let log = ctx.state();
    ctx.cleanup("release", async {
        log.add("release");
        Ok(cancelled)
    })
    .await
}

/// Releases what a tool holds.
#[mcp_part]
async fn give_back(ctx: &mut Ctx, log: Arc<App>, what: &str) -> Result<()> {
    ctx.cleanup(format!("release {what}"), async {
        log.add(format!("release {what}"));
        Ok(())
    })
    .await
}

/// Leaves it to a part to clean up.
#[mcp_tool(task = "required")]
async fn hands_on(ctx: &mut Ctx<App>) -> Result<bool> {
    let sure: Result<bool> = ctx.input("Take it?").key("sure").await;
    let log = ctx.state();
    give_back(ctx, log, "seat").await?;
    sure
}

/// Tries until it goes well.
#[mcp_tool(task = "required")]
async fn tries(ctx: &mut Ctx<App>, failures: u32) -> Result<u32> {
    let log = ctx.state();
    let tried = AtomicU32::new(0);
    let policy = ConstantBuilder::new()
        .with_delay(Duration::from_secs(7))
        .with_max_times(3);
    let attempt = || async {
        let n = tried.fetch_add(1, Relaxed);
        log.add(format!("attempt {n}"));
        if n < failures {
            Err(ToolError::new("not yet"))
        } else {
            Ok(n)
        }
    };
    ctx.step_retry("try", policy, attempt).await
}

/// Does something for each of many.
#[mcp_tool(task = "required")]
async fn each(ctx: &mut Ctx<App>, items: Vec<u64>) -> Result<Vec<u64>> {
    let log = ctx.state();
    let doubled = ctx
        .step_all("double", items, |item| {
            let log = log.clone();
            async move {
                sleep(Duration::from_secs(100 - item)).await;
                log.add(item.to_string());
                siding::Ok(item * 2)
            }
        })
        .await?;
    let sure: bool = ctx.input("Sure?").await?;
    assert!(sure);
    Ok(doubled)
}

/// Waits an hour for an objection.
#[mcp_tool(task = "required", ttl = "3h")]
async fn objection(ctx: &mut Ctx<App>) -> Result<String> {
    let hour = Duration::from_hours(1);
    let objection: Result<String> = ctx.input("Why not?").timeout(hour).key("why-not").await;
    match objection {
        Ok(why) => Ok(why),
        Err(error) if error.is_timed_out() => Ok("nobody objected".into()),
        Err(error) => Err(error),
    }
}

/// Cleans up without ever coming to an end.
#[mcp_tool(task = "required")]
async fn stuck(ctx: &mut Ctx<App>) -> Result<bool> {
    let sure: Result<bool> = ctx.input("Sure?").key("sure").await;
    let log = ctx.state();
    ctx.cleanup("clean", async {
        log.add("cleaning");
        std::future::pending::<Result<()>>().await
    })
    .await?;
    sure
}

/// Sees every error of its step.
#[mcp_tool(task = "required")]
async fn watchful(ctx: &mut Ctx<App>) -> Result<String> {
    let log = ctx.state();
    let outcome = ctx
        .step("effect", async {
            log.add("effect");
            Ok(1)
        })
        .await;
    Ok(outcome.map_or_else(|error| format!("saw {error}"), |_| "fine".into()))
}

/// A value that JSON could change on its way.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
struct Fragile {
    tenth: f64,
    single: f32,
    huge: u64,
    #[serde(skip)]
    skipped: u8,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    defaulted: Vec<u8>,
    map: std::collections::BTreeMap<u64, Option<f64>>,
    text: String,
}

/// Tells what its step gave, in every leg.
#[mcp_tool(task = "required")]
async fn fragile(ctx: &mut Ctx<App>) -> Result<bool> {
    let value = Fragile {
        tenth: 0.1 + 0.2,
        single: 16_777_217.0_f32 / 3.0,
        huge: u64::MAX,
        skipped: 7,
        defaulted: Vec::new(),
        map: [(u64::MAX, Some(1e-300)), (0, None)].into(),
        text: "\u{0}\u{2028}\u{1f980}".into(),
    };
    let given = ctx.step("make", async { Ok(value.clone()) }).await?;
    ctx.state().add(format!("{given:?}"));
    let sure: bool = ctx.input("Sure?").await?;
    Ok(sure)
}

/// Returns as much as it is asked for.
#[mcp_tool(task = "required")]
async fn large(bytes: usize) -> String {
    "x".repeat(bytes)
}

/// Works until it is stopped.
#[mcp_tool(task = "required", ttl = "60s")]
async fn endless(ctx: &mut Ctx<App>) -> Result<()> {
    let log = ctx.state();
    log.add("begun");
    ctx.cancelled().await;
    log.add("stopped");
    Ok(())
}

fn server() -> (Server<App>, App) {
    let log = App::default();
    let tools = tools![
        objection, stuck, watchful, fragile, nap, values, tells, reserve, tries, each, large,
        endless, hands_on, refunds
    ];
    (
        Server::new("lasting", "1.0.0")
            .state(log.clone())
            .tools(tools),
        log,
    )
}

fn wire() -> (Wire, App) {
    let (server, log) = server();
    (Wire::tasks(server), log)
}

async fn settle() {
    sleep(Duration::from_millis(50)).await;
}
