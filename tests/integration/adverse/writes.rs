//! Writes that fail, or are the last.

use std::sync::atomic::Ordering::Relaxed;

use serde_json::{Value, json};
use siding::{
    Limits,
    prelude::*,
    testing::{Fault, FaultyStore},
};
use tokio::time::{Duration, sleep};

use super::{open, server, sure};
use crate::support::{Declares, HookedStore, Moment, Wire, text};

#[tokio::test(start_paused = true)]
async fn what_was_done_before_a_refused_detach_is_kept_for_the_next() {
    let limits = Limits {
        live_tasks: 1,
        ..Limits::default()
    };
    let (server, world) = server();
    let mut wire = Wire::tasks(server.limits(limits));
    let params = json!({ "name": "slow_order", "arguments": {} });
    let call = wire.send("tools/call", params).await;
    sleep(Duration::from_millis(100)).await;
    let other = wire.task("hold", json!({})).await;
    // It cannot become a task at 500 ms; then there is a place again, and it asks.
    sleep(Duration::from_secs(1)).await;
    wire.cancel(&other).await.unwrap();
    let created = wire.receive(call).await.unwrap();
    assert_eq!(created["resultType"], "task", "{created}");
    let id = created["taskId"].as_str().unwrap();
    wire.until(id, "input_required").await;
    wire.accept(id, "sure", json!({ "value": true })).await;
    sleep(Duration::from_secs(10)).await;
    let task = wire.get(id).await;
    assert_eq!(text(&task["result"]), "true, charge 1", "{task}");
    assert_eq!(world.charged.load(Relaxed), 1);
}

#[tokio::test(start_paused = true)]
async fn what_was_done_before_a_failed_detach_is_kept_for_the_round() {
    let store = FaultyStore::new(MemoryStore::new()).on(1, Fault::Lost);
    let (server, world) = server();
    let mut wire = Wire::tasks(server.store(store));
    let asked = wire.call("manual_order", json!({})).await.unwrap();
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let again = wire.again("manual_order", json!({}), &asked, sure()).await;
    let again = again.unwrap();
    if again["resultType"] == "task" {
        let id = again["taskId"].as_str().unwrap();
        sleep(Duration::from_secs(10)).await;
        let task = wire.get(id).await;
        assert_eq!(text(&task["result"]), "true, charge 1", "{task}");
    } else {
        assert_eq!(text(&again), "true, charge 1", "{again}");
    }
    assert_eq!(world.charged.load(Relaxed), 1);
}

