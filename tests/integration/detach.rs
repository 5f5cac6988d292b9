//! From a call to a task: at once, after a while, or where the body says so.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering::Relaxed},
};

use serde_json::{Value, json};
use siding::{
    Limits,
    prelude::*,
    record::Status,
    testing::{Fault, FaultyStore},
};
use tokio::{
    sync::Notify,
    time::{Duration, sleep},
};

use crate::support::{Declares, VirtualHost, Wire, accepted, questions, text};

/// What the tools did to the world.
#[derive(Default)]
struct World {
    built: AtomicU32,
    /// Lets a build end.
    gate: Notify,
}

type Shared = Arc<World>;

/// Takes as long as it is told; a task after half a second.
#[mcp_tool(task = "optional", detach = "after 500ms")]
async fn build(ctx: &mut Ctx<Shared>, millis: u64) -> Result<String> {
    let world = ctx.state();
    ctx.status("building");
    let built = ctx
        .step("build", async {
            sleep(Duration::from_millis(millis)).await;
            siding::Ok(world.built.fetch_add(1, Relaxed) + 1)
        })
        .await?;
    Ok(format!(
        "build {built}, a task: {}",
        ctx.task_id().is_some()
    ))
}

/// Asks at once; a task then, though half a second is not over.
#[mcp_tool(task = "optional", detach = "after 500ms")]
async fn ask(ctx: &mut Ctx<Shared>) -> Result<String> {
    let before = ctx.task_id().is_some();
    ctx.status("asking");
    let sure: bool = ctx.input("Sure?").await?;
    Ok(format!(
        "{sure}, a task before: {before}, after: {}",
        ctx.task_id().is_some()
    ))
}

/// Sleeps at once, which is a park.
#[mcp_tool(task = "optional", detach = "after 500ms")]
async fn rest(ctx: &mut Ctx<Shared>) -> Result<String> {
    ctx.sleep(Duration::from_hours(1)).await?;
    Ok("rested".into())
}

/// Asks while somebody waits, builds while nobody has to, and asks once more.
#[mcp_tool(task = "optional", detach = "manual")]
async fn release(ctx: &mut Ctx<Shared>) -> Result<String> {
    let world = ctx.state();
    let branch: String = ctx.input("Which branch?").await?;
    ctx.status("building");
    if let Err(error) = ctx.detach().await {
        return Ok(format!("as a call, because {error}"));
    }
    ctx.step("build", async {
        world.gate.notified().await;
        siding::Ok(world.built.fetch_add(1, Relaxed) + 1)
    })
    .await?;
    let publish: bool = ctx.input(format!("Publish {branch}?")).await?;
    Ok(format!(
        "{branch}: {publish}, a task: {}",
        ctx.task_id().is_some()
    ))
}

/// The same, only as a task.
#[mcp_tool(task = "required", detach = "manual")]
async fn only_release(ctx: &mut Ctx<Shared>) -> Result<String> {
    let branch: String = ctx.input("Which branch?").await?;
    ctx.detach().await?;
    Ok(branch)
}

/// A task as soon as it may be; charges before.
#[mcp_tool(task = "optional", detach = "manual")]
async fn at_once(ctx: &mut Ctx<Shared>) -> Result<String> {
    let world = ctx.state();
    ctx.step("charge", async {
        siding::Ok(world.built.fetch_add(1, Relaxed))
    })
    .await?;
    if let Err(error) = ctx.detach().await {
        ctx.status("not a task");
        let sure: bool = ctx.input(format!("Go on, though {error}?")).await?;
        return Ok(format!("as a call: {sure}"));
    }
    Ok("as a task".into())
}

/// Charges, then asks, which makes it a task.
#[mcp_tool(task = "optional", detach = "after 500ms")]
async fn charge_and_ask(ctx: &mut Ctx<Shared>) -> Result<bool> {
    let world = ctx.state();
    ctx.step("charge", async {
        siding::Ok(world.built.fetch_add(1, Relaxed))
    })
    .await?;
    let sure: bool = ctx.input("Sure?").await?;
    Ok(sure)
}

