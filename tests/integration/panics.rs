//! Panics of the author's code: the call ends, the server goes on.

use serde_json::json;
use siding::{
    prelude::*,
    testing::{Fault, FaultyStore},
};

use crate::support::{Declares, VirtualHost, Wire};

/// Panics where it is told to.
#[mcp_tool(task = "optional")]
async fn explode(ctx: &mut Ctx, place: String) -> Result<String> {
    assert_ne!(place, "start", "at the start");
    ctx.step("work", async {
        assert_ne!(place, "step", "in a step");
        Ok(true)
    })
    .await?;
    let sure: bool = ctx.input("Sure?").await?;
    assert_ne!(place, "park", "after a park");
    if place == "drop" {
        let _bomb = Bomb;
        return Ok("armed".into());
    }
    Ok(sure.to_string())
}

struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("when dropped");
    }
}

fn server() -> Server {
    Server::new("bombs", "1.0.0").tool::<explode>()
}

#[tokio::test(start_paused = true)]
async fn u01_w06_a_panic_fails_the_task_wherever_it_happens_and_the_server_lives() {
    let mut wire = Wire::tasks(server());
    let other = wire.task("explode", json!({ "place": "nowhere" })).await;
    for place in ["start", "step", "park", "drop"] {
        let id = wire.task("explode", json!({ "place": place })).await;
        let listen = json!({ "notifications": { "taskIds": [id] } });
        wire.send("subscriptions/listen", listen).await;
        if place == "park" || place == "drop" {
            wire.until(&id, "input_required").await;
            wire.accept(&id, "sure", json!({ "value": true })).await;
        }
        let task = wire.end(&id).await;
        assert_eq!(task["status"], "failed", "{place}: {task}");
        assert_eq!(task["error"]["code"], -32603);
        assert_eq!(task["error"]["data"]["reason"], "panic");
        // What the panic says stays in the log.
        assert!(!task.to_string().contains("at the start"), "{task}");
        let told = loop {
            let told = wire.incoming("notifications/tasks").await;
            if told["params"]["taskId"] == id && told["params"]["status"] == "failed" {
                break told;
            }
        };
        assert_eq!(told["params"]["error"], task["error"], "{place}");
    }
    wire.until(&other, "input_required").await;
    wire.accept(&other, "sure", json!({ "value": true })).await;
    let task = wire.end(&other).await;
    assert_eq!(task["result"]["content"][0]["text"], "true");
}

#[tokio::test(start_paused = true)]
async fn w06_a_panic_in_a_call_is_an_internal_error() {
    let mut wire = Wire::modern(server(), Declares::Nothing);
    let error = wire
        .call("explode", json!({ "place": "start" }))
        .await
        .unwrap_err();
    assert_eq!(error["code"], -32603);
    let error = wire
        .call("explode", json!({ "place": "step" }))
        .await
        .unwrap_err();
    assert_eq!(error["code"], -32603);
}

/// An argument whose reading panics.
struct Fragile;

impl<'de> serde::Deserialize<'de> for Fragile {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <String as serde::Deserialize>::deserialize(deserializer)?;
        assert!(text.is_ascii(), "not ASCII");
        Ok(Self)
    }
}

impl schemars::JsonSchema for Fragile {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Fragile".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        String::json_schema(generator)
    }
}

/// Reads an argument.
#[mcp_tool(task = "optional")]
async fn reads(fragile: Fragile) -> bool {
    let Fragile = fragile;
    true
}

#[tokio::test(start_paused = true)]
async fn a_panic_while_arguments_are_read_is_answered() {
    let server = Server::new("bombs", "1.0.0").tool::<reads>();
    let mut wire = Wire::tasks(server);
    let call = wire.call("reads", json!({ "fragile": "ä" }));
    let answer = tokio::time::timeout(std::time::Duration::from_mins(1), call).await;
    let error = answer.expect("it is answered").unwrap_err();
    assert_eq!(error["code"], -32603, "{error}");
    assert_eq!(error["data"]["reason"], "panic", "{error}");
}

/// As `reads`, as a task.
#[mcp_tool(task = "required")]
async fn reads_later(fragile: Fragile) -> bool {
    let Fragile = fragile;
    true
}

#[tokio::test(start_paused = true)]
async fn s15_a_task_whose_preparation_fails_is_not_left_behind() {
    // Its arguments cannot be read, the store does not take it, or takes it and does not say so.
    let cases = [
        ("ä", None),
        ("a", Some(Fault::Lost)),
        ("a", Some(Fault::Unheard)),
    ];
    for (fragile, fault) in cases {
        let host = VirtualHost::new();
        let kept = MemoryStore::new();
        let faulty = FaultyStore::new(kept.clone());
        let store = match fault {
            Some(fault) => faulty.on(1, fault),
            None => faulty,
        };
        let server = Server::new("fragile", "1.0.0").tool::<reads_later>();
        let server = server.store(store).host(host);
        let tasks = server.tasks();
        let mut wire = Wire::with_host(server, host);
        let arguments = json!({ "fragile": fragile });
        let error = wire.call("reads_later", arguments).await.unwrap_err();
        assert_eq!(error["code"], -32603, "{fault:?}: {error}");
        tokio::time::sleep(tokio::time::Duration::from_mins(2)).await;
        assert!(tasks.list(None).await.unwrap().is_empty(), "{fault:?}");
        let id = wire.task("reads_later", json!({ "fragile": "a" })).await;
        assert_eq!(wire.end(&id).await["status"], "completed", "{fault:?}");
    }
}
