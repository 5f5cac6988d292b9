//! In the call or as a task: the table of modes, over the wire.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering::Relaxed},
};

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};
use siding::prelude::*;

use crate::support::{Declares, TASKS, Wire};

#[derive(Serialize, JsonSchema)]
struct Sum {
    sum: i64,
}

/// Adds.
#[mcp_tool(task = "optional")]
async fn add(a: i64, b: i64) -> Sum {
    Sum { sum: a + b }
}

/// Adds, never as a task.
#[mcp_tool]
async fn add_now(a: i64, b: i64) -> Sum {
    Sum { sum: a + b }
}

/// Adds, only as a task, and counts its runs.
#[mcp_tool(task = "required")]
async fn add_later(ctx: &mut Ctx<Arc<AtomicU32>>, a: i64, b: i64) -> Sum {
    ctx.state().fetch_add(1, Relaxed);
    Sum { sum: a + b }
}

fn server() -> Server {
    Server::new("sums", "1.0.0").tools(tools![add, add_now])
}

fn with_required(runs: &Arc<AtomicU32>) -> Server<Arc<AtomicU32>> {
    let server = Server::new("sums", "1.0.0").state(runs.clone());
    server.tools(tools![add, add_later])
}

fn arguments() -> Value {
    json!({ "a": 2, "b": 3 })
}

#[tokio::test(start_paused = true)]
async fn f01_the_extension_is_advertised_only_where_a_tool_can_be_a_task() {
    let mut wire = Wire::tasks(server());
    let discovered = wire.request("server/discover", json!({})).await.unwrap();
    assert_eq!(
        discovered["capabilities"]["extensions"],
        json!({ (TASKS): {} })
    );
    assert_eq!(discovered["capabilities"].get("tasks"), None);

    let mut wire = Wire::tasks(Server::new("sums", "1.0.0").tool::<add_now>());
    let discovered = wire.request("server/discover", json!({})).await.unwrap();
    assert_eq!(discovered["capabilities"].get("extensions"), None);
    let error = wire
        .request("tasks/get", json!({ "taskId": "x" }))
        .await
        .unwrap_err();
    assert_eq!(error["code"], -32601);
}

#[tokio::test(start_paused = true)]
async fn f01_older_clients_are_told_nothing_of_tasks() {
    let (_, initialized) = Wire::legacy(server(), Declares::Tasks).await;
    assert_eq!(initialized["capabilities"], json!({ "tools": {} }));
}

#[tokio::test(start_paused = true)]
async fn f02_w01_an_optional_tool_is_a_task_with_the_result_of_the_direct_call() {
    let mut wire = Wire::tasks(server());
    let created = wire.call("add", arguments()).await.unwrap();
    assert_eq!(created["resultType"], "task");
    assert_eq!(created["status"], "working");
    let task = wire.end(created["taskId"].as_str().unwrap()).await;
    assert_eq!(task["status"], "completed");

    let mut plain = Wire::modern(server(), Declares::Nothing);
    let mut direct = plain.call("add", arguments()).await.unwrap();
    direct.as_object_mut().unwrap().remove("_meta");
    assert_eq!(task["result"], direct);
}

#[tokio::test(start_paused = true)]
async fn f03_w01_an_optional_tool_runs_in_the_call_of_a_client_without_tasks() {
    let mut wire = Wire::modern(server(), Declares::Nothing);
    let result = wire.call("add", arguments()).await.unwrap();
    assert_eq!(result["resultType"], "complete");
    assert_eq!(result["structuredContent"], json!({ "sum": 5 }));
    assert_eq!(
        result["content"][0]["text"],
        json!({ "sum": 5 }).to_string()
    );
}

#[tokio::test(start_paused = true)]
async fn f04_a_forbidden_tool_runs_in_the_call_whatever_the_client_declares() {
    let mut wire = Wire::tasks(server());
    let result = wire.call("add_now", arguments()).await.unwrap();
    assert_eq!(result["structuredContent"], json!({ "sum": 5 }));
}