fn server() -> (Server<Shared>, Shared) {
    let world = Shared::default();
    (open(&world), world)
}

fn open(world: &Shared) -> Server<Shared> {
    Server::new("builds", "1.0.0")
        .state(world.clone())
        .tools(tools![
            build,
            ask,
            rest,
            release,
            only_release,
            at_once,
            charge_and_ask
        ])
}

fn branch() -> Value {
    json!({ "branch": accepted(json!({ "value": "main" })) })
}

#[tokio::test(start_paused = true)]
async fn what_ends_in_time_is_answered_in_the_call() {
    let host = VirtualHost::new();
    let (server, _) = server();
    let server = server.host(host);
    let tasks = server.tasks();
    let mut wire = Wire::with_host(server, host);
    let done = wire.call("build", json!({ "millis": 499 })).await.unwrap();
    assert_eq!(done["resultType"], "complete");
    assert_eq!(text(&done), "build 1, a task: false");
    assert!(tasks.list(None).await.unwrap().is_empty());
}

#[tokio::test(start_paused = true)]
async fn what_takes_longer_becomes_a_task_in_the_middle_of_its_step() {
    let (server, world) = server();
    let mut wire = Wire::tasks(server);
    let began = tokio::time::Instant::now();
    let created = wire
        .call("build", json!({ "millis": 2_000 }))
        .await
        .unwrap();
    assert_eq!(began.elapsed(), Duration::from_millis(500));
    assert_eq!(created["resultType"], "task");
    assert_eq!(created["status"], "working");
    let id = created["taskId"].as_str().unwrap();
    let task = wire.get(id).await;
    assert_eq!(
        task["statusMessage"], "building",
        "told before it was a task"
    );
    let task = wire.end(id).await;
    assert_eq!(text(&task["result"]), "build 1, a task: true");
    assert_eq!(world.built.load(Relaxed), 1);
}

#[tokio::test(start_paused = true)]
async fn the_first_park_makes_a_task_before_the_time_is_over() {
    let (server, _) = server();
    let mut wire = Wire::tasks(server);
    let created = wire.call("ask", json!({})).await.unwrap();
    assert_eq!(created["resultType"], "task");
    assert_eq!(created["status"], "working");
    assert_eq!(created.get("inputRequests"), None);
    let id = created["taskId"].as_str().unwrap();
    let task = wire.until(id, "input_required").await;
    assert_eq!(task["statusMessage"], "asking");
    wire.accept(id, "sure", json!({ "value": true })).await;
    let task = wire.end(id).await;
    assert_eq!(
        text(&task["result"]),
        "true, a task before: true, after: true"
    );

    let id = wire.task("rest", json!({})).await;
    sleep(Duration::from_mins(59)).await;
    assert_eq!(wire.get(&id).await["status"], "working");
}

#[tokio::test(start_paused = true)]
async fn a_client_without_tasks_waits_for_it_all() {
    let (server, _) = server();
    let mut wire = Wire::modern(server, Declares::Elicitation);
    let done = wire
        .call("build", json!({ "millis": 60_000 }))
        .await
        .unwrap();
    assert_eq!(text(&done), "build 1, a task: false");
    let asked = wire.call("ask", json!({})).await.unwrap();
    assert_eq!(asked["resultType"], "input_required");
}

#[tokio::test(start_paused = true)]
async fn u12_it_asks_by_a_round_then_is_a_task_and_the_answer_goes_along() {
    let (server, world) = server();
    let mut wire = Wire::tasks(server);
    let asked = wire.call("release", json!({})).await.unwrap();
    assert_eq!(asked["resultType"], "input_required");
    assert_eq!(asked.get("taskId"), None);
    let created = wire.go_on("release", json!({}), &asked, branch()).await;
    assert_eq!(created["resultType"], "task");
    for absent in ["requestState", "inputRequests", "result"] {
        assert_eq!(created.get(absent), None);
    }
    let id = created["taskId"].as_str().unwrap();
    let task = wire.get(id).await;
    assert_eq!(task["status"], "working");
    assert_eq!(task["statusMessage"], "building");
    assert_eq!(task.get("requestState"), None);
    world.gate.notify_one();
    let task = wire.until(id, "input_required").await;
    let asked = &questions(&task)["publish"]["params"]["message"];
    assert_eq!(asked, "Publish main?");
    wire.accept(id, "publish", json!({ "value": true })).await;
    let task = wire.end(id).await;
    assert_eq!(text(&task["result"]), "main: true, a task: true");
    assert_eq!(world.built.load(Relaxed), 1);
}

