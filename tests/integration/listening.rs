//! `notifications/tasks`, through `subscriptions/listen`.

use serde_json::{Value, json};
use siding::prelude::*;
use tokio::{
    task::yield_now,
    time::{Duration, sleep},
};

use crate::support::{Declares, Http, Wire, accepted};

/// Asks, and tells how it goes; takes a second behind the answer.
#[mcp_tool(task = "required")]
async fn ask(ctx: &mut Ctx) -> Result<String> {
    ctx.status("about to ask");
    let sure: bool = ctx.input("Sure?").await?;
    ctx.status("almost done");
    ctx.step("done", async {
        sleep(Duration::from_secs(1)).await;
        siding::Ok(())
    })
    .await?;
    Ok(sure.to_string())
}

/// Panics when it was answered.
#[mcp_tool(task = "required")]
async fn panics(ctx: &mut Ctx) -> Result<bool> {
    let sure: bool = ctx.input("Sure?").await?;
    assert!(!sure, "it was sure");
    Ok(sure)
}

/// Gets from one thing to the next without a pause in between.
#[mcp_tool(task = "required")]
async fn hurry(ctx: &mut Ctx) -> Result<bool> {
    let sure: bool = ctx.input("Sure?").await?;
    for part in ["first", "second", "third"] {
        ctx.status(part);
        ctx.step(part, async {
            yield_now().await;
            siding::Ok(())
        })
        .await?;
    }
    Ok(sure)
}

fn server() -> Server {
    Server::new("asks", "1.0.0").tools(tools![ask, hurry, panics])
}

fn listen(ids: Value) -> Value {
    json!({ "notifications": { "taskIds": ids } })
}

/// What `tasks/get` gives, as a notification has it.
fn as_notified(mut got: Value) -> Value {
    let task = got.as_object_mut().unwrap();
    task.remove("resultType");
    task.remove("_meta");
    got
}

/// What a notification tells, without its `_meta`, which must be that of the subscription.
fn told(notification: &Value, subscription: u64) -> Value {
    let mut params = notification["params"].clone();
    let meta = params.as_object_mut().unwrap().remove("_meta").unwrap();
    assert_eq!(meta["io.modelcontextprotocol/subscriptionId"], subscription);
    params
}

