//! How far a call is.

use serde_json::{Value, json};
use siding::prelude::*;
use tokio::time::{Duration, sleep};

use crate::support::{Declares, Wire, accepted, retry, text};

/// Does three things, and asks before the last.
#[mcp_tool(task = "optional")]
async fn work(ctx: &mut Ctx) -> Result<String> {
    for done in 0..2 {
        ctx.progress(done, 3);
        ctx.step(format!("part {done}"), async {
            sleep(Duration::from_secs(1)).await;
            siding::Ok(())
        })
        .await?;
    }
    let sure: bool = ctx.input("Sure?").await?;
    let handle = ctx.handle();
    ctx.step("last part", async {
        handle.progress(2, 3);
        sleep(Duration::from_secs(1)).await;
        siding::Ok(())
    })
    .await?;
    Ok(sure.to_string())
}

/// Says last that it is done.
#[mcp_tool(task = "optional")]
async fn count(ctx: &mut Ctx, fails: bool) -> Result<String> {
    ctx.progress(1, 2);
    ctx.progress(2, 2);
    if fails {
        return Err(ToolError::new("miscounted"));
    }
    Ok("two".into())
}

fn server() -> Server {
    Server::new("work", "1.0.0").tools(tools![work, count])
}

fn call() -> Value {
    json!({ "name": "work", "arguments": {}, "_meta": { "progressToken": "far" } })
}

/// How far the call was told to be.
fn told(wire: &Wire) -> Vec<String> {
    let progress = wire
        .unread()
        .filter(|it| it["method"] == "notifications/progress");
    progress
        .map(|it| {
            let params = &it["params"];
            assert_eq!(params["progressToken"], "far");
            format!("{} of {}", params["progress"], params["total"])
        })
        .collect()
}

#[tokio::test(start_paused = true)]
async fn a_call_with_a_token_is_told_and_a_replay_tells_nothing_again() {
    let mut wire = Wire::modern(server(), Declares::Elicitation);
    let asked = wire.request("tools/call", call()).await.unwrap();
    assert_eq!(told(&wire), ["0.0 of 3.0", "1.0 of 3.0"]);
    let sure = json!({ "sure": accepted(json!({ "value": true })) });
    let again = retry(call(), &asked, sure);
    let done = wire.request("tools/call", again).await.unwrap();
    assert_eq!(text(&done), "true");
    assert_eq!(told(&wire), ["0.0 of 3.0", "1.0 of 3.0", "2.0 of 3.0"]);
}

#[tokio::test(start_paused = true)]
async fn an_older_client_is_told_too() {
    let (mut wire, _) = Wire::legacy(server(), Declares::Elicitation).await;
    let id = wire.send("tools/call", call()).await;
    let asked = wire.incoming("elicitation/create").await;
    wire.respond(&asked, accepted(json!({ "value": true })))
        .await;
    wire.receive(id).await.unwrap();
    assert_eq!(told(&wire).len(), 3);
}

#[tokio::test(start_paused = true)]
async fn what_is_told_right_before_the_end_comes_before_the_result() {
    for fails in [false, true] {
        let call = json!({
            "name": "count",
            "arguments": { "fails": fails },
            "_meta": { "progressToken": "far" },
        });
        let mut wire = Wire::modern(server(), Declares::Elicitation);
        let done = wire.request("tools/call", call.clone()).await.unwrap();
        assert_eq!(done["isError"].as_bool(), Some(fails));
        assert_eq!(told(&wire), ["2.0 of 2.0"]);
        let (mut wire, _) = Wire::legacy(server(), Declares::Elicitation).await;
        wire.request("tools/call", call).await.unwrap();
        assert_eq!(told(&wire), ["2.0 of 2.0"]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_without_a_token_is_told_nothing() {
    let mut wire = Wire::modern(server(), Declares::Elicitation);
    wire.call("work", json!({})).await.unwrap();
    assert_eq!(wire.unread().count(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_task_tells_it_as_its_status_and_sends_no_progress() {
    let mut wire = Wire::tasks(server());
    let created = wire.request("tools/call", call()).await.unwrap();
    let id = created["taskId"].as_str().unwrap();
    sleep(Duration::from_millis(1_500)).await;
    assert_eq!(wire.get(id).await["statusMessage"], "1 of 3");
    wire.until(id, "input_required").await;
    assert!(told(&wire).is_empty());
}
