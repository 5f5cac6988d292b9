//! What a client can do changes, and whose handle it is.

use serde_json::{Value, json};
use siding::prelude::*;
use tokio::time::{Duration, sleep};

use super::{Shop, meta, open, pick, server, sure};
use crate::support::{Declares, Wire, accepted, retry, text};

#[tokio::test(start_paused = true)]
async fn a_client_that_declares_more_in_its_retry_is_no_drift() {
    let (server, _) = server();
    let mut wire = Wire::modern(server, Declares::Elicitation);
    let asked = wire.call("sign_in", json!({})).await.unwrap();
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let params = json!({
        "name": "sign_in",
        "arguments": {},
        "requestState": asked["requestState"],
        "inputResponses": { "code": accepted(json!({ "value": "1" })) },
        "_meta": meta(json!({ "elicitation": { "form": {}, "url": {} } })),
    });
    let done = wire.request("tools/call", params).await;
    let done = done.unwrap();
    assert_eq!(text(&done), "code 1", "{done}");
}

#[mcp_tool(task = "optional")]
async fn sign_in_later(ctx: &mut Ctx<Shop>) -> Result<String> {
    let name: String = ctx.input("Name?").await?;
    let visited = ctx
        .input_url("Sign in", "https://example.com")
        .key("visit")
        .await;
    match visited {
        Ok(()) => Ok("gone there".into()),
        Err(error) if error.is_cannot_ask() => {
            let code: String = ctx.input("Code?").await?;
            Ok(format!("{name}, code {code}"))
        }
        Err(error) => Err(error),
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_whose_second_request_declares_less_is_no_drift() {
    let (server, _) = server();
    let mut wire = Wire::tasks(server.tool::<sign_in_later>());
    let both = || meta(json!({ "elicitation": { "form": {}, "url": {} }, "extensions": {} }));
    let form = || meta(json!({ "elicitation": { "form": {} }, "extensions": {} }));
    let call = |key: &str, asked: &Value, meta: Value| {
        json!({
            "name": "sign_in_later",
            "arguments": {},
            "requestState": asked["requestState"],
            "inputResponses": { key: accepted(json!({ "value": "1" })) },
            "_meta": meta,
        })
    };
    let params = json!({ "name": "sign_in_later", "arguments": {}, "_meta": both() });
    let asked = wire.request("tools/call", params).await.unwrap();
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let params = call("name", &asked, form());
    let asked = wire.request("tools/call", params).await.unwrap();
    assert!(asked["inputRequests"]["code"].is_object(), "{asked}");
    let params = call("code", &asked, both());
    let done = wire.request("tools/call", params).await.unwrap();
    assert_eq!(text(&done), "1, code 1", "{done}");
}

#[tokio::test(start_paused = true)]
async fn what_could_not_be_asked_is_no_drift_in_the_next_leg_of_a_task() {
    let (server, _) = server();
    let mut wire = Wire::tasks(server);
    let id = wire.parked("sign_in", json!({})).await;
    wire.accept(&id, "code", json!({ "value": "1" })).await;
    sleep(Duration::from_secs(10)).await;
    let task = wire.get(&id).await;
    assert_eq!(text(&task["result"]), "code 1", "{task}");
}

#[tokio::test(start_paused = true)]
async fn what_could_not_be_asked_is_no_drift_in_the_next_round() {
    let (server, _) = server();
    let mut wire = Wire::modern(server, Declares::Elicitation);
    let asked = wire.call("sign_in", json!({})).await.unwrap();
    let code = json!({ "code": accepted(json!({ "value": "1" })) });
    let done = wire.again("sign_in", json!({}), &asked, code).await;
    assert_eq!(text(&done.unwrap()), "code 1");
}

#[tokio::test(start_paused = true)]
async fn a_handle_of_one_server_is_none_of_another() {
    let store = MemoryStore::new();
    let world = Shop::default();
    let mut wire = Wire::modern(open(&world).store(store.clone()), Declares::Elicitation);
    let asked = wire.call("pick", json!({})).await.unwrap();
    let other = Server::new("warehouse", "9.0.0")
        .state(world.clone())
        .tools(tools![pick]);
    world.gate.notify_one();
    let mut wire = Wire::modern(other.store(store), Declares::Elicitation);
    let answer = wire.again("pick", json!({}), &asked, sure()).await;
    let error = answer.unwrap_err();
    assert_eq!(error["data"]["reason"], "unknown_round", "{error}");
}

#[tokio::test(start_paused = true)]
async fn an_older_client_with_a_handle_spends_nothing() {
    let store = MemoryStore::new();
    let world = Shop::default();
    let two = Server::new("shop", "1.0.0")
        .state(world.clone())
        .tools(tools![ask_twice]);
    let mut wire = Wire::modern(two.store(store.clone()), Declares::Elicitation);
    let asked = wire.call("ask_twice", json!({})).await.unwrap();
    let two = Server::new("shop", "1.0.0")
        .state(world.clone())
        .tools(tools![ask_twice]);
    let (mut older, _) = Wire::legacy(two.store(store), Declares::Elicitation).await;
    let first = json!({ "first": accepted(json!({ "value": true })) });
    let other = json!({ "first": accepted(json!({ "value": false })) });
    let answer = older.again("ask_twice", json!({}), &asked, first).await;
    assert_eq!(answer.unwrap_err()["code"], -32602);
    let second = wire.again("ask_twice", json!({}), &asked, other).await;
    assert_eq!(second.unwrap()["resultType"], "input_required");
}

/// Works, then is a task.
#[mcp_tool(task = "optional", detach = "manual")]
async fn work_then_detach(ctx: &mut Ctx<Shop>) -> Result<String> {
    let world = ctx.state();
    let sure: bool = ctx.input("Sure?").await?;
    ctx.step("charge", world.charge_when_let()).await?;
    ctx.detach().await?;
    ctx.sleep(Duration::from_hours(1)).await?;
    Ok(sure.to_string())
}

/// Asks twice.
#[mcp_tool(task = "optional")]
async fn ask_twice(ctx: &mut Ctx<Shop>) -> Result<String> {
    let first: bool = ctx.input("First?").await?;
    let second: bool = ctx.input("Second?").await?;
    Ok(format!("{first} {second}"))
}

#[tokio::test(start_paused = true)]
async fn a_retry_without_tasks_is_not_answered_with_one() {
    let (server, world) = server();
    let mut wire = Wire::tasks(server.tool::<work_then_detach>());
    let asked = wire.call("work_then_detach", json!({})).await.unwrap();
    let params = retry(
        json!({ "name": "work_then_detach", "arguments": {} }),
        &asked,
        sure(),
    );
    let mut plain = params.clone();
    plain["_meta"] = meta(json!({ "elicitation": {} }));
    let with = wire.send("tools/call", params).await;
    world.began.notified().await;
    let without = wire.send("tools/call", plain).await;
    sleep(Duration::from_millis(50)).await;
    world.gate.notify_one();
    assert_eq!(wire.receive(with).await.unwrap()["resultType"], "task");
    let answer = wire.receive(without).await;
    assert_eq!(answer.unwrap_err()["code"], -32021);
}
