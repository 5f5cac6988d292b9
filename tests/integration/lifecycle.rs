//! The life of a task: ids, times, ends, cancellation.

use std::{
    collections::HashSet,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
};

use rmcp::model::CallToolResult;
use serde_json::json;
use siding::{ProtocolError, prelude::*};
use tokio::time::{Duration, advance, sleep};

use crate::support::Wire;

/// Is done at once.
#[mcp_tool(task = "required", ttl = "90s", poll = "250ms")]
async fn quick() -> String {
    "done".into()
}

/// Fails.
#[mcp_tool(task = "required")]
async fn fails() -> Result<String> {
    Err(ToolError::new("no luck"))
}

/// Fails with an error of other code.
#[mcp_tool(task = "required")]
async fn fails_elsewhere() -> Result<u16> {
    Ok("x".parse()?)
}

/// Fails as a request.
#[mcp_tool(task = "required")]
async fn breaks() -> Result<String> {
    Err(ToolError::protocol(
        4001,
        "the ledger is closed",
        Some(json!({ "until": "May" })),
    ))
}

/// Works until it is cancelled, and tells what it saw.
#[mcp_tool(task = "required")]
async fn works(ctx: &mut Ctx<Arc<AtomicU32>>) -> Result<String> {
    assert!(ctx.task_id().is_some());
    assert!(!ctx.is_cancelled());
    ctx.status("at work");
    ctx.cancelled().await;
    ctx.state().fetch_add(1, Relaxed);
    Ok("late".into())
}

/// Tells whether it is a task.
#[mcp_tool(task = "optional")]
async fn is_task(ctx: &mut Ctx) -> bool {
    ctx.status("nobody hears this in a call");
    ctx.task_id().is_some()
}

/// Returns a result that claims to be something else.
#[mcp_tool(task = "required")]
async fn pretends() -> CallToolResult {
    let mut result = CallToolResult::success(Vec::new());
    result.result_type = Some(rmcp::model::ResultType::INPUT_REQUIRED);
    result
}

fn server() -> Server {
    let tools = tools![quick, fails, fails_elsewhere, breaks, is_task, pretends];
    Server::new("lives", "1.0.0").tools(tools)
}

#[tokio::test(start_paused = true)]
async fn f06_w04_ids_are_128_random_bits() {
    let mut wire = Wire::tasks(server());
    let mut ids = HashSet::new();
    for _ in 0..100 {
        let id = wire.task("quick", json!({})).await;
        assert_eq!(id.len(), 32, "{id}");
        assert!(
            id.chars()
                .all(|c| c.is_ascii_hexdigit() && !c.is_ascii_uppercase()),
            "{id}"
        );
        ids.insert(id);
    }
    assert_eq!(ids.len(), 100);
    // Every bit is used: none is the same in all of them.
    let bits: Vec<u128> = ids
        .iter()
        .map(|id| u128::from_str_radix(id, 16).unwrap())
        .collect();
    let varying = bits.iter().fold(0, |varying, id| varying | (id ^ bits[0]));
    assert_eq!(varying, u128::MAX);
}

