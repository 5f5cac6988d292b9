//! A task whose handle never reached its client, over HTTP.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
    time::Duration,
};

use serde_json::{Value, json};
use siding::{prelude::*, record::Status};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    sync::Notify,
    time::{sleep, timeout},
};

use crate::support::{Declares, HookedStore, Http, Moment, accepted};

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

/// The tasks of the server, as soon as all of them have this status.
async fn all(tasks: &siding::Tasks, status: Status, count: usize) {
    let become_so = async {
        loop {
            let all = tasks.list(None).await.unwrap();
            if all.len() == count && all.iter().all(|task| task.status() == status) {
                return;
            }
            sleep(Duration::from_millis(5)).await;
        }
    };
    let waited = timeout(Duration::from_secs(20), become_so).await;
    let all = tasks.list(None).await.unwrap();
    assert!(waited.is_ok(), "not {count} tasks, all {status:?}: {all:?}");
}

#[tokio::test]
async fn u20_a_client_that_left_before_its_call_was_a_task_leaves_nothing_running() {
    let world = Arc::<World>::default();
    let server = server(&world);
    let tasks = server.tasks();
    let http = Http::start(server).await;
    let call = json!({ "name": "release", "arguments": {} });
    let (_, asked) = http.post(&[], "tools/call", call.clone()).await;
    let mut again = call;
    again["requestState"] = asked["result"]["requestState"].clone();
    again["inputResponses"] = json!({ "branch": accepted(json!({ "value": "main" })) });
    let connection = http
        .send(Declares::Tasks, &[], "tools/call", again.clone())
        .await;
    world.began.notified().await;
    drop(connection);
    // Until the server has noticed, nothing must let the call go on.
    sleep(Duration::from_millis(200)).await;
    world.gate.notify_one();
    sleep(Duration::from_millis(200)).await;
    assert!(tasks.list(None).await.unwrap().is_empty());
    // The same answers go on where it stopped, for a client that is there.
    let (_, created) = http.post(&[], "tools/call", again).await;
    assert_eq!(created["result"]["resultType"], "task", "{created}");
    all(&tasks, Status::Working, 1).await;
}

#[tokio::test]
async fn u20_a_task_whose_handle_did_not_leave_is_cancelled() {
    let world = Arc::<World>::default();
    let written = Arc::new(Notify::new());
    let (hold, is_written) = (Arc::new(Notify::new()), written.clone());
    // The record is there, and the answer is not on its way yet.
    let store = HookedStore::new(MemoryStore::new(), {
        let hold = hold.clone();
        move |moment| {
            let (hold, is_written) = (hold.clone(), is_written.clone());
            Box::pin(async move {
                if let Moment::Inserted = moment {
                    is_written.notify_one();
                    hold.notified().await;
                }
            })
        }
    });
    let server = server(&world).store(store);
    let tasks = server.tasks();
    let http = Http::start(server).await;
    let call = json!({ "name": "build", "arguments": {} });
    let connection = http.send(Declares::Tasks, &[], "tools/call", call).await;
    written.notified().await;
    drop(connection);
    sleep(Duration::from_millis(200)).await;
    hold.notify_one();
    all(&tasks, Status::Cancelled, 1).await;
    let task = tasks.list(None).await.unwrap().remove(0);
    let task = serde_json::to_value(&*task).unwrap();
    let why = task["status_message"].as_str().unwrap();
    assert!(why.contains("left before it heard"), "{why}");
}

#[tokio::test]
async fn u20_a_client_that_leaves_with_its_handle_keeps_its_task() {
    let world = Arc::<World>::default();
    let server = server(&world);
    let tasks = server.tasks();
    let http = Http::start(server).await;
    for _ in 0..20 {
        let call = json!({ "name": "build", "arguments": {} });
        let mut connection = http.send(Declares::Tasks, &[], "tools/call", call).await;
        // As soon as the handle is there, the client hangs up.
        let mut seen = Vec::new();
        while !String::from_utf8_lossy(&seen).contains("taskId") {
            assert_ne!(connection.read_buf(&mut seen).await.unwrap(), 0);
        }
        connection.shutdown().await.ok();
        drop(connection);
    }
    sleep(Duration::from_millis(100)).await;
    all(&tasks, Status::InputRequired, 20).await;
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
