//! Several servers on one store, and servers that stop.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
    time::Duration,
};

use serde_json::json;
use siding::{Store, prelude::*};
use tokio::{sync::Notify, time::sleep};

use crate::support::{HookedStore, VirtualHost, Wire};

#[derive(Default)]
struct Counts {
    begun: AtomicU32,
    ended: AtomicU32,
}

type App = Arc<Counts>;

/// Works for a while, then asks.
#[mcp_tool(task = "required")]
async fn work(ctx: &mut Ctx<App>, seconds: u64) -> Result<bool> {
    let counts = ctx.state();
    ctx.step("work", async {
        counts.begun.fetch_add(1, Relaxed);
        sleep(Duration::from_secs(seconds)).await;
        counts.ended.fetch_add(1, Relaxed);
        Ok(())
    })
    .await?;
    let sure: bool = ctx.input("Sure?").await?;
    Ok(sure)
}

/// Writes to the store every five seconds.
#[mcp_tool(task = "required")]
async fn ticks(ctx: &mut Ctx<App>) -> Result<()> {
    for _ in 0..100 {
        ctx.step("tick", async {
            sleep(Duration::from_secs(5)).await;
            Ok(())
        })
        .await?;
    }
    Ok(())
}

/// Works until it is cancelled.
#[mcp_tool(task = "required")]
async fn endless(ctx: &mut Ctx<App>) -> Result<()> {
    ctx.state().begun.fetch_add(1, Relaxed);
    ctx.cancelled().await;
    ctx.state().ended.fetch_add(1, Relaxed);
    Ok(())
}

fn named(name: &str, counts: &App, store: &MemoryStore) -> Server<App> {
    let server = Server::new(name, "1.0.0").state(counts.clone());
    server
        .tools(tools![work, endless, ticks])
        .store(store.clone())
}

#[tokio::test(start_paused = true)]
async fn s02_s18_what_one_server_made_the_others_know_answer_and_cancel() {
    let (store, host) = (MemoryStore::new(), VirtualHost::new());
    let counts = App::default();
    let mut first = Wire::with_host(named("shop", &counts, &store), host);
    let mut second = Wire::with_host(named("shop", &counts, &store), host);
    let id = first.task("work", json!({ "seconds": 1 })).await;
    second.until(&id, "input_required").await;
    second.accept(&id, "sure", json!({ "value": true })).await;
    assert_eq!(first.end(&id).await["result"]["structuredContent"], true);
    assert_eq!(counts.begun.load(Relaxed), 1);

    let id = first.task("endless", json!({})).await;
    sleep(Duration::from_millis(50)).await;
    second.cancel(&id).await.unwrap();
    assert_eq!(first.get(&id).await["status"], "cancelled");
    sleep(Duration::from_millis(50)).await;
    assert_eq!(counts.ended.load(Relaxed), 2);
}

#[tokio::test(start_paused = true)]
async fn a_server_of_another_pool_answers_for_a_task_but_never_runs_it() {
    let (store, host) = (MemoryStore::new(), VirtualHost::new());
    let (ours, theirs) = (App::default(), App::default());
    let mut shop = Wire::with_host(named("shop", &ours, &store), host);
    let id = shop.parked("work", json!({ "seconds": 1 })).await;
    shop.close().await;
    let mut bank = Wire::with_host(named("bank", &theirs, &store), host);
    bank.accept(&id, "sure", json!({ "value": true })).await;
    sleep(Duration::from_mins(5)).await;
    assert_eq!(bank.get(&id).await["status"], "working");
    let mut shop = Wire::with_host(named("shop", &ours, &store), host);
    assert_eq!(shop.end(&id).await["status"], "completed");
    assert_eq!(theirs.begun.load(Relaxed), 0);
}

#[tokio::test(start_paused = true)]
async fn a_step_that_takes_longer_than_a_lease_runs_once() {
    let (store, host) = (MemoryStore::new(), VirtualHost::new());
    let counts = App::default();
    let mut first = Wire::with_host(named("shop", &counts, &store), host);
    let _second = Wire::with_host(named("shop", &counts, &store), host);
    let id = first.task("work", json!({ "seconds": 600 })).await;
    sleep(Duration::from_secs(605)).await;
    first.until(&id, "input_required").await;
    assert_eq!(counts.begun.load(Relaxed), 1);
}