#[tokio::test(start_paused = true)]
async fn f05_w11_a_required_tool_without_the_declaration_is_refused_and_never_runs() {
    let runs = Arc::default();
    let mut wire = Wire::modern(with_required(&runs), Declares::Elicitation);
    let error = wire.call("add_later", arguments()).await.unwrap_err();
    assert_eq!(error["code"], -32021);
    assert_eq!(
        error["data"],
        json!({ "requiredCapabilities": { "extensions": { (TASKS): {} } } })
    );
    // The mode comes before the arguments: bad ones change nothing.
    let error = wire
        .call("add_later", json!({ "a": "x" }))
        .await
        .unwrap_err();
    assert_eq!(error["code"], -32021);
    assert_eq!(runs.load(Relaxed), 0);
}

#[tokio::test(start_paused = true)]
async fn f16_a_declaration_under_an_older_protocol_counts_for_nothing() {
    let runs = Arc::default();
    let (mut wire, _) = Wire::legacy(with_required(&runs), Declares::Tasks).await;
    let result = wire.call("add", arguments()).await.unwrap();
    assert_eq!(result["structuredContent"], json!({ "sum": 5 }));
    assert_eq!(result.get("resultType"), None);
    let error = wire.call("add_later", arguments()).await.unwrap_err();
    assert_eq!(error["code"], -32021);
    assert_eq!(runs.load(Relaxed), 0);
    let error = wire
        .request("tasks/get", json!({ "taskId": "x" }))
        .await
        .unwrap_err();
    assert_eq!(error["code"], -32021);
}

#[tokio::test(start_paused = true)]
async fn f18_requests_on_tasks_need_the_declaration_before_the_id_is_looked_at() {
    let mut wire = Wire::tasks(server());
    let id = wire.task("add", arguments()).await;
    for id in [id.as_str(), "no such task"] {
        for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
            let meta = json!({ "io.modelcontextprotocol/clientCapabilities": {} });
            let params = json!({ "taskId": id, "inputResponses": {}, "_meta": meta });
            let error = wire.request(method, params).await.unwrap_err();
            assert_eq!(error["code"], -32021, "{method} {id}");
            assert_eq!(
                error["data"],
                json!({ "requiredCapabilities": { "extensions": { (TASKS): {} } } })
            );
        }
    }
}

#[tokio::test(start_paused = true)]
async fn u13_leftovers_of_the_older_tasks_are_ignored_or_unknown() {
    let mut wire = Wire::tasks(server());
    let params = json!({ "name": "add_now", "arguments": arguments(), "task": { "ttl": 5 } });
    let result = wire.request("tools/call", params).await.unwrap();
    assert_eq!(result["structuredContent"], json!({ "sum": 5 }));
    for method in ["tasks/list", "tasks/result"] {
        let error = wire
            .request(method, json!({ "taskId": "x" }))
            .await
            .unwrap_err();
        assert_eq!(error["code"], -32601, "{method}");
    }
}

#[tokio::test(start_paused = true)]
async fn tools_list_shows_schemas_and_no_trace_of_modes() {
    let mut wire = Wire::tasks(server());
    let listed = wire.request("tools/list", json!({})).await.unwrap();
    let tools = listed["tools"].as_array().unwrap();
    assert_eq!(tools.len(), 2);
    let add = &tools[0];
    assert_eq!(add["name"], "add");
    assert_eq!(add["description"], "Adds.");
    assert_eq!(add.get("execution"), None);
    assert_eq!(add["inputSchema"]["type"], "object");
    assert_eq!(add["inputSchema"]["additionalProperties"], false);
    assert_eq!(add["inputSchema"]["required"], json!(["a", "b"]));
    assert_eq!(add["outputSchema"]["properties"]["sum"]["type"], "integer");
}

#[tokio::test(start_paused = true)]
async fn unknown_tools_are_invalid_params() {
    let mut wire = Wire::tasks(server());
    let error = wire.call("subtract", json!({})).await.unwrap_err();
    assert_eq!(error["code"], -32602);
    assert!(
        error["message"].as_str().unwrap().contains("`subtract`"),
        "{error}"
    );
}
