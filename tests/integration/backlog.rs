//! Many tasks at once after a restart: whoever is waited for goes first.

use std::{
    path::Path,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use serde_json::json;
use siding::{
    host::{BoxFuture, Host, SystemHost, Timestamp},
    prelude::*,
};

use crate::support::{HookedStore, Moment, VirtualHost, Wire};

/// Sleeps for an hour, or asks.
#[mcp_tool(task = "required", ttl = "24h")]
async fn naps(ctx: &mut Ctx, asks: bool) -> Result<String> {
    if asks {
        let sure: bool = ctx.input("Sure?").await?;
        return Ok(sure.to_string());
    }
    ctx.sleep(Duration::from_hours(1)).await?;
    ctx.step("work", async { Ok(()) }).await?;
    ctx.sleep(Duration::from_hours(1)).await?;
    Ok("rested".into())
}

/// The clock of the machine, some hours ahead.
#[derive(Clone, Copy, Debug)]
struct Ahead(Duration);

impl Host for Ahead {
    fn now(&self) -> Timestamp {
        SystemHost.now().after(self.0)
    }

    fn sleep_until(&self, time: Timestamp) -> BoxFuture<'static, ()> {
        SystemHost.sleep(time.since(self.now()))
    }

    fn sleep(&self, pause: Duration) -> BoxFuture<'static, ()> {
        SystemHost.sleep(pause)
    }

    fn random(&self) -> [u8; 16] {
        SystemHost.random()
    }
}

async fn started(path: &Path, ahead: Duration) -> Wire {
    let store = SqliteStore::open(path).await.unwrap();
    let server = Server::new("shop", "1.0.0").tool::<naps>().store(store);
    Wire::with_host(server, Ahead(ahead))
}

/// How long it takes from an answer to the end of its task: the median of some, and the worst.
async fn answered(wire: &mut Wire, asked: &[String]) -> (Duration, Duration) {
    let mut times = Vec::new();
    for id in asked {
        let begun = Instant::now();
        wire.accept(id, "sure", json!({ "value": true })).await;
        loop {
            let task = wire.get(id).await;
            if task["status"] == "completed" {
                break;
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        times.push(begun.elapsed());
    }
    times.sort();
    (times[times.len() / 2], times[times.len() - 1])
}

/// The times of answers on an idle server, and on one that was just started with `due` naps that
/// are over and `parked` tasks that wait.
async fn times(due: usize, parked: usize) -> (Duration, Duration) {
    let answers = 11;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tasks.db");
    let mut wire = started(&path, Duration::ZERO).await;
    let mut asked = Vec::new();
    for _ in 0..parked {
        asked.push(wire.task("naps", json!({ "asks": true })).await);
    }
    for _ in 0..due {
        wire.task("naps", json!({ "asks": false })).await;
    }
    let (first, second) = (&asked[..answers], &asked[answers..2 * answers]);
    for id in first.iter().chain(second) {
        wire.until(id, "input_required").await;
    }
    let (idle, _) = answered(&mut wire, first).await;
    wire.close().await;
    let mut wire = started(&path, Duration::from_hours(2)).await;
    let (busy, worst) = answered(&mut wire, second).await;
    println!("answered in {idle:?} when idle; in {busy:?}, at worst {worst:?}, behind {due} due");
    (idle, busy)
}

#[tokio::test(start_paused = true)]
async fn what_was_just_answered_is_claimed_before_a_backlog() {
    let (store, host) = (MemoryStore::new(), VirtualHost::new());
    let server = |name: &str| Server::new(name, "1.0.0").tool::<naps>();
    let mut wire = Wire::with_host(server("shop").store(store.clone()), host);
    for _ in 0..200 {
        wire.task("naps", json!({ "asks": false })).await;
    }
    let id = wire.parked("naps", json!({ "asks": true })).await;
    wire.close().await;
    tokio::time::sleep(Duration::from_hours(2)).await;
    // A server that runs none of them takes the answer, after all naps are due.
    let mut bank = Wire::with_host(server("bank").store(store.clone()), host);
    bank.accept(&id, "sure", json!({ "value": true })).await;
    let claimed = Arc::new(Mutex::new(Vec::new()));
    let seen = claimed.clone();
    let store = HookedStore::new(store, move |moment| {
        if let Moment::Committing(change) = moment
            && change.record.index().worker.is_some()
        {
            let id = change.record.id().to_string();
            seen.lock().unwrap().push(id);
        }
        Box::pin(async {})
    });
    let mut wire = Wire::with_host(server("shop").store(store), host);
    wire.end(&id).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let claimed = claimed.lock().unwrap();
    assert!(claimed.len() > 200);
    assert_eq!(claimed[0], id);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a figure: run by `.ci/run figures`"]
async fn figure_an_answer_behind_a_restart_with_a_backlog() {
    let (idle, busy) = times(1_000, 10_000).await;
    let ratio = busy.as_secs_f64() / idle.as_secs_f64();
    assert!(ratio <= 10.0, "{ratio:.1} times");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a figure: run by `.ci/run figures`"]
async fn figure_an_answer_before_three_thousand_due_naps() {
    let (idle, busy) = times(3_000, 100).await;
    assert!(busy < Duration::from_secs(1), "{busy:?} against {idle:?}");
}
