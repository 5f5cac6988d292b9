//! Asking: keys, answers, parks.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering::Relaxed},
};

use serde_json::{Value, json};
use siding::prelude::*;
use tokio::time::{Duration, sleep};

use crate::support::{Wire, questions};

/// How often a tool began, and how often its effect happened.
#[derive(Default)]
struct Counts {
    legs: AtomicU32,
    effects: AtomicU32,
}

type App = Arc<Counts>;

fn legs(counts: &Counts) -> u32 {
    counts.legs.load(Relaxed)
}

#[derive(Input)]
enum Size {
    /// Fits anywhere.
    Small,
    Large,
}

/// Asks for one thing after the other.
#[mcp_tool(task = "required")]
async fn order(ctx: &mut Ctx<App>) -> Result<String> {
    ctx.state().legs.fetch_add(1, Relaxed);
    let counts = ctx.state();
    ctx.step("reserve", async {
        counts.effects.fetch_add(1, Relaxed);
        Ok(())
    })
    .await?;
    let sure: bool = ctx.input("Order?").await?;
    let size: Size = ctx.input("Which size?").await?;
    let size = match size {
        Size::Small => "small",
        Size::Large => "large",
    };
    Ok(format!("{sure} {size}"))
}

/// Asks for two things at once.
#[mcp_tool(task = "required")]
async fn both(ctx: &mut Ctx<App>) -> Result<String> {
    ctx.state().legs.fetch_add(1, Relaxed);
    let (name, count): (String, u8) = ctx.input_all(("Name?", "How many?")).await?;
    Ok(format!("{count} for {name}"))
}

/// Asks until it is told the code.
#[mcp_tool(task = "required")]
async fn guess(ctx: &mut Ctx<App>) -> Result<u32> {
    ctx.state().legs.fetch_add(1, Relaxed);
    let mut tries = 0;
    loop {
        tries += 1;
        let code: String = ctx.input("Code?").await?;
        if code == "1234" {
            return Ok(tries);
        }
    }
}

/// Catches whatever goes wrong with the question.
#[mcp_tool(task = "required")]
async fn swallow(ctx: &mut Ctx<App>) -> Result<bool> {
    ctx.state().legs.fetch_add(1, Relaxed);
    let sure: bool = ctx.input("Sure?").key("sure").await.unwrap_or_default();
    let counts = ctx.state();
    let charge = async {
        counts.effects.fetch_add(1, Relaxed);
        siding::Ok(())
    };
    ctx.step("charge", charge).await.ok();
    Ok(sure)
}

/// Asks although it may run in a call.
#[mcp_tool(task = "optional")]
async fn maybe(ctx: &mut Ctx<App>) -> Result<String> {
    let sure: Result<bool> = ctx.input("Sure?").key("sure").await;
    match sure {
        Ok(sure) => Ok(sure.to_string()),
        Err(error) if error.is_cannot_ask() => Ok("could not ask".into()),
        Err(error) if error.is_declined() => Ok("declined".into()),
        Err(error) if error.is_dismissed() => Ok("dismissed".into()),
        Err(error) => Err(error),
    }
}

fn server() -> (Server<App>, Arc<Counts>) {
    let counts = Arc::<Counts>::default();
    let server = Server::new("asks", "1.0.0").state(counts.clone());
    (
        server.tools(tools![order, both, guess, swallow, maybe]),
        counts,
    )
}

fn wire() -> (Wire, Arc<Counts>) {
    let (server, counts) = server();
    (Wire::tasks(server), counts)
}

fn accept(content: Value) -> Value {
    json!({ "action": "accept", "content": content })
}

/// Lets everything run that could.
async fn settle() {
    sleep(Duration::from_millis(50)).await;
}

#[tokio::test(start_paused = true)]
async fn questions_are_put_one_after_the_other_and_steps_run_once() {
    let (mut wire, counts) = wire();
    let id = wire.task("order", json!({})).await;
    let task = wire.until(&id, "input_required").await;
    assert_eq!(
        task["inputRequests"],
        json!({ "sure": {
            "method": "elicitation/create",
            "params": {
                "mode": "form",
                "message": "Order?",
                "requestedSchema": {
                    "type": "object",
                    "properties": { "value": { "type": "boolean" } },
                    "required": ["value"],
                },
            },
        } })
    );
    wire.accept(&id, "sure", json!({ "value": true })).await;
    let task = wire.until(&id, "input_required").await;
    let size = &questions(&task)["size"]["params"]["requestedSchema"]["properties"]["value"];
    assert_eq!(
        size["oneOf"][0],
        json!({ "const": "Small", "title": "Fits anywhere." })
    );
    wire.accept(&id, "size", json!({ "value": "Large" })).await;
    let task = wire.end(&id).await;
    assert_eq!(task["result"]["content"][0]["text"], "true large");
    assert_eq!(legs(&counts), 3);
    assert_eq!(counts.effects.load(Relaxed), 1);
}

