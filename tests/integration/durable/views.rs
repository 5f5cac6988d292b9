//! What clients and operators see of a task: its messages, its limits, its end.

use std::time::Duration;

use serde_json::json;
use siding::{Limits, TaskError, prelude::*, record::Status};
use tokio::time::{advance, sleep};

use super::{server, settle, wire};
use crate::support::{VirtualHost, Wire, questions};

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
async fn s11_a_result_that_is_too_large_is_a_fixed_failure_and_wakes_who_waits() {
    let (server, _) = server();
    let limits = Limits {
        result_bytes: 1_000,
        ..Limits::default()
    };
    let server = server.limits(limits).host(VirtualHost::new());
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
    let server = server.host(VirtualHost::new());
    let tasks = server.tasks();
    let mut wire = Wire::tasks(server);
    let endless = wire.task("endless", json!({})).await;
    let parked = wire.parked("values", json!({})).await;
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
    let server = server.host(VirtualHost::new());
    let tasks = server.tasks();
    let mut wire = Wire::tasks(server);
    let id = wire.task("values", json!({})).await;
    let waited = tasks.wait(&id.as_str().into()).await;
    assert!(matches!(waited, Err(TaskError::Missing)), "{waited:?}");
}

#[tokio::test(start_paused = true)]
async fn s04_s16_what_expired_is_unknown_at_once_and_its_owner_is_told_for_a_while() {
    let (mut wire, _) = wire();
    let id = wire.parked("values", json!({})).await;
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
