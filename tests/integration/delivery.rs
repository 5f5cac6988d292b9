//! A task whose handle never reached its client, over HTTP.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
    time::Duration,
};

use axum::{
    body::Body,
    http::{Request, Response},
};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use siding::{
    HttpService, Tasks,
    prelude::*,
    record::{Record, Status},
};
use tokio::{sync::Notify, time::sleep};
use tower_service::Service;

use crate::support::{Declares, HookedStore, Http, Moment, accepted, retry};

/// What happens to the tools.
#[derive(Default)]
struct World {
    built: AtomicU32,
    /// Told when a build began.
    began: Notify,
    /// Lets a build end.
    gate: Notify,
}

/// Asks, becomes a task, and builds for a long time.
#[mcp_tool(task = "optional", detach = "manual")]
async fn release(ctx: &mut Ctx<Arc<World>>) -> Result<String> {
    let world = ctx.state();
    let branch: String = ctx.input("Which branch?").await?;
    world.began.notify_one();
    ctx.step("prepare", async {
        world.gate.notified().await;
        siding::Ok(())
    })
    .await?;
    ctx.detach().await?;
    ctx.step("build", async {
        sleep(Duration::from_mins(10)).await;
        siding::Ok(world.built.fetch_add(1, Relaxed))
    })
    .await?;
    Ok(branch)
}

/// A task at once.
#[mcp_tool(task = "required")]
async fn build(ctx: &mut Ctx<Arc<World>>) -> Result<String> {
    let sure: bool = ctx.input("Sure?").await?;
    Ok(sure.to_string())
}

fn server(world: &Arc<World>) -> Server<Arc<World>> {
    Server::new("builds", "1.0.0")
        .state(world.clone())
        .tools(tools![release, build])
}

/// A call as it comes over HTTP, of a client that declares tasks.
fn request(mut params: Value) -> Request<String> {
    params["_meta"] = Declares::Tasks.meta();
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    Request::post("http://localhost/mcp")
        .header("Host", "localhost")
        .header("Content-Type", "application/json")
        .header("Accept", "application/json, text/event-stream")
        .header("MCP-Protocol-Version", "2026-07-28")
        .header("Mcp-Method", "tools/call")
        .header("Mcp-Name", params["name"].as_str().unwrap())
        .body(message.to_string())
        .unwrap()
}

/// Makes a call and gives its response, whose body is not read.
async fn call(service: &HttpService, params: Value) -> Response<Body> {
    service.clone().call(request(params)).await.unwrap()
}

/// The message in a response.
async fn message(response: Response<Body>) -> Value {
    let body = response.into_body().collect().await.unwrap().to_bytes();
    let text = String::from_utf8(body.to_vec()).unwrap();
    let mut data = text.lines().filter_map(|line| line.strip_prefix("data: "));
    data.find_map(|data| serde_json::from_str(data).ok())
        .unwrap()
}

/// What an operator has of a server, and how it is called.
fn serving(server: Server<Arc<World>>) -> (Tasks, HttpService) {
    (server.tasks(), server.into_service().unwrap())
}

/// Calls `release`, and gives the call that answers its question.
async fn asked(service: &HttpService) -> Value {
    let params = json!({ "name": "release", "arguments": {} });
    let asked = message(call(service, params.clone()).await).await;
    let branch = json!({ "branch": accepted(json!({ "value": "main" })) });
    retry(params, &asked["result"], branch)
}

/// Makes a call whose client leaves at this moment.
async fn leaves(service: &HttpService, params: Value, moment: impl Future<Output = ()>) {
    let calling = tokio::spawn(service.clone().call(request(params)));
    moment.await;
    calling.abort();
    assert!(calling.await.unwrap_err().is_cancelled());
    settle().await;
}

/// Lets everything happen that can: the clock stands still while anything runs.
async fn settle() {
    sleep(Duration::from_millis(1)).await;
}

fn statuses(tasks: &[Arc<Record>]) -> Vec<Status> {
    tasks.iter().map(|task| task.status()).collect()
}

#[tokio::test(start_paused = true)]
async fn u20_a_client_that_left_before_its_call_was_a_task_leaves_nothing_running() {
    let world = Arc::<World>::default();
    let (tasks, service) = serving(server(&world));
    let again = asked(&service).await;
    leaves(&service, again.clone(), world.began.notified()).await;
    world.gate.notify_one();
    settle().await;
    assert!(tasks.list(None).await.unwrap().is_empty());
    // The same answers go on where it stopped, for a client that is there.
    let created = message(call(&service, again).await).await;
    assert_eq!(created["result"]["resultType"], "task", "{created}");
    let tasks = tasks.list(None).await.unwrap();
    assert_eq!(statuses(&tasks), [Status::Working]);
}