#[tokio::test(start_paused = true)]
async fn u12_the_same_answers_again_name_the_same_task() {
    let (server, world) = server();
    let mut wire = Wire::tasks(server);
    let asked = wire.call("release", json!({})).await.unwrap();
    let created = wire.go_on("release", json!({}), &asked, branch()).await;
    let again = wire.go_on("release", json!({}), &asked, branch()).await;
    assert_eq!(again["taskId"], created["taskId"]);
    let other = json!({ "branch": accepted(json!({ "value": "other" })) });
    let error = wire
        .again("release", json!({}), &asked, other)
        .await
        .unwrap_err();
    assert_eq!(error["code"], -32602);
    world.gate.notify_one();
    let id = created["taskId"].as_str().unwrap();
    wire.until(id, "input_required").await;
    // Whatever came of it since: a new task is one that works.
    let late = wire.again("release", json!({}), &asked, branch()).await;
    let late = late.unwrap();
    assert_eq!(late["status"], "working");
    assert_eq!(late.get("inputRequests"), None);
    assert_eq!(world.built.load(Relaxed), 1);
}

#[tokio::test(start_paused = true)]
async fn u12_a_crash_after_it_was_detached_loses_neither_answer_nor_task() {
    let store = MemoryStore::new();
    let (server, world) = server();
    let mut wire = Wire::tasks(server.store(store.clone()));
    let asked = wire.call("release", json!({})).await.unwrap();
    let created = wire.go_on("release", json!({}), &asked, branch()).await;
    wire.kill().await;
    let mut wire = Wire::tasks(open(&world).store(store));
    world.gate.notify_one();
    let id = created["taskId"].as_str().unwrap();
    wire.until(id, "input_required").await;
    wire.accept(id, "publish", json!({ "value": false })).await;
    let task = wire.end(id).await;
    assert_eq!(text(&task["result"]), "main: false, a task: true");
}

#[tokio::test(start_paused = true)]
async fn detach_does_nothing_for_a_client_without_tasks() {
    let (server, world) = server();
    let mut wire = Wire::modern(server, Declares::Elicitation);
    let asked = wire.call("release", json!({})).await.unwrap();
    world.gate.notify_one();
    let asked = wire.go_on("release", json!({}), &asked, branch()).await;
    assert_eq!(asked["resultType"], "input_required");
    let publish = json!({ "publish": accepted(json!({ "value": true })) });
    let done = wire.go_on("release", json!({}), &asked, publish).await;
    assert_eq!(text(&done), "main: true, a task: false");
}

#[tokio::test(start_paused = true)]
async fn the_mode_is_decided_anew_before_the_handle_is_touched() {
    let (server, _) = server();
    let mut wire = Wire::tasks(server);
    let asked = wire.call("only_release", json!({})).await.unwrap();
    let plain = json!({ "io.modelcontextprotocol/clientCapabilities": { "elicitation": {} } });
    let params = json!({
        "name": "only_release",
        "arguments": {},
        "requestState": asked["requestState"],
        "inputResponses": branch(),
        "_meta": plain,
    });
    let error = wire.request("tools/call", params).await.unwrap_err();
    assert_eq!(error["code"], -32021);
    let created = wire
        .go_on("only_release", json!({}), &asked, branch())
        .await;
    assert_eq!(created["resultType"], "task");
}