/// The statuses and messages of a task, as they are told up to its end.
async fn story(wire: &mut Wire, subscription: u64) -> Vec<String> {
    let mut story = Vec::new();
    loop {
        let told = told(&wire.incoming("notifications/tasks").await, subscription);
        let status = told["status"].as_str().unwrap();
        story.push(match told["statusMessage"].as_str() {
            Some(message) => format!("{status}: {message}"),
            None => status.into(),
        });
        if ["completed", "failed", "cancelled"].contains(&status) {
            return story;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn s23_w12_every_change_is_told_as_get_would_tell_it() {
    let mut wire = Wire::tasks(server());
    let id = wire.task("ask", json!({})).await;
    let waiting = wire.until(&id, "input_required").await;
    let subscription = wire.send("subscriptions/listen", listen(json!([id]))).await;
    let acknowledged = wire.acknowledged().await;
    assert_eq!(
        acknowledged["params"]["notifications"],
        json!({ "taskIds": [id] })
    );
    let of = &acknowledged["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"];
    assert_eq!(of, subscription);
    // A snapshot follows the acknowledgement, as nothing may have happened in between.
    let snapshot = wire.incoming("notifications/tasks").await;
    assert_eq!(told(&snapshot, subscription), as_notified(waiting));
    wire.accept(&id, "sure", json!({ "value": true })).await;
    let story = story(&mut wire, subscription).await;
    assert_eq!(
        story,
        ["working: about to ask", "working: almost done", "completed",]
    );
    let got = as_notified(wire.get(&id).await);
    assert_eq!(got["result"]["content"][0]["text"], "true");
}

#[tokio::test(start_paused = true)]
async fn w12_what_is_told_is_what_get_tells_in_the_middle_and_at_the_end() {
    let mut wire = Wire::tasks(server());
    let id = wire.parked("ask", json!({})).await;
    let subscription = wire.send("subscriptions/listen", listen(json!([id]))).await;
    wire.accept(&id, "sure", json!({ "value": true })).await;
    let middle = loop {
        let told = told(&wire.incoming("notifications/tasks").await, subscription);
        if told["statusMessage"] == "almost done" {
            break told;
        }
    };
    assert_eq!(middle, as_notified(wire.get(&id).await));
    let last = loop {
        let told = told(&wire.incoming("notifications/tasks").await, subscription);
        if told["status"] == "completed" {
            break told;
        }
    };
    assert_eq!(last, as_notified(wire.get(&id).await));
}

#[tokio::test(start_paused = true)]
async fn w12_changes_that_come_faster_than_they_are_told_are_told_nevertheless() {
    let mut wire = Wire::tasks(server());
    let id = wire.parked("hurry", json!({})).await;
    let subscription = wire.send("subscriptions/listen", listen(json!([id]))).await;
    wire.incoming("notifications/tasks").await;
    wire.accept(&id, "sure", json!({ "value": true })).await;
    let expected = [
        "working",
        "working: first",
        "working: second",
        "working: third",
        "completed",
    ];
    assert_eq!(story(&mut wire, subscription).await, expected);
}

#[tokio::test(start_paused = true)]
async fn u01_a_panic_is_a_notification_of_the_end() {
    let mut wire = Wire::tasks(server());
    let id = wire.parked("panics", json!({})).await;
    let subscription = wire.send("subscriptions/listen", listen(json!([id]))).await;
    wire.accept(&id, "sure", json!({ "value": true })).await;
    let story = story(&mut wire, subscription).await;
    assert_eq!(story.last().unwrap(), "failed: the tool `panics` panicked");
}

#[tokio::test(start_paused = true)]
async fn s23_what_is_not_there_for_the_caller_is_left_out() {
    let mut wire = Wire::tasks(server());
    let id = wire.task("ask", json!({})).await;
    let ids = json!(["0".repeat(32), id, "", id]);
    wire.send("subscriptions/listen", listen(ids)).await;
    let acknowledged = wire.acknowledged().await;
    assert_eq!(
        acknowledged["params"]["notifications"],
        json!({ "taskIds": [id] })
    );
    // None of them is no reason to refuse, either.
    wire.send("subscriptions/listen", listen(json!(["nothing"])))
        .await;
    let acknowledged = wire.acknowledged().await;
    assert_eq!(
        acknowledged["params"]["notifications"],
        json!({ "taskIds": [] })
    );
}

#[tokio::test(start_paused = true)]
async fn s23_listening_to_tasks_needs_the_declaration() {
    let mut wire = Wire::modern(server(), Declares::Elicitation);
    let error = wire
        .request("subscriptions/listen", listen(json!(["x"])))
        .await
        .unwrap_err();
    assert_eq!(error["code"], -32021);
    let needed = json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
    assert_eq!(error["data"]["requiredCapabilities"], needed);
    // Whoever asks for no tasks needs none.
    wire.send("subscriptions/listen", json!({ "notifications": {} }))
        .await;
    let acknowledged = wire.acknowledged().await;
    assert_eq!(acknowledged["params"]["notifications"], json!({}));
}

#[tokio::test(start_paused = true)]
async fn task_ids_of_another_shape_are_invalid() {
    let mut wire = Wire::tasks(server());
    for ids in [json!("x"), json!([1]), json!({}), Value::Null] {
        let error = wire
            .request("subscriptions/listen", listen(ids.clone()))
            .await
            .unwrap_err();
        assert_eq!(error["code"], -32602, "{ids}");
    }
    let many: Vec<_> = (0..1_001).map(|n| n.to_string()).collect();
    let error = wire
        .request("subscriptions/listen", listen(json!(many)))
        .await
        .unwrap_err();
    assert_eq!(error["data"]["reason"], "over_limit");
}

#[tokio::test(start_paused = true)]
async fn a_listener_that_was_cancelled_hears_nothing_more() {
    let mut wire = Wire::tasks(server());
    let id = wire.parked("ask", json!({})).await;
    let subscription = wire.send("subscriptions/listen", listen(json!([id]))).await;
    wire.incoming("notifications/tasks").await;
    wire.take_back(subscription).await;
    wire.accept(&id, "sure", json!({ "value": true })).await;
    wire.end(&id).await;
    sleep(Duration::from_secs(1)).await;
    wire.get(&id).await;
    let mut unread = wire.unread();
    assert!(unread.all(|message| message["method"] != "notifications/tasks"));
    drop(unread);
    wire.close().await;
}

#[tokio::test(start_paused = true)]
async fn changes_by_another_instance_are_told_too() {
    let store = MemoryStore::new();
    let mut wire = Wire::tasks(server().store(store.clone()));
    let id = wire.parked("ask", json!({})).await;
    let subscription = wire.send("subscriptions/listen", listen(json!([id]))).await;
    wire.incoming("notifications/tasks").await;
    let mut other = Wire::tasks(server().store(store));
    other.cancel(&id).await.unwrap();
    assert_eq!(
        story(&mut wire, subscription).await,
        ["cancelled: cancelled"]
    );
}

#[tokio::test]
async fn s23_over_http_the_ids_are_those_of_the_caller() {
    let http = Http::start(server().owner(|request| {
        let user = request.headers.get("x-user")?.to_str().ok()?;
        Some(user.to_owned())
    }))
    .await;
    let call = json!({ "name": "ask", "arguments": {} });
    let mut ids = Vec::new();
    for user in ["alice", "bob"] {
        let user = [("X-User", user)];
        let (_, created) = http.post(&user, "tools/call", call.clone()).await;
        ids.push(created["result"]["taskId"].as_str().unwrap().to_owned());
    }
    let alice = [("X-User", "alice")];
    let params = listen(json!(ids));
    let mut events = http
        .stream(Declares::Tasks, &alice, "subscriptions/listen", params)
        .await;
    let acknowledged = events.next().await.unwrap();
    let method = "notifications/subscriptions/acknowledged";
    assert_eq!(acknowledged["method"], method);
    let granted = &acknowledged["params"]["notifications"];
    assert_eq!(*granted, json!({ "taskIds": [ids[0]] }));
    // What alice does is told to her.
    let answer = json!({ "sure": accepted(json!({ "value": true })) });
    let update = json!({ "taskId": ids[0], "inputResponses": answer });
    loop {
        let notified = events.next().await.unwrap();
        assert_eq!(notified["method"], "notifications/tasks");
        let task = told(&notified, 1);
        assert_eq!(task["taskId"], ids[0]);
        match task["status"].as_str().unwrap() {
            "input_required" => {
                http.post(&alice, "tasks/update", update.clone()).await;
            }
            "completed" => break,
            _ => {}
        }
    }
}

#[tokio::test]
async fn s23_over_http_the_want_of_the_declaration_is_a_400() {
    let http = Http::start(server()).await;
    let params = listen(json!(["x"]));
    let (status, message) = http
        .post_as(Declares::Elicitation, &[], "subscriptions/listen", params)
        .await;
    assert_eq!(status, 400);
    assert_eq!(message["error"]["code"], -32021);
    assert_eq!(message["id"], 1);
}

#[tokio::test]
async fn a_server_that_shuts_down_ends_what_is_listened_to_in_order() {
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let server = server().shutdown_on(async {
        let _gone = stopped.await;
    });
    let http = Http::start(server).await;
    let mut events = http
        .stream(
            Declares::Tasks,
            &[],
            "subscriptions/listen",
            listen(json!([])),
        )
        .await;
    events.next().await.unwrap();
    stop.send(()).unwrap();
    let last = events.next().await.unwrap();
    assert_eq!(last["result"]["resultType"], "complete");
    assert_eq!(events.next().await, None);
}