#[tokio::test(start_paused = true)]
async fn a_crash_before_the_first_park_is_written_repeats_nothing() {
    let kept = MemoryStore::new();
    let parks = |moment: &Moment| matches!(moment, Moment::Committing(_));
    let (store, gate) = HookedStore::gated(kept.clone(), parks);
    let (server, world) = server();
    let mut wire = Wire::tasks(server.store(store));
    let params = json!({ "name": "quick_order", "arguments": {} });
    wire.send("tools/call", params).await;
    gate.reached().await;
    assert_eq!(world.charged.load(Relaxed), 1);
    wire.kill().await;
    let wire = Wire::tasks(open(&world).store(kept));
    sleep(Duration::from_mins(2)).await;
    assert_eq!(world.charged.load(Relaxed), 1, "at most once");
    wire.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_lost_write_of_the_first_park_repeats_nothing() {
    let store = FaultyStore::new(MemoryStore::new()).on(2, Fault::Lost);
    let (server, world) = server();
    let mut wire = Wire::tasks(server.store(store));
    let created = wire.call("quick_order", json!({})).await.unwrap();
    assert_eq!(created["resultType"], "task", "{created}");
    let id = created["taskId"].as_str().unwrap();
    wire.until(id, "input_required").await;
    assert_eq!(world.charged.load(Relaxed), 1, "at most once");
}

#[tokio::test(start_paused = true)]
async fn a_leg_that_parked_does_not_cancel_the_next() {
    let store = HookedStore::new(MemoryStore::new(), |moment| {
        Box::pin(async move {
            if let Moment::Committed(record) = moment {
                let record = serde_json::to_value(&*record).unwrap();
                // The news that the park is written takes its time.
                if !record["asleep"].is_null() {
                    sleep(Duration::from_secs(2)).await;
                }
            }
        })
    });
    let (server, world) = server();
    let mut wire = Wire::tasks(server.store(store));
    let created = wire.call("nap", json!({})).await.unwrap();
    assert_eq!(created["resultType"], "task", "{created}");
    let id = created["taskId"].as_str().unwrap();
    let task = wire.end(id).await;
    assert_eq!(text(&task["result"]), "false", "{task}");
    assert_eq!(world.charged.load(Relaxed), 1);
}

#[tokio::test(start_paused = true)]
async fn whatever_write_fails_it_is_charged_once() {
    let faults = [Fault::Lost, Fault::Unheard, Fault::Twice, Fault::Last];
    let mut wrong = Vec::new();
    let mut reached = 0;
    for tool in ["quick_order", "slow_order", "manual_order"] {
        for declares in [Declares::Tasks, Declares::Elicitation] {
            for fault in faults {
                for write in 1..=9 {
                    let kept = MemoryStore::new();
                    let store = FaultyStore::new(kept.clone()).on(write, fault);
                    let (server, world) = server();
                    let mut wire = Wire::modern(server.store(store.clone()), declares);
                    let told = follow(&mut wire, tool).await;
                    wire.kill().await;
                    reached += u32::from(store.writes() >= write);
                    let wire = Wire::modern(open(&world).store(kept), declares);
                    sleep(Duration::from_mins(3)).await;
                    wire.kill().await;
                    let charged = world.charged.load(Relaxed);
                    if charged > 1 || told.contains("drift") {
                        wrong.push(format!(
                            "{tool} {declares:?} {fault:?} at {write}: charged {charged}, {told}"
                        ));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_ne!(reached, 0, "no fault was met");
}

/// Calls and answers as a client does, and gives what came of it.
async fn follow(wire: &mut Wire, tool: &str) -> String {
    let mut answer = wire.call(tool, json!({})).await;
    let mut asked = Value::Null;
    for _ in 0..20 {
        match answer {
            Ok(result) if result["resultType"] == "input_required" => asked = result,
            Ok(result) if result["resultType"] == "task" => {
                let id = result["taskId"].clone();
                for _ in 0..50 {
                    sleep(Duration::from_secs(5)).await;
                    let task = wire.request("tasks/get", json!({ "taskId": id })).await;
                    let Ok(task) = task else { continue };
                    if task["status"] == "input_required" {
                        let params = json!({ "taskId": id, "inputResponses": sure() });
                        let _ = wire.request("tasks/update", params).await;
                    } else if task["status"] != "working" {
                        return task.to_string();
                    }
                }
                return "never ended".into();
            }
            Ok(result) => return result.to_string(),
            Err(error) if asked.is_null() => return error.to_string(),
            Err(_) => sleep(Duration::from_secs(31)).await,
        }
        answer = wire.again(tool, json!({}), &asked, sure()).await;
    }
    format!("gave up: {answer:?}")
}

#[tokio::test(start_paused = true)]
async fn whatever_write_is_the_last_the_next_instance_goes_on() {
    let mut wrong = Vec::new();
    let mut reached = 0;
    for tool in ["quick_order", "slow_order", "manual_order"] {
        for declares in [Declares::Tasks, Declares::Elicitation] {
            for write in 1..=9 {
                let kept = MemoryStore::new();
                let store = FaultyStore::new(kept.clone()).on(write, Fault::Last);
                let (server, world) = server();
                let mut wire = Wire::modern(server.store(store.clone()), declares);
                let Ok(first) = wire.call(tool, json!({})).await else {
                    continue;
                };
                let mut asked = Value::Null;
                if first["resultType"] == "input_required" {
                    asked = first.clone();
                    let _ = wire.again(tool, json!({}), &asked, sure()).await;
                } else {
                    let id = first["taskId"].as_str().unwrap();
                    sleep(Duration::from_secs(5)).await;
                    let params = json!({ "taskId": id, "inputResponses": sure() });
                    let _ = wire.request("tasks/update", params).await;
                }
                sleep(Duration::from_secs(1)).await;
                wire.kill().await;
                reached += u32::from(store.writes() >= write);
                let mut wire = Wire::modern(open(&world).store(kept), declares);
                let told = if asked.is_null() {
                    let id = first["taskId"].clone();
                    let mut told = String::new();
                    for _ in 0..30 {
                        sleep(Duration::from_secs(5)).await;
                        let params = json!({ "taskId": id, "inputResponses": sure() });
                        let _ = wire.request("tasks/update", params).await;
                        let task = wire.request("tasks/get", json!({ "taskId": id })).await;
                        told = format!("{task:?}");
                    }
                    told
                } else {
                    let done = wire.again(tool, json!({}), &asked, sure()).await;
                    match done {
                        Ok(task) if task["resultType"] == "task" => {
                            sleep(Duration::from_mins(1)).await;
                            format!("{:?}", wire.get(task["taskId"].as_str().unwrap()).await)
                        }
                        done => format!("{done:?}"),
                    }
                };
                wire.kill().await;
                let charged = world.charged.load(Relaxed);
                if charged != 1 || !told.contains("charge 1") {
                    wrong.push(format!("{tool} {declares:?} at {write}: {charged}, {told}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_ne!(reached, 0, "no fault was met");
}
