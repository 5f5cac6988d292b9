//! What comes in between: a clock that goes on, a cancel, a leg that has not let go yet.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Duration,
};

use serde_json::json;
use siding::{
    host::{BoxFuture, Host},
    prelude::*,
    record::Status,
};
use tokio::{
    sync::Notify,
    time::{Instant, advance, sleep, timeout},
};

use crate::support::{HookedStore, Moment, VirtualHost, Wire};

/// When legs began to wait for a cancel, and when they saw one.
#[derive(Clone, Default)]
struct Seen {
    begun: Arc<Mutex<Option<Instant>>>,
    cancelled: Arc<Mutex<Option<Instant>>>,
}

/// Sleeps for ten seconds.
#[mcp_tool(task = "required")]
async fn nap(ctx: &mut Ctx) -> Result<bool> {
    ctx.sleep(Duration::from_secs(10)).await?;
    Ok(true)
}

/// Asks, then waits for its cancel.
#[mcp_tool(task = "required")]
async fn waits(ctx: &mut Ctx<Seen>) -> Result<bool> {
    let sure: bool = ctx.input("Sure?").await?;
    let (handle, seen) = (ctx.handle(), ctx.state());
    ctx.step("wait", async {
        *seen.begun.lock().unwrap() = Some(Instant::now());
        handle.cancelled().await;
        *seen.cancelled.lock().unwrap() = Some(Instant::now());
        Ok(())
    })
    .await?;
    Ok(sure)
}

fn nothing() -> BoxFuture<'static, ()> {
    Box::pin(async {})
}

/// A task of `waits` on `store`, just after its answer came.
async fn answered(store: HookedStore, seen: &Seen) -> (Wire, String) {
    let server = Server::new("waits", "1.0.0").state(seen.clone());
    let mut wire = Wire::tasks(server.store(store).tool::<waits>());
    let id = wire.parked("waits", json!({})).await;
    wire.accept(&id, "sure", json!({ "value": true })).await;
    (wire, id)
}

#[tokio::test(start_paused = true)]
async fn what_becomes_due_while_the_driver_looks_is_not_overlooked() {
    let parked = Arc::new(AtomicBool::new(false));
    let store = HookedStore::new(MemoryStore::new(), move |moment| match moment {
        Moment::Committed(record) if record.legs() == 1 && record.status() == Status::Working => {
            parked.store(true, Relaxed);
            nothing()
        }
        // The sleep ends after it was looked for what can run, and before the driver waits.
        Moment::Looked if parked.swap(false, Relaxed) => Box::pin(advance(Duration::from_secs(10))),
        _ => nothing(),
    });
    let server = Server::new("naps", "1.0.0").store(store).tool::<nap>();
    let mut wire = Wire::tasks(server);
    let id = wire.task("nap", json!({})).await;
    assert_eq!(wire.end(&id).await["status"], "completed");
}

#[tokio::test(start_paused = true)]
async fn a_cancel_while_a_leg_is_about_to_begin_is_seen_at_once() {
    let journal = |moment: &Moment| matches!(moment, Moment::Journal);
    let (store, gate) = HookedStore::gated(MemoryStore::new(), journal);
    let seen = Seen::default();
    let (mut wire, id) = answered(store, &seen).await;
    gate.reached().await;
    wire.cancel(&id).await.unwrap();
    let cancelled = Instant::now();
    gate.open();
    assert_eq!(wire.end(&id).await["status"], "cancelled");
    advance(Duration::from_secs(1)).await;
    wire.get(&id).await;
    let begun = seen.begun.lock().unwrap().is_some();
    let saw = *seen.cancelled.lock().unwrap();
    assert!(!begun || saw.is_some_and(|saw| saw - cancelled < Duration::from_secs(1)));
}

#[tokio::test(start_paused = true)]
async fn a_leg_that_lets_go_late_takes_nothing_from_the_next() {
    let (store, gate) = HookedStore::gated(
        MemoryStore::new(),
        |moment| matches!(moment, Moment::Committed(record) if record.status() == Status::InputRequired),
    );
    let seen = Seen::default();
    let (mut wire, id) = answered(store, &seen).await;
    while seen.begun.lock().unwrap().is_none() {
        wire.get(&id).await;
    }
    gate.open();
    advance(Duration::from_millis(1)).await;
    wire.get(&id).await;
    wire.cancel(&id).await.unwrap();
    let cancelled = Instant::now();
    advance(Duration::from_secs(1)).await;
    wire.get(&id).await;
    let saw = *seen.cancelled.lock().unwrap();
    assert!(saw.is_some_and(|saw| saw - cancelled < Duration::from_secs(1)));
}

#[tokio::test(start_paused = true)]
async fn a_server_that_stops_while_it_claims_keeps_nothing_from_others() {
    let stop = Arc::new(Notify::new());
    let stops = stop.clone();
    let claims = Arc::new(AtomicBool::new(false));
    let claimed = claims.clone();
    let store = HookedStore::new(MemoryStore::new(), move |moment| match moment {
        Moment::Committed(record) if record.legs() == 2 && !claims.swap(true, Relaxed) => {
            stops.notify_one();
            Box::pin(sleep(Duration::from_secs(1)))
        }
        _ => nothing(),
    });
    let server = Server::new("waits", "1.0.0").state(Seen::default());
    let server = server.patience(Duration::from_secs(2)).store(store);
    let host = VirtualHost::new();
    let server = server
        .shutdown_on(async move { stop.notified().await })
        .host(host);
    let tasks = server.tasks();
    let mut wire = Wire::with_host(server.tool::<waits>(), host);
    let id = wire.parked("waits", json!({})).await;
    wire.accept(&id, "sure", json!({ "value": true })).await;
    wire.close().await;
    assert!(claimed.load(Relaxed));
    let task = tasks.get(&id.as_str().into()).await.unwrap();
    let due = task.index().due_at;
    assert!(due.is_some_and(|due| due <= host.now()), "{task:?}");
}

#[tokio::test(start_paused = true)]
async fn a_server_stops_also_while_nobody_has_said_anything() {
    let (_client, ours) = tokio::io::duplex(1024);
    let (reader, writer) = tokio::io::split(ours);
    let server = Server::new("naps", "1.0.0").tool::<nap>();
    let serving = server.shutdown_on(async {}).serve(reader, writer);
    timeout(Duration::from_mins(1), serving)
        .await
        .expect("it stops")
        .unwrap();
}

/// Works for twelve seconds, and tells so.
#[mcp_tool(task = "required")]
async fn works(ctx: &mut Ctx) -> Result<bool> {
    ctx.status("working");
    ctx.step("work", async {
        sleep(Duration::from_secs(12)).await;
        Ok(true)
    })
    .await
}

#[tokio::test(start_paused = true)]
async fn work_goes_on_while_its_status_is_written() {
    let store = HookedStore::new(MemoryStore::new(), |moment| match moment {
        // The first write of the leg is its status, and takes for ever.
        Moment::Committed(record) if record.version() == 2 => Box::pin(std::future::pending()),
        _ => nothing(),
    });
    let server = Server::new("works", "1.0.0").store(store).tool::<works>();
    let mut wire = Wire::tasks(server);
    let id = wire.task("works", json!({})).await;
    sleep(Duration::from_secs(13)).await;
    assert_eq!(wire.get(&id).await["status"], "completed");
}
