//! What outlives a leg: sleeps, times, values, messages, ends.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
    time::Duration,
};

use serde_json::{Value, json};
use siding::{
    Limits,
    prelude::*,
    record::Status,
    retry::ConstantBuilder,
    testing::{Fault, FaultyStore},
};
use tokio::time::{advance, sleep};

use crate::support::{Declares, Wire, questions};

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
        endless
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

#[tokio::test(start_paused = true)]
async fn a_sleep_parks_and_ends_with_nobody_calling() {
    let (mut wire, log) = wire();
    let id = wire.task("nap", json!({})).await;
    settle().await;
    assert_eq!(wire.get(&id).await["status"], "working");
    assert_eq!(log.take(), ["before"]);
    sleep(Duration::from_mins(59)).await;
    assert!(log.take().is_empty());
    sleep(Duration::from_mins(2)).await;
    assert_eq!(log.take(), ["after"]);
    let task = wire.end(&id).await;
    assert_eq!(task["result"]["structuredContent"], 3600);
}

#[tokio::test(start_paused = true)]
async fn a_sleep_in_a_call_waits() {
    let (server, log) = server();
    let mut wire = Wire::modern(server, Declares::Nothing);
    let result = wire.call("nap", json!({})).await.unwrap();
    assert_eq!(result["structuredContent"], 3600);
    assert_eq!(log.take(), ["before", "after"]);
}

#[tokio::test(start_paused = true)]
async fn a_sleep_goes_on_after_its_server_was_replaced() {
    let store = MemoryStore::new();
    let (first, _) = server();
    let mut wire = Wire::tasks(first.store(store.clone()));
    let id = wire.task("nap", json!({})).await;
    settle().await;
    let host = wire.host();
    wire.close().await;
    sleep(Duration::from_mins(70)).await;
    let (second, log) = server();
    let mut wire = Wire::with_host(second.store(store), host);
    let task = wire.end(&id).await;
    assert_eq!(task["status"], "completed");
    assert_eq!(log.take(), ["after"]);
}

#[tokio::test(start_paused = true)]
async fn values_are_the_same_in_every_leg_and_others_in_every_call() {
    let (mut wire, log) = wire();
    let mut seen = Vec::new();
    for _ in 0..2 {
        let id = wire.task("values", json!({})).await;
        wire.until(&id, "input_required").await;
        sleep(Duration::from_secs(5)).await;
        wire.accept(&id, "sure", json!({ "value": true })).await;
        wire.end(&id).await;
        let legs = log.take();
        assert_eq!(legs.len(), 2);
        assert_eq!(legs[0], legs[1]);
        assert!(legs[0].ends_with(&id), "{legs:?}");
        seen.push(legs[0].clone());
    }
    assert_ne!(seen[0], seen[1]);
}

#[tokio::test(start_paused = true)]
async fn s10_s14_a_task_tells_its_status_meta_and_ttl_in_every_view() {
    let (mut wire, _) = wire();
    let created = wire.call("tells", json!({})).await.unwrap();
    assert_eq!(created["ttlMs"], 3_600_000);
    let id = created["taskId"].as_str().unwrap().to_owned();
    let task = wire.until(&id, "input_required").await;
    assert_eq!(task["statusMessage"], "first");
    assert_eq!(task["ttlMs"], 120_000);
    assert_eq!(task["_meta"]["com.example/colour"], "red");
    wire.accept(&id, "sure", json!({ "value": true })).await;
    settle().await;
    let task = wire.get(&id).await;
    assert_eq!(
        (&task["status"], &task["statusMessage"]),
        (&json!("working"), &json!("from a step"))
    );
    let task = wire.end(&id).await;
    assert_eq!(task["_meta"]["com.example/colour"], "red");
    sleep(Duration::from_secs(101)).await;
    let error = wire
        .request("tasks/get", json!({ "taskId": id }))
        .await
        .unwrap_err();
    assert_eq!(error["data"]["reason"], "expired");
}

#[tokio::test(start_paused = true)]
async fn u22_the_time_of_the_last_update_changes_with_the_task_and_only_then() {
    let (mut wire, _) = wire();
    let id = wire.task("tells", json!({})).await;
    let parked = wire.until(&id, "input_required").await;
    sleep(Duration::from_secs(3)).await;
    wire.update(&id, json!({ "unknown": 1 })).await.unwrap();
    assert_eq!(
        wire.get(&id).await["lastUpdatedAt"],
        parked["lastUpdatedAt"]
    );
    wire.accept(&id, "sure", json!({ "value": true })).await;
    assert_ne!(
        wire.get(&id).await["lastUpdatedAt"],
        parked["lastUpdatedAt"]
    );
    settle().await;
    let working = wire.get(&id).await;
    // The lease is renewed meanwhile, which nobody can see.
    sleep(Duration::from_secs(15)).await;
    assert_eq!(wire.get(&id).await, working);
}

