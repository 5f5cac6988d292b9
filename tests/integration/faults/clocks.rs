//! Busy code and clocks that jump take no work from a live worker.

use std::{
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    thread,
    time::Instant,
};

use serde_json::json;
use siding::{
    host::{BoxFuture, Host, Timestamp},
    prelude::*,
};
use tokio::time::{Duration, sleep};

use super::{App, server};
use crate::support::{VirtualHost, Wire};

/// A clock that somebody sets.
#[derive(Clone, Debug)]
struct SetClock {
    host: VirtualHost,
    ahead: std::sync::Arc<AtomicU64>,
}

impl SetClock {
    fn new() -> Self {
        Self {
            host: VirtualHost::new(),
            ahead: std::sync::Arc::default(),
        }
    }

    fn jump(&self, by: Duration) {
        let millis = u64::try_from(by.as_millis()).unwrap();
        self.ahead.fetch_add(millis, Relaxed);
    }
}

impl Host for SetClock {
    fn now(&self) -> Timestamp {
        self.host
            .now()
            .after(Duration::from_millis(self.ahead.load(Relaxed)))
    }

    fn sleep_until(&self, time: Timestamp) -> BoxFuture<'static, ()> {
        let clock = self.clone();
        Box::pin(async move {
            while clock.now() < time {
                let remaining = time.since(clock.now());
                sleep(remaining.min(Duration::from_secs(1))).await;
            }
        })
    }

    fn sleep(&self, pause: Duration) -> BoxFuture<'static, ()> {
        self.host.sleep(pause)
    }

    fn random(&self) -> [u8; 16] {
        self.host.random()
    }
}

#[tokio::test(start_paused = true)]
async fn a_clock_that_jumps_three_hours_ahead_takes_no_step_from_a_live_worker() {
    let (store, clock, world) = (MemoryStore::new(), SetClock::new(), App::default());
    let mut first = Wire::with_host(server(&world, store.clone()), clock.clone());
    let _second = Wire::with_host(server(&world, store), clock.clone());
    let id = first.task("work", json!({ "seconds": 40 })).await;
    sleep(Duration::from_secs(5)).await;
    clock.jump(Duration::from_hours(3));
    let task = first.end(&id).await;
    assert_eq!(task["status"], "completed", "{task}");
    assert_eq!((world.begun(), world.ended()), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn a_clock_that_jumps_ahead_ends_no_grace() {
    let (store, clock, world) = (MemoryStore::new(), SetClock::new(), App::default());
    let mut wire = Wire::with_host(server(&world, store), clock.clone());
    let id = wire.task("work", json!({ "seconds": 4 })).await;
    sleep(Duration::from_secs(1)).await;
    wire.cancel(&id).await.unwrap();
    clock.jump(Duration::from_hours(3));
    sleep(Duration::from_secs(4)).await;
    assert_eq!(world.ended(), 1, "the step had its five seconds");
}

/// Keeps its thread for a second, as code does that was written without `async`.
#[mcp_tool(task = "required")]
async fn blocks(ctx: &mut Ctx<App>, yields: bool) -> Result<String> {
    let (world, handle) = (ctx.state(), ctx.handle());
    ctx.step("charge", async {
        world.begun.fetch_add(1, Relaxed);
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_secs(1) {
            if yields {
                handle.status("busy");
                tokio::task::yield_now().await;
            } else {
                thread::sleep(Duration::from_millis(50));
            }
        }
        Ok(())
    })
    .await?;
    Ok("charged".into())
}

/// One that keeps the only thread of its runtime, for longer than a silent worker is waited for.
async fn busy(yields: bool) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tasks.db");
    let world = App::default();
    let opened = async || {
        let store = SqliteStore::open(&path).await.unwrap();
        store.beat_every(Duration::from_millis(20));
        let server = Server::new("shop", "1.0.0").state(world.clone());
        server.tool::<blocks>().store(store)
    };
    let other = opened().await;
    // The other one has a runtime of its own, and would take what it can.
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let watching = thread::spawn(move || {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(async {
            let wire = Wire::with_host(other, siding::host::SystemHost);
            let _stopped = stopped.await;
            wire.close().await;
        });
    });
    let mut wire = Wire::with_host(opened().await, siding::host::SystemHost);
    let id = wire.task("blocks", json!({ "yields": yields })).await;
    let task = wire.end(&id).await;
    assert_eq!(task["status"], "completed", "{task}");
    assert_eq!(world.begun(), 1);
    stop.send(()).unwrap();
    watching.join().unwrap();
}

#[tokio::test]
async fn a_step_that_blocks_its_thread_runs_once() {
    busy(false).await;
}

#[tokio::test]
async fn a_step_that_never_rests_runs_once() {
    busy(true).await;
}
