//! Operations that outlive a leg: sleeps, values, steps, cleanups, questions with an end.

use std::{collections::HashSet, time::Duration};

use serde_json::{Value, json};
use siding::{
    prelude::*,
    testing::{Fault, FaultyStore},
};
use tokio::time::{advance, sleep};

use super::{server, settle, wire};
use crate::support::{Declares, Wire};

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
        let id = wire.parked("values", json!({})).await;
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
async fn each_step_of_one_name_has_its_own_idempotency_key_and_the_same_in_every_leg() {
    let (mut wire, log) = wire();
    let id = wire.parked("refunds", json!({})).await;
    wire.accept(&id, "sure", json!({ "value": true })).await;
    let task = wire.end(&id).await;
    let legs = log.take();
    assert_eq!(legs.len(), 2);
    assert_eq!(legs[0], legs[1]);
    let keys: Vec<&str> = legs[0].split(' ').collect();
    assert_eq!(task["result"]["structuredContent"], json!(keys));
    // Two rounds, two calls of the part, and a name that no step has.
    let different: HashSet<&str> = keys.iter().copied().collect();
    assert_eq!((keys.len(), different.len()), (6, 5), "{keys:?}");
}

#[tokio::test(start_paused = true)]
async fn u23_a_cancel_while_parked_cleans_up_once() {
    let (mut wire, log) = wire();
    let id = wire.parked("reserve", json!({})).await;
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
    let id = wire.parked("reserve", json!({})).await;
    advance(Duration::from_hours(1)).await;
    let error = wire
        .request("tasks/get", json!({ "taskId": id }))
        .await
        .unwrap_err();
    assert_eq!(error["code"], -32602);
    settle().await;
    assert_eq!(log.take(), ["reserve", "release"]);
}

#[tokio::test(start_paused = true)]
async fn a_cleanup_that_hangs_is_tried_three_times_and_then_given_up() {
    let (mut wire, log) = wire();
    let id = wire.parked("stuck", json!({})).await;
    wire.cancel(&id).await.unwrap();
    sleep(Duration::from_mins(50)).await;
    assert_eq!(log.take().len(), 3);
    assert_eq!(wire.get(&id).await["status"], "cancelled");
    sleep(Duration::from_mins(15)).await;
    let error = wire.request("tasks/get", json!({ "taskId": id })).await;
    assert_eq!(error.unwrap_err()["data"]["reason"], "expired");
}

#[tokio::test(start_paused = true)]
async fn a_part_cleans_up_after_a_cancel() {
    let (mut wire, log) = wire();
    let id = wire.parked("hands_on", json!({})).await;
    wire.cancel(&id).await.unwrap();
    settle().await;
    assert_eq!(log.take(), ["release seat"]);
}

#[tokio::test(start_paused = true)]
async fn a_cleanup_in_an_ordinary_leg_is_a_step() {
    let (mut wire, log) = wire();
    let id = wire.parked("reserve", json!({})).await;
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
    let id = wire.parked("each", json!({ "items": [1, 2, 3] })).await;
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
    wire.parked("each", json!({ "items": items })).await;
    assert_eq!(log.take().len(), 2_000);
}

#[tokio::test(start_paused = true)]
async fn a_question_that_nobody_answers_in_time_is_taken_back_with_nobody_calling() {
    let (mut wire, _) = wire();
    let id = wire.parked("objection", json!({})).await;
    sleep(Duration::from_mins(61)).await;
    let late = json!({ "why-not": { "action": "accept", "content": { "value": "late" } } });
    wire.update(&id, late).await.unwrap();
    let task = wire.end(&id).await;
    assert_eq!(task["result"]["content"][0]["text"], "nobody objected");

    let id = wire.parked("objection", json!({})).await;
    sleep(Duration::from_mins(59)).await;
    wire.accept(&id, "why-not", json!({ "value": "too dear" }))
        .await;
    let task = wire.end(&id).await;
    assert_eq!(task["result"]["content"][0]["text"], "too dear");
}

#[tokio::test(start_paused = true)]
async fn a_failure_of_the_store_is_no_error_of_a_step() {
    // The second write is that of the step. It is written again, so the effect happens once.
    for fault in [Fault::Lost, Fault::Unheard] {
        let (server, log) = server();
        let store = FaultyStore::new(MemoryStore::new()).on(2, fault);
        let mut wire = Wire::tasks(server.store(store));
        let id = wire.task("watchful", json!({})).await;
        let task = wire.end(&id).await;
        assert_eq!(task["result"]["content"][0]["text"], "fine");
        assert_eq!(log.take().len(), 1, "{fault:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn u26_a_step_hands_on_in_its_first_run_what_it_does_in_a_replay() {
    let (mut wire, log) = wire();
    let id = wire.parked("fragile", json!({})).await;
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
async fn s17_a_resumed_run_sees_all_answers_and_its_arguments_unchanged() {
    let (mut wire, _) = wire();
    let id = wire.parked("each", json!({ "items": [1] })).await;
    wire.accept(&id, "sure", json!({ "value": true })).await;
    let task = wire.end(&id).await;
    assert_eq!(task["result"]["structuredContent"], json!([2]), "{task}");
    assert_ne!(task["result"], Value::Null);
}