#[tokio::test(start_paused = true)]
async fn f07_an_unknown_id_is_invalid_params() {
    let mut wire = Wire::tasks(server());
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        let params = json!({ "taskId": "nobody", "inputResponses": {} });
        let error = wire.request(method, params).await.unwrap_err();
        assert_eq!(error["code"], -32602, "{method}");
        assert!(
            error["message"].as_str().unwrap().contains("nobody"),
            "{error}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn f08_w06_an_error_of_the_tool_completes_the_task() {
    let mut wire = Wire::tasks(server());
    for (tool, text) in [("fails", "no luck"), ("fails_elsewhere", "invalid digit")] {
        let id = wire.task(tool, json!({})).await;
        let task = wire.end(&id).await;
        assert_eq!(task["status"], "completed");
        assert_eq!(task["result"]["isError"], true);
        let told = task["result"]["content"][0]["text"].as_str().unwrap();
        assert!(told.contains(text), "{told}");
        assert_eq!(task.get("error"), None);
    }
}

#[tokio::test(start_paused = true)]
async fn s12_w06_a_protocol_error_fails_the_task_with_all_that_it_says() {
    let mut wire = Wire::tasks(server());
    let id = wire.task("breaks", json!({})).await;
    let task = wire.end(&id).await;
    assert_eq!(task["status"], "failed");
    assert_eq!(task["statusMessage"], "the ledger is closed");
    let error: ProtocolError = serde_json::from_value(task["error"].clone()).unwrap();
    assert_eq!(error.code, 4001);
    assert_eq!(error.data, Some(json!({ "until": "May" })));
    assert_eq!(task.get("result"), None);
}

#[tokio::test(start_paused = true)]
async fn w06_a_success_completes_the_task_with_its_result() {
    let mut wire = Wire::tasks(server());
    let id = wire.task("quick", json!({})).await;
    let task = wire.end(&id).await;
    assert_eq!(task["resultType"], "complete");
    assert_eq!(task["status"], "completed");
    assert_eq!(task["result"]["resultType"], "complete");
    assert_eq!(task["result"]["content"][0]["text"], "done");
}

#[tokio::test(start_paused = true)]
async fn f12_ttl_and_poll_interval_are_the_same_in_every_view() {
    let mut wire = Wire::tasks(server());
    let created = wire.call("quick", json!({})).await.unwrap();
    let task = wire.end(created["taskId"].as_str().unwrap()).await;
    for view in [&created, &task] {
        assert_eq!(view["ttlMs"], 90_000);
        assert_eq!(view["pollIntervalMs"], 250);
    }
}

#[tokio::test(start_paused = true)]
async fn w14_times_are_utc_with_milliseconds() {
    let mut wire = Wire::tasks(server());
    let created = wire.call("quick", json!({})).await.unwrap();
    for field in ["createdAt", "lastUpdatedAt"] {
        let time = created[field].as_str().unwrap();
        assert_eq!(time.len(), "2026-11-29T12:00:00.000Z".len(), "{time}");
        assert!(
            time.starts_with("2026-11-29T12:00:0") && time.ends_with('Z'),
            "{time}"
        );
        assert_eq!(&time[19..20], ".", "{time}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_task_is_forgotten_when_its_time_is_over_counted_from_the_creation() {
    let mut wire = Wire::tasks(server());
    let id = wire.task("quick", json!({})).await;
    wire.end(&id).await;
    advance(Duration::from_secs(80)).await;
    assert_eq!(wire.get(&id).await["status"], "completed");
    advance(Duration::from_secs(10)).await;
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        let params = json!({ "taskId": id, "inputResponses": {} });
        let error = wire.request(method, params).await.unwrap_err();
        assert_eq!(error["code"], -32602, "{method}");
    }
}

#[tokio::test(start_paused = true)]
async fn f13_w10_cancel_is_final_at_once_and_acknowledged_again() {
    let late = Arc::<AtomicU32>::default();
    let server = Server::new("lives", "1.0.0")
        .state(late.clone())
        .tool::<works>();
    let mut wire = Wire::tasks(server);
    let id = wire.task("works", json!({})).await;
    loop {
        if wire.get(&id).await["statusMessage"] == "at work" {
            break;
        }
        sleep(Duration::from_millis(1)).await;
    }
    let ack = wire.cancel(&id).await.unwrap();
    assert_eq!(ack, json!({ "resultType": "complete" }));
    let task = wire.get(&id).await;
    assert_eq!(task["status"], "cancelled");
    assert_eq!(task["statusMessage"], "cancelled");

    // The work sees it, ends, and what it returns is refused.
    while late.load(Relaxed) == 0 {
        sleep(Duration::from_millis(1)).await;
    }
    sleep(Duration::from_secs(1)).await;
    assert_eq!(wire.get(&id).await, task);
    assert_eq!(wire.cancel(&id).await.unwrap(), ack);
    assert_eq!(wire.get(&id).await, task);
}

#[tokio::test(start_paused = true)]
async fn w10_a_finished_task_stays_as_it_is_when_it_is_cancelled() {
    let mut wire = Wire::tasks(server());
    let id = wire.task("quick", json!({})).await;
    let task = wire.end(&id).await;
    sleep(Duration::from_secs(1)).await;
    assert_eq!(
        wire.cancel(&id).await.unwrap(),
        json!({ "resultType": "complete" })
    );
    assert_eq!(wire.get(&id).await, task);
}

#[tokio::test(start_paused = true)]
async fn w07_the_work_sees_whether_it_is_a_task_and_tells_how_it_goes() {
    let mut wire = Wire::tasks(server());
    let id = wire.task("is_task", json!({})).await;
    assert_eq!(wire.end(&id).await["result"]["structuredContent"], true);

    let mut plain = Wire::modern(server(), crate::support::Declares::Nothing);
    let result = plain.call("is_task", json!({})).await.unwrap();
    assert_eq!(result["structuredContent"], false);
}

#[tokio::test(start_paused = true)]
async fn w13_a_result_that_claims_to_be_something_else_is_none() {
    let mut wire = Wire::tasks(server());
    let id = wire.task("pretends", json!({})).await;
    let task = wire.end(&id).await;
    assert_eq!(task["status"], "failed");
    assert_eq!(task["error"]["code"], -32603);
    let message = task["error"]["message"].as_str().unwrap();
    assert!(message.contains("`input_required`"), "{message}");
}