#[tokio::test(start_paused = true)]
async fn u23_a_cancel_while_parked_cleans_up_once() {
    let (mut wire, log) = wire();
    let id = wire.task("reserve", json!({})).await;
    wire.until(&id, "input_required").await;
    wire.cancel(&id).await.unwrap();
    let cancelled = wire.get(&id).await;
    assert_eq!(cancelled["status"], "cancelled");
    settle().await;
    assert_eq!(log.take(), ["reserve", "release"]);
    assert_eq!(wire.get(&id).await, cancelled);
    sleep(Duration::from_mins(10)).await;
    assert!(log.take().is_empty());
}

#[tokio::test(start_paused = true)]
async fn u23_an_expiry_while_parked_cleans_up_once_and_is_not_found_meanwhile() {
    let (mut wire, log) = wire();
    let id = wire.task("reserve", json!({})).await;
    wire.until(&id, "input_required").await;
    advance(Duration::from_hours(1)).await;
    let error = wire
        .request("tasks/get", json!({ "taskId": id }))
        .await
        .unwrap_err();
    assert_eq!(error["code"], -32602);
    settle().await;
    assert_eq!(log.take(), ["reserve", "release"]);
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

#[tokio::test(start_paused = true)]
async fn a_cleanup_that_hangs_is_tried_three_times_and_then_given_up() {
    let (mut wire, log) = wire();
    let id = wire.task("stuck", json!({})).await;
    wire.until(&id, "input_required").await;
    wire.cancel(&id).await.unwrap();
    sleep(Duration::from_mins(50)).await;
    assert_eq!(log.take().len(), 3);
    assert_eq!(wire.get(&id).await["status"], "cancelled");
    sleep(Duration::from_mins(15)).await;
    let error = wire.request("tasks/get", json!({ "taskId": id })).await;
    assert_eq!(error.unwrap_err()["data"]["reason"], "expired");
}

#[tokio::test(start_paused = true)]
async fn a_cleanup_in_an_ordinary_leg_is_a_step() {
    let (mut wire, log) = wire();
    let id = wire.task("reserve", json!({})).await;
    wire.until(&id, "input_required").await;
    wire.update(&id, json!({ "sure": { "action": "decline" } }))
        .await
        .unwrap();
    let task = wire.end(&id).await;
    assert_eq!(task["result"]["structuredContent"], false);
    assert_eq!(log.take(), ["reserve", "after", "release"]);
}

#[tokio::test(start_paused = true)]
async fn a_step_is_tried_again_by_its_policy_and_only_its_end_counts() {
    let (mut wire, log) = wire();
    let id = wire.task("tries", json!({ "failures": 2 })).await;
    let task = wire.end(&id).await;
    assert_eq!(task["result"]["structuredContent"], 2);
    assert_eq!(log.take(), ["attempt 0", "attempt 1", "attempt 2"]);
    let id = wire.task("tries", json!({ "failures": 9 })).await;
    let task = wire.end(&id).await;
    assert_eq!(task["result"]["content"][0]["text"], "not yet");
    assert_eq!(log.take().len(), 4);
}

#[tokio::test(start_paused = true)]
async fn members_of_a_fan_out_run_at_once_and_once_in_any_order() {
    let (mut wire, log) = wire();
    let id = wire.task("each", json!({ "items": [1, 2, 3] })).await;
    wire.until(&id, "input_required").await;
    assert_eq!(log.take(), ["3", "2", "1"]);
    wire.accept(&id, "sure", json!({ "value": true })).await;
    let task = wire.end(&id).await;
    assert_eq!(task["result"]["structuredContent"], json!([2, 4, 6]));
    assert!(log.take().is_empty());
}

#[tokio::test(start_paused = true)]
async fn p24_two_thousand_members_all_end() {
    let (mut wire, log) = wire();
    let items: Vec<u64> = (0..2_000).map(|item| item % 100).collect();
    let id = wire.task("each", json!({ "items": items })).await;
    wire.until(&id, "input_required").await;
    assert_eq!(log.take().len(), 2_000);
}

#[tokio::test(start_paused = true)]
async fn s11_a_result_that_is_too_large_is_a_fixed_failure_and_wakes_who_waits() {
    let (server, _) = server();
    let limits = Limits {
        result_bytes: 1_000,
        ..Limits::default()
    };
    let server = server
        .limits(limits)
        .host(crate::support::VirtualHost::new());
    let tasks = server.tasks();
    let mut wire = Wire::tasks(server);
    let id = wire.task("large", json!({ "bytes": 5_000 })).await;
    let ended = tasks.wait(&id.as_str().into()).await.unwrap();
    assert_eq!(ended.status(), Status::Failed);
    let task = wire.get(&id).await;
    assert_eq!(task["error"]["code"], 429);
    assert_eq!(task["error"]["data"]["reason"], "over_limit");
    assert!(task.to_string().len() < 1_000, "{task}");
    let id = wire.task("large", json!({ "bytes": 500 })).await;
    assert_eq!(wire.end(&id).await["status"], "completed");
}

#[tokio::test(start_paused = true)]
async fn a_question_that_nobody_answers_in_time_is_taken_back_with_nobody_calling() {
    let (mut wire, _) = wire();
    let id = wire.task("objection", json!({})).await;
    wire.until(&id, "input_required").await;
    sleep(Duration::from_mins(61)).await;
    let late = json!({ "why-not": { "action": "accept", "content": { "value": "late" } } });
    wire.update(&id, late).await.unwrap();
    let task = wire.end(&id).await;
    assert_eq!(task["result"]["content"][0]["text"], "nobody objected");

    let id = wire.task("objection", json!({})).await;
    wire.until(&id, "input_required").await;
    sleep(Duration::from_mins(59)).await;
    wire.accept(&id, "why-not", json!({ "value": "too dear" }))
        .await;
    let task = wire.end(&id).await;
    assert_eq!(task["result"]["content"][0]["text"], "too dear");
}

#[tokio::test(start_paused = true)]
async fn a_failure_of_the_store_is_no_error_of_a_step() {
    // The second write is that of the step.
    for (fault, effects) in [(Fault::Lost, 2), (Fault::Unheard, 1)] {
        let (server, log) = server();
        let store = FaultyStore::new(MemoryStore::new()).on(2, fault);
        let mut wire = Wire::tasks(server.store(store));
        let id = wire.task("watchful", json!({})).await;
        settle().await;
        assert_eq!(wire.get(&id).await["status"], "working");
        // The lease ends, and another leg begins.
        let task = wire.end(&id).await;
        assert_eq!(task["result"]["content"][0]["text"], "fine");
        assert_eq!(log.take().len(), effects);
    }
}

#[tokio::test(start_paused = true)]
async fn u26_a_step_hands_on_in_its_first_run_what_it_does_in_a_replay() {
    let (mut wire, log) = wire();
    let id = wire.task("fragile", json!({})).await;
    wire.until(&id, "input_required").await;
    wire.accept(&id, "sure", json!({ "value": true })).await;
    wire.end(&id).await;
    let legs = log.take();
    assert_eq!(legs.len(), 2);
    assert_eq!(legs[0], legs[1]);
    // Skipped is skipped from the start, and numbers are what they were.
    assert!(legs[0].contains("skipped: 0"), "{}", legs[0]);
    assert!(legs[0].contains("0.30000000000000004"), "{}", legs[0]);
    assert!(legs[0].contains(&u64::MAX.to_string()), "{}", legs[0]);
}

#[tokio::test(start_paused = true)]
async fn w03_a_limit_on_tasks_refuses_new_ones_and_evicts_none() {
    let (server, log) = server();
    let limits = Limits {
        live_tasks: 3,
        ..Limits::default()
    };
    let mut wire = Wire::tasks(server.limits(limits));
    let mut ids = Vec::new();
    for _ in 0..3 {
        ids.push(wire.task("values", json!({})).await);
    }
    for id in &ids {
        wire.until(id, "input_required").await;
    }
    log.take();
    let refused = wire.call("values", json!({})).await.unwrap_err();
    assert_eq!(refused["code"], 429);
    assert_eq!(refused["data"]["reason"], "over_limit");
    assert!(log.take().is_empty(), "it never ran");
    for id in &ids {
        assert_eq!(wire.get(id).await["status"], "input_required");
    }
    // One that ends makes room; so does one whose time is over.
    wire.cancel(&ids[0]).await.unwrap();
    wire.task("values", json!({})).await;
    sleep(Duration::from_mins(61)).await;
    for _ in 0..3 {
        wire.task("values", json!({})).await;
    }
}

#[tokio::test(start_paused = true)]
async fn s05_expiry_stops_the_work_with_nobody_calling() {
    let (mut wire, log) = wire();
    wire.task("endless", json!({})).await;
    settle().await;
    assert_eq!(log.take(), ["begun"]);
    sleep(Duration::from_secs(61)).await;
    assert_eq!(log.take(), ["stopped"]);
}

#[tokio::test(start_paused = true)]
async fn s05_s13_s19_an_operator_lists_tasks_and_cancels_with_a_reason() {
    let (server, log) = server();
    let server = server.host(crate::support::VirtualHost::new());
    let tasks = server.tasks();
    let mut wire = Wire::tasks(server);
    let endless = wire.task("endless", json!({})).await;
    let parked = wire.task("values", json!({})).await;
    wire.until(&parked, "input_required").await;
    let ids = |status| {
        let tasks = tasks.clone();
        async move {
            let listed = tasks.list(status).await.unwrap();
            listed
                .iter()
                .map(|task| task.id().to_string())
                .collect::<Vec<_>>()
        }
    };
    assert_eq!(ids(Some(Status::InputRequired)).await, [parked.as_str()]);
    assert_eq!(ids(Some(Status::Working)).await, [endless.as_str()]);
    assert_eq!(ids(None).await.len(), 2);
    log.take();
    let id = endless.as_str().into();
    tasks.cancel(&id, "maintenance").await.unwrap();
    let task = wire.get(&endless).await;
    assert_eq!(
        (&task["status"], &task["statusMessage"]),
        (&json!("cancelled"), &json!("maintenance"))
    );
    settle().await;
    assert_eq!(log.take(), ["stopped"]);
    assert_eq!(tasks.wait(&id).await.unwrap().status(), Status::Cancelled);
}

#[tokio::test(start_paused = true)]
async fn s06_who_waits_wakes_when_the_time_of_the_task_is_over() {
    let (server, _) = server();
    let server = server.host(crate::support::VirtualHost::new());
    let tasks = server.tasks();
    let mut wire = Wire::tasks(server);
    let id = wire.task("values", json!({})).await;
    let waited = tasks.wait(&id.as_str().into()).await;
    assert!(waited.is_err(), "{waited:?}");
}

#[tokio::test(start_paused = true)]
async fn s04_s16_what_expired_is_unknown_at_once_and_its_owner_is_told_for_a_while() {
    let (mut wire, _) = wire();
    let id = wire.task("values", json!({})).await;
    wire.until(&id, "input_required").await;
    // Before the driver had its turn.
    advance(Duration::from_hours(1)).await;
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        let params = json!({ "taskId": id, "inputResponses": {} });
        let error = wire.request(method, params).await.unwrap_err();
        assert_eq!(
            (&error["code"], &error["data"]["reason"]),
            (&json!(-32602), &json!("expired"))
        );
    }
    let missing = wire
        .request("tasks/get", json!({ "taskId": "x" }))
        .await
        .unwrap_err();
    assert_eq!(missing["data"]["reason"], "unknown_task");
    sleep(Duration::from_hours(2)).await;
    let error = wire
        .request("tasks/get", json!({ "taskId": id }))
        .await
        .unwrap_err();
    assert_eq!(error["data"]["reason"], "unknown_task");
}