#[tokio::test(start_paused = true)]
async fn a_call_that_has_no_place_is_refused_before_any_work() {
    let (server, world) = server();
    let mut wire = Wire::tasks(server.limits(one_place()));
    wire.task("rest", json!({})).await;
    for tool in ["build", "release", "at_once", "charge_and_ask"] {
        let error = wire.call(tool, json!({ "millis": 1 })).await;
        let error = match tool {
            "build" => error.unwrap_err(),
            _ => wire.call(tool, json!({})).await.unwrap_err(),
        };
        assert_eq!(error["code"], 429, "{tool}");
        assert_eq!(error["data"]["reason"], "over_limit", "{tool}");
    }
    assert_eq!(world.built.load(Relaxed), 0);
    // For a client that waits for it all, nothing has to be kept of what never asks.
    let plain = json!({ "io.modelcontextprotocol/clientCapabilities": {} });
    let params = json!({ "name": "build", "arguments": { "millis": 1 }, "_meta": plain });
    let done = wire.request("tools/call", params).await.unwrap();
    assert_eq!(text(&done), "build 1, a task: false");
}

#[tokio::test(start_paused = true)]
async fn a_call_whose_place_is_taken_meanwhile_goes_on_as_a_call() {
    let (server, world) = server();
    let mut wire = Wire::tasks(server.limits(one_place()));
    let arguments = json!({ "millis": 2_000 });
    let params = json!({ "name": "build", "arguments": arguments });
    let call = wire.send("tools/call", params).await;
    sleep(Duration::from_millis(100)).await;
    wire.task("rest", json!({})).await;
    let done = wire.receive(call).await.unwrap();
    assert_eq!(text(&done), "build 1, a task: false");
    assert_eq!(world.built.load(Relaxed), 1);
}

fn one_place() -> Limits {
    Limits {
        live_tasks: 1,
        ..Limits::default()
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_was_given_up_before_it_became_a_task_never_does() {
    let host = VirtualHost::new();
    let (server, world) = server();
    let server = server.host(host);
    let tasks = server.tasks();
    let mut wire = Wire::with_host(server, host);
    let params = json!({ "name": "build", "arguments": { "millis": 60_000 } });
    let call = wire.send("tools/call", params).await;
    sleep(Duration::from_millis(100)).await;
    wire.take_back(call).await;
    sleep(Duration::from_mins(5)).await;
    assert!(tasks.list(None).await.unwrap().is_empty());
    assert_eq!(world.built.load(Relaxed), 0);
}

#[tokio::test(start_paused = true)]
async fn what_was_done_before_a_detach_that_failed_is_not_done_again() {
    for fault in [Fault::Lost, Fault::Unheard] {
        let (server, world) = server();
        let store = FaultyStore::new(MemoryStore::new()).on(1, fault);
        let mut wire = Wire::tasks(server.store(store));
        let asked = wire.call("at_once", json!({})).await.unwrap();
        assert_eq!(asked["resultType"], "input_required", "{asked}");
        let sure = json!({ "sure": accepted(json!({ "value": true })) });
        let done = wire.go_on("at_once", json!({}), &asked, sure).await;
        // The body went on by the failure, and does so in every leg.
        assert_eq!(text(&done), "as a call: true");
        assert_eq!(world.built.load(Relaxed), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_crash_right_after_the_first_park_repeats_nothing() {
    let (server, world) = server();
    let kept = MemoryStore::new();
    let store = FaultyStore::new(kept.clone()).on(1, Fault::Last);
    let mut wire = Wire::tasks(server.store(store));
    let error = wire.call("charge_and_ask", json!({})).await.unwrap_err();
    assert_eq!(error["data"]["reason"], "store");
    wire.kill().await;
    // The record is there, with the journal: nobody knows of it, but it is whole.
    let host = VirtualHost::new();
    let server = open(&world).store(kept).host(host);
    let tasks = server.tasks();
    let _wire = Wire::with_host(server, host);
    let task = tasks.list(None).await.unwrap().remove(0);
    assert_eq!(task.status(), Status::InputRequired);
    assert_eq!(task.legs(), 1);
    assert_eq!(world.built.load(Relaxed), 1);
}