#[tokio::test(start_paused = true)]
async fn u20_a_task_that_was_made_while_its_client_left_is_cancelled() {
    let world = Arc::<World>::default();
    // The record is there, and the answer is not on its way yet.
    let inserted = |moment: &Moment| matches!(moment, Moment::Inserted);
    let (store, gate) = HookedStore::gated(MemoryStore::new(), inserted);
    let (tasks, service) = serving(server(&world).store(store));
    let params = json!({ "name": "build", "arguments": {} });
    leaves(&service, params, gate.reached()).await;
    gate.open();
    settle().await;
    let tasks = tasks.list(None).await.unwrap();
    assert_eq!(statuses(&tasks), [Status::Cancelled]);
    let task = serde_json::to_value(&*tasks[0]).unwrap();
    let why = task["status_message"].as_str().unwrap();
    assert!(why.contains("left before it heard"), "{why}");
}

#[tokio::test(start_paused = true)]
async fn u20_a_retry_whose_client_leaves_while_it_becomes_a_task_leaves_nothing_running() {
    let world = Arc::<World>::default();
    let (store, gate) = HookedStore::gated(
        MemoryStore::new(),
        |moment| matches!(moment, Moment::Committing(change) if change.record.is_task()),
    );
    let (tasks, service) = serving(server(&world).store(store));
    let again = asked(&service).await;
    world.gate.notify_one();
    leaves(&service, again, gate.reached()).await;
    gate.open();
    settle().await;
    let tasks = tasks.list(None).await.unwrap();
    assert_eq!(statuses(&tasks), [Status::Cancelled]);
}

#[tokio::test(start_paused = true)]
async fn u20_a_task_whose_handle_did_not_leave_is_cancelled() {
    let world = Arc::<World>::default();
    let (tasks, service) = serving(server(&world));
    let response = call(&service, json!({ "name": "build", "arguments": {} })).await;
    settle().await;
    let before = tasks.list(None).await.unwrap();
    assert_eq!(statuses(&before), [Status::InputRequired]);
    drop(response);
    settle().await;
    let after = tasks.list(None).await.unwrap();
    assert_eq!(statuses(&after), [Status::Cancelled]);
}

#[tokio::test(start_paused = true)]
async fn u20_a_client_that_leaves_with_its_handle_keeps_its_task() {
    let world = Arc::<World>::default();
    let (tasks, service) = serving(server(&world));
    let mut response = call(&service, json!({ "name": "build", "arguments": {} })).await;
    // As soon as the handle is there, the client hangs up: the end of the stream it never sees.
    loop {
        let frame = response.body_mut().frame().await.unwrap().unwrap();
        let data = frame.into_data().unwrap();
        if String::from_utf8_lossy(&data).contains("taskId") {
            break;
        }
    }
    drop(response);
    settle().await;
    let after = tasks.list(None).await.unwrap();
    assert_eq!(statuses(&after), [Status::InputRequired]);
}

#[tokio::test(start_paused = true)]
async fn u20_a_repeated_retry_that_is_lost_does_not_cancel_what_the_first_was_told_of() {
    let world = Arc::<World>::default();
    let (tasks, service) = serving(server(&world));
    let again = asked(&service).await;
    world.gate.notify_one();
    let created = message(call(&service, again.clone()).await).await;
    let lost = call(&service, again).await;
    drop(lost);
    settle().await;
    let tasks = tasks.list(None).await.unwrap();
    assert_eq!(statuses(&tasks), [Status::Working]);
    assert_eq!(created["result"]["taskId"], json!(tasks[0].id().as_str()));
}

#[tokio::test]
async fn mcp_name_may_be_missing_on_a_task_and_must_not_be_wrong() {
    let world = Arc::<World>::default();
    let http = Http::start(server(&world)).await;
    let call = json!({ "name": "build", "arguments": {} });
    let (_, created) = http.post(&[], "tools/call", call).await;
    let id: &Value = &created["result"]["taskId"];
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        let params = json!({ "taskId": id, "inputResponses": {} });
        let missing = [("Mcp-Name", "")];
        let (status, answer) = http.post(&missing, method, params.clone()).await;
        assert_eq!(status, 200, "{method}: {answer}");
        assert_eq!(answer["result"]["resultType"], "complete", "{method}");
        let wrong = [("Mcp-Name", "another")];
        let (status, answer) = http.post(&wrong, method, params).await;
        assert_eq!(status, 400, "{method}");
        assert_eq!(answer["error"]["code"], -32020);
    }
}