#[tokio::test(start_paused = true)]
async fn w08_w09_several_questions_are_outstanding_at_once_and_partial_answers_count() {
    let (mut wire, counts) = wire();
    let id = wire.task("both", json!({})).await;
    let task = wire.until(&id, "input_required").await;
    let keys: Vec<_> = questions(&task).keys().cloned().collect();
    assert_eq!(keys, ["count", "name"]);

    wire.accept(&id, "name", json!({ "value": "Ada" })).await;
    settle().await;
    let task = wire.get(&id).await;
    assert_eq!(task["status"], "input_required");
    let keys: Vec<_> = questions(&task).keys().cloned().collect();
    assert_eq!(keys, ["count"]);
    assert_eq!(legs(&counts), 1);

    wire.accept(&id, "count", json!({ "value": 3 })).await;
    let task = wire.end(&id).await;
    assert_eq!(task["result"]["content"][0]["text"], "3 for Ada");
    assert_eq!(legs(&counts), 2);
}

#[tokio::test(start_paused = true)]
async fn w08_a_cancel_ends_the_wait() {
    let (mut wire, counts) = wire();
    let id = wire.parked("both", json!({})).await;
    wire.cancel(&id).await.unwrap();
    let task = wire.get(&id).await;
    assert_eq!(task["status"], "cancelled");
    assert_eq!(task.get("inputRequests"), None);
    let both = json!({ "name": accept(json!({ "value": "Ada" })), "count": accept(json!({ "value": 3 })) });
    wire.update(&id, both).await.unwrap();
    settle().await;
    assert_eq!(wire.get(&id).await, task);
    assert_eq!(legs(&counts), 1);
}

#[tokio::test(start_paused = true)]
async fn w09_unknown_keys_are_ignored_and_the_rest_is_taken() {
    let (mut wire, _) = wire();
    let id = wire.parked("order", json!({})).await;
    let answers = json!({
        "sure": accept(json!({ "value": true, "surplus": [1] })),
        "unknown": { "odd": true },
    });
    wire.update(&id, answers).await.unwrap();
    let task = wire.until(&id, "input_required").await;
    assert!(questions(&task).contains_key("size"));
}

#[tokio::test(start_paused = true)]
async fn u02_updates_without_an_answer_start_no_leg() {
    let (mut wire, counts) = wire();
    let id = wire.task("order", json!({})).await;
    let parked = wire.until(&id, "input_required").await;
    for answers in [
        json!({}),
        json!({ "unknown": accept(json!({})) }),
        json!({ "": 42 }),
    ] {
        let ack = wire.update(&id, answers).await.unwrap();
        assert_eq!(ack, json!({ "resultType": "complete" }));
        settle().await;
    }
    assert_eq!(wire.get(&id).await, parked);
    assert_eq!(legs(&counts), 1);

    // Answering again what was answered starts none either.
    wire.accept(&id, "sure", json!({ "value": true })).await;
    wire.accept(&id, "sure", json!({ "value": false })).await;
    wire.until(&id, "input_required").await;
    wire.accept(&id, "sure", json!({ "value": false })).await;
    settle().await;
    assert_eq!(legs(&counts), 2);
    wire.accept(&id, "size", json!({ "value": "Small" })).await;
    let task = wire.end(&id).await;
    assert_eq!(task["result"]["content"][0]["text"], "true small");
    wire.accept(&id, "size", json!({ "value": "Large" })).await;
    settle().await;
    assert_eq!(wire.get(&id).await, task);
    assert_eq!(legs(&counts), 3);
}

#[tokio::test(start_paused = true)]
async fn f19_two_identical_updates_at_once_run_the_next_leg_once() {
    let (mut wire, counts) = wire();
    let id = wire.parked("order", json!({})).await;
    let answers = json!({ "sure": accept(json!({ "value": true })) });
    let params = json!({ "taskId": id, "inputResponses": answers });
    let first = wire.send("tasks/update", params.clone()).await;
    let second = wire.send("tasks/update", params).await;
    wire.receive(second).await.unwrap();
    wire.receive(first).await.unwrap();
    wire.until(&id, "input_required").await;
    settle().await;
    assert_eq!(legs(&counts), 2);
    assert_eq!(counts.effects.load(Relaxed), 1);
}