#[tokio::test(start_paused = true)]
async fn s03_s07_s08_s09_nothing_is_taken_by_a_task_that_ended() {
    let (mut wire, _) = wire();
    let id = wire.task("values", json!({})).await;
    let task = wire.until(&id, "input_required").await;
    assert_eq!(questions(&task).len(), 1);
    wire.accept(&id, "sure", json!({ "value": true })).await;
    let task = wire.end(&id).await;
    assert_eq!(task.get("inputRequests"), None);
    sleep(Duration::from_secs(1)).await;
    let late = json!({ "sure": { "action": "accept", "content": { "value": false } } });
    wire.update(&id, late).await.unwrap();
    wire.cancel(&id).await.unwrap();
    assert_eq!(wire.get(&id).await, task);
}

#[tokio::test(start_paused = true)]
async fn s17_a_resumed_run_sees_all_answers_and_its_arguments_unchanged() {
    let (mut wire, _) = wire();
    let id = wire.task("each", json!({ "items": [1] })).await;
    wire.until(&id, "input_required").await;
    wire.accept(&id, "sure", json!({ "value": true })).await;
    let task = wire.end(&id).await;
    assert_eq!(task["result"]["structuredContent"], json!([2]), "{task}");
    assert_ne!(task["result"], Value::Null);
}

/// Tells something right before its end.
#[mcp_tool(task = "required")]
async fn tells_last(ctx: &mut Ctx) -> Result<bool> {
    ctx.set_meta("com.example/colour", "red");
    ctx.set_ttl(Some(Duration::from_mins(2)));
    Ok(true)
}

#[tokio::test(start_paused = true)]
async fn what_a_tool_tells_right_before_its_end_is_kept() {
    let mut wire = Wire::tasks(Server::new("last", "1.0.0").tool::<tells_last>());
    let id = wire.task("tells_last", json!({})).await;
    let task = wire.end(&id).await;
    assert_eq!(task["_meta"]["com.example/colour"], "red", "{task}");
    assert_eq!(task["ttlMs"], 120_000, "{task}");
}