#[tokio::test(start_paused = true)]
async fn a_worker_that_lost_its_lease_stops_and_commits_nothing() {
    let (store, host) = (MemoryStore::new(), VirtualHost::new());
    let (stalled, healthy) = (App::default(), App::default());
    let mut first = Wire::with_host(named("shop", &stalled, &store), host);
    let id = first.task("work", json!({ "seconds": 100 })).await;
    sleep(Duration::from_secs(40)).await;
    // It was stopped for so long that the other one takes it for dead.
    let task = store.load(&id.as_str().into()).await.unwrap().unwrap();
    let worker = task.index().worker.unwrap().to_owned();
    let mistaken = HookedStore::new(store.clone(), |_| Box::pin(async {})).believing_dead(worker);
    let server = Server::new("shop", "1.0.0").state(healthy.clone());
    let server = server.tools(tools![work, endless, ticks]).store(mistaken);
    let mut second = Wire::with_host(server, host);
    sleep(Duration::from_secs(30)).await;
    assert_eq!(healthy.begun.load(Relaxed), 1);
    // The first worker stops its step, which nobody waits for any more.
    sleep(Duration::from_secs(40)).await;
    assert_eq!(
        (stalled.ended.load(Relaxed), healthy.ended.load(Relaxed)),
        (0, 0),
        "it heard that others go on, and was dropped after its grace"
    );
    assert_eq!(second.get(&id).await["status"], "working");
    second.until(&id, "input_required").await;
    assert_eq!(healthy.ended.load(Relaxed), 1);
    let task = store.load(&id.as_str().into()).await.unwrap().unwrap();
    assert_eq!(
        store.journal(task.id()).await.unwrap().len(),
        2,
        "the step once, and the question"
    );
    assert_eq!(task.legs(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_stops_lets_its_work_reach_a_park() {
    let (store, host) = (MemoryStore::new(), VirtualHost::new());
    let counts = App::default();
    let stop = Arc::new(Notify::new());
    let stopped = stop.clone();
    let server = named("shop", &counts, &store).patience(Duration::from_secs(20));
    let server = server
        .shutdown_on(async move { stopped.notified().await })
        .host(host);
    let tasks = server.tasks();
    let mut wire = Wire::with_host(server, host);
    let id = wire.task("work", json!({ "seconds": 10 })).await;
    sleep(Duration::from_secs(1)).await;
    stop.notify_one();
    sleep(Duration::from_secs(1)).await;
    // Whoever asks meanwhile is answered, but nothing new begins.
    let refused = wire
        .call("work", json!({ "seconds": 1 }))
        .await
        .unwrap_err();
    assert_eq!(refused["data"]["reason"], "shutting_down");
    assert_eq!(wire.get(&id).await["status"], "working");
    wire.close().await;
    assert_eq!(counts.ended.load(Relaxed), 1);
    let parked = tasks.get(&id.as_str().into()).await.unwrap();
    assert_eq!(parked.status(), siding::record::Status::InputRequired);
}

#[tokio::test(start_paused = true)]
async fn work_that_takes_too_long_when_its_server_stops_goes_on_elsewhere_at_once() {
    let (store, host) = (MemoryStore::new(), VirtualHost::new());
    let (first, second) = (App::default(), App::default());
    let server = named("shop", &first, &store).patience(Duration::from_secs(2));
    let mut wire = Wire::with_host(server, host);
    let id = wire.task("work", json!({ "seconds": 100 })).await;
    sleep(Duration::from_secs(1)).await;
    wire.close().await;
    assert_eq!(first.ended.load(Relaxed), 0);
    let mut wire = Wire::with_host(named("shop", &second, &store), host);
    sleep(Duration::from_millis(50)).await;
    assert_eq!(second.begun.load(Relaxed), 1);
    wire.until(&id, "input_required").await;
}

#[tokio::test(start_paused = true)]
async fn f17_a_server_that_shuts_down_leaves_the_work_of_another_alone() {
    // Of the same name and in the same process, on one store or on two.
    for shares in [true, false] {
        let store = MemoryStore::new();
        let others = if shares {
            store.clone()
        } else {
            MemoryStore::new()
        };
        let counts = [App::default(), App::default()];
        let mut first = Wire::tasks(named("shop", &counts[0], &store));
        let mut second = Wire::tasks(named("shop", &counts[1], &others));
        let stopped = first.task("work", json!({ "seconds": 5 })).await;
        let id = second.task("work", json!({ "seconds": 60 })).await;
        let cancelled = second.task("endless", json!({})).await;
        sleep(Duration::from_secs(1)).await;
        first.close().await;
        second.until(&id, "input_required").await;
        second.accept(&id, "sure", json!({ "value": true })).await;
        assert_eq!(second.end(&id).await["status"], "completed");
        assert_eq!(second.get(&cancelled).await["status"], "working");
        assert_eq!(counts[1].begun.load(Relaxed), 2, "shares: {shares}");
        assert_eq!(counts[0].ended.load(Relaxed), 1, "it had its time");
        if shares {
            assert_eq!(second.get(&stopped).await["status"], "input_required");
        }
    }
}

/// The clock of a process that was stopped for a while.
#[derive(Clone, Debug)]
struct Stopped {
    host: VirtualHost,
    seconds: Arc<AtomicU32>,
}

impl siding::host::Host for Stopped {
    fn now(&self) -> siding::host::Timestamp {
        self.host.now()
    }

    fn sleep_until(&self, time: siding::host::Timestamp) -> siding::host::BoxFuture<'static, ()> {
        self.host.sleep_until(time)
    }

    fn sleep(&self, pause: Duration) -> siding::host::BoxFuture<'static, ()> {
        self.host.sleep(pause)
    }

    fn random(&self) -> [u8; 16] {
        self.host.random()
    }

    fn steady(&self) -> Duration {
        Duration::from_secs(self.seconds.load(Relaxed).into())
    }
}

#[tokio::test(start_paused = true)]
async fn a_leg_that_was_stopped_begins_no_step_that_others_have_done_meanwhile() {
    let (kept, host) = (MemoryStore::new(), VirtualHost::new());
    let (stopped, healthy) = (App::default(), App::default());
    let clock = Stopped {
        host,
        seconds: Arc::default(),
    };
    // It claims the task, and is stopped before its leg begins.
    let (held, gate) = HookedStore::gated(kept.clone(), |moment| {
        matches!(moment, crate::support::Moment::Inserted)
    });
    let server = Server::new("shop", "1.0.0").state(stopped.clone());
    let server = server.tools(tools![work, endless, ticks]).store(held);
    let mut first = Wire::with_host(server, clock.clone());
    let params = json!({ "name": "work", "arguments": { "seconds": 1 } });
    let call = first.send("tools/call", params).await;
    gate.reached().await;
    let operator = Server::new("shop", "1.0.0").store(kept.clone()).host(host);
    let tasks = operator.tasks();
    let task = tasks.list(None).await.unwrap().remove(0);
    let worker = task.index().worker.unwrap().to_owned();
    let mistaken = HookedStore::new(kept.clone(), |_| Box::pin(async {})).believing_dead(worker);
    let server = Server::new("shop", "1.0.0").state(healthy.clone());
    let server = server.tools(tools![work, endless, ticks]).store(mistaken);
    let mut second = Wire::with_host(server, host);
    second.until(task.id().as_str(), "input_required").await;
    clock.seconds.store(60, Relaxed);
    gate.open();
    first.receive(call).await.unwrap();
    sleep(Duration::from_secs(5)).await;
    let begun = (stopped.begun.load(Relaxed), healthy.begun.load(Relaxed));
    assert_eq!(begun, (0, 1));
}

#[tokio::test(start_paused = true)]
async fn what_killed_its_worker_alone_gets_its_turn_after_half_a_minute_also_on_a_busy_server() {
    let (kept, host) = (MemoryStore::new(), VirtualHost::new());
    let (dead, busy) = (App::default(), App::default());
    // It takes nothing up again.
    let blind = HookedStore::new(kept.clone(), |moment| match moment {
        crate::support::Moment::Looked => Box::pin(std::future::pending()),
        _ => Box::pin(async {}),
    });
    let server = Server::new("shop", "1.0.0").state(dead.clone());
    let server = server.tools(tools![work, endless, ticks]).store(blind);
    let mut first = Wire::with_host(server, host);
    let id = first.task("work", json!({ "seconds": 10_000 })).await;
    let task = kept.load(&id.as_str().into()).await.unwrap().unwrap();
    let worker = task.index().worker.unwrap().to_owned();
    let news = Arc::new(Notify::new());
    let store = HookedStore::new(kept.clone(), |_| Box::pin(async {}));
    let store = store.hearing_of_death(worker, news.clone());
    let server = Server::new("shop", "1.0.0").state(busy.clone());
    let server = server.tools(tools![work, endless, ticks]).store(store);
    let mut second = Wire::with_host(server, host);
    second.task("endless", json!({})).await;
    second.task("ticks", json!({})).await;
    news.notify_one();
    sleep(Duration::from_secs(25)).await;
    assert_eq!(busy.begun.load(Relaxed), 1, "others would die with it");
    sleep(Duration::from_secs(10)).await;
    assert_eq!(busy.begun.load(Relaxed), 2);
}