#[tokio::test(start_paused = true)]
async fn u03_a_loop_gets_unique_keys_and_the_same_ones_in_every_leg() {
    let (mut wire, counts) = wire();
    let id = wire.task("guess", json!({})).await;
    for key in ["code", "code#2", "code#3"] {
        let task = wire.until(&id, "input_required").await;
        let keys: Vec<_> = questions(&task).keys().collect();
        assert_eq!(keys, [key]);
        let code = if key == "code#3" { "1234" } else { "0000" };
        wire.accept(&id, key, json!({ "value": code })).await;
    }
    let task = wire.end(&id).await;
    assert_eq!(task["result"]["structuredContent"], 3);
    assert_eq!(legs(&counts), 4);
}

#[tokio::test(start_paused = true)]
async fn u07_an_answer_that_does_not_fit_is_refused_and_the_question_stays() {
    let (mut wire, counts) = wire();
    let id = wire.task("order", json!({})).await;
    let parked = wire.until(&id, "input_required").await;
    for wrong in [
        accept(json!({ "value": "banana" })),
        accept(json!({ "value": null })),
        accept(json!({})),
        json!({ "action": "accept" }),
        json!({ "action": "perhaps" }),
        json!(42),
        Value::Null,
    ] {
        let error = wire
            .update(&id, json!({ "sure": wrong }))
            .await
            .unwrap_err();
        assert_eq!(error["code"], -32602, "{error}");
        assert!(
            error["message"].as_str().unwrap().contains("`sure`"),
            "{error}"
        );
        assert_eq!(error["data"]["reason"], "wrong_answer");
    }
    settle().await;
    assert_eq!(wire.get(&id).await, parked);
    assert_eq!(legs(&counts), 1);

    wire.accept(&id, "sure", json!({ "value": true })).await;
    wire.until(&id, "input_required").await;
    let huge = json!({ "size": accept(json!({ "value": "Huge" })) });
    let error = wire.update(&id, huge).await.unwrap_err();
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("one of `Small`, `Large`"), "{message}");
}

#[tokio::test(start_paused = true)]
async fn u07_nothing_of_an_update_is_taken_when_one_answer_is_wrong() {
    let (mut wire, _) = wire();
    let id = wire.parked("both", json!({})).await;
    let answers = json!({
        "count": accept(json!({ "value": 256 })),
        "name": accept(json!({ "value": "Ada" })),
    });
    let error = wire.update(&id, answers).await.unwrap_err();
    assert!(
        error["message"].as_str().unwrap().contains("`count`"),
        "{error}"
    );
    assert_eq!(questions(&wire.get(&id).await).len(), 2);
}

#[tokio::test(start_paused = true)]
async fn u11_catching_every_error_around_a_question_does_not_swallow_the_park() {
    let (mut wire, counts) = wire();
    let id = wire.parked("swallow", json!({})).await;
    settle().await;
    assert_eq!(counts.effects.load(Relaxed), 0);
    wire.accept(&id, "sure", json!({ "value": true })).await;
    let task = wire.end(&id).await;
    assert_eq!(task["result"]["structuredContent"], true);
    assert_eq!(counts.effects.load(Relaxed), 1);
    assert_eq!(legs(&counts), 2);
}

#[tokio::test(start_paused = true)]
async fn declined_and_dismissed_questions_are_errors_of_their_own() {
    let (mut wire, _) = wire();
    for (action, told) in [("decline", "declined"), ("cancel", "dismissed")] {
        let id = wire.parked("maybe", json!({})).await;
        wire.update(&id, json!({ "sure": { "action": action } }))
            .await
            .unwrap();
        let task = wire.end(&id).await;
        assert_eq!(task["result"]["content"][0]["text"], told);
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_that_declared_no_elicitation_is_not_asked() {
    let mut wire = Wire::tasks(server().0);
    let meta = json!({ "io.modelcontextprotocol/clientCapabilities": {
        "extensions": { (crate::support::TASKS): {} },
    } });
    let params = json!({ "name": "maybe", "arguments": {}, "_meta": meta });
    let created = wire.request("tools/call", params).await.unwrap();
    let task = wire.end(created["taskId"].as_str().unwrap()).await;
    assert_eq!(task["result"]["content"][0]["text"], "could not ask");
}

#[tokio::test(start_paused = true)]
async fn answers_reach_a_task_whose_server_was_replaced() {
    let store = MemoryStore::new();
    let (first, counts) = server();
    let mut wire = Wire::tasks(first.store(store.clone()));
    let id = wire.parked("order", json!({})).await;
    wire.close().await;

    let (second, later) = server();
    let mut wire = Wire::tasks(second.store(store));
    wire.accept(&id, "sure", json!({ "value": true })).await;
    wire.until(&id, "input_required").await;
    wire.accept(&id, "size", json!({ "value": "Small" })).await;
    let task = wire.end(&id).await;
    assert_eq!(task["result"]["content"][0]["text"], "true small");
    assert_eq!((legs(&counts), legs(&later)), (1, 2));
    assert_eq!(
        counts.effects.load(Relaxed) + later.effects.load(Relaxed),
        1
    );
}
