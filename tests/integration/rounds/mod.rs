//! Questions by round trips: a 2026-07-28 client without tasks calls again with the answers.

mod instances;

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering::Relaxed},
};

use serde_json::{Value, json};
use siding::prelude::*;
use tokio::{
    sync::Notify,
    time::{Duration, sleep},
};

use crate::support::{Declares, Http, TASKS, VirtualHost, Wire, accepted, questions, text};

/// What the tools did to the world.
#[derive(Default)]
struct World {
    runs: AtomicU32,
    charged: AtomicU32,
    shipped: AtomicU32,
    /// Lets `slow` go on.
    gate: Notify,
}

type Shop = Arc<World>;

impl World {
    async fn charge(&self) -> Result<u32> {
        Ok(self.charged.fetch_add(1, Relaxed) + 1)
    }

    async fn ship(&self) -> Result<u32> {
        Ok(self.shipped.fetch_add(1, Relaxed) + 1)
    }
}

/// Charges, asks twice, ships.
#[mcp_tool(task = "optional", ttl = "1h")]
async fn order(ctx: &mut Ctx<Shop>, item: String) -> Result<String> {
    let world = ctx.state();
    world.runs.fetch_add(1, Relaxed);
    let charge = ctx.step("charge", world.charge()).await?;
    let size: u8 = ctx.input(format!("Which size of {item}?")).await?;
    let sure: Option<bool> = ctx.input("Sure?").optional().await?;
    if sure != Some(true) {
        return Err(ToolError::new("not ordered"));
    }
    let parcel = ctx.step("ship", world.ship()).await?;
    Ok(format!(
        "{item} of size {size}, charge {charge}, parcel {parcel}"
    ))
}

/// Asks the first of them, too.
#[mcp_tool(task = "optional")]
async fn reorder(ctx: &mut Ctx<Shop>, item: String) -> Result<String> {
    let size: u8 = ctx.input(format!("Which size of {item}?")).await?;
    Ok(size.to_string())
}

/// Asks two things at once.
#[mcp_tool(task = "optional")]
async fn both(ctx: &mut Ctx<Shop>) -> Result<String> {
    let (name, sure): (String, bool) = ctx.input_all(("Name?", "Sure?")).await?;
    Ok(format!("{name} {sure}"))
}

/// Asks, then takes its time in a step.
#[mcp_tool(task = "optional")]
async fn slow(ctx: &mut Ctx<Shop>) -> Result<String> {
    let world = ctx.state();
    world.runs.fetch_add(1, Relaxed);
    let sure: bool = ctx.input("Sure?").await?;
    ctx.step("charge", async {
        world.gate.notified().await;
        world.charge().await
    })
    .await?;
    ctx.step("ship", world.ship()).await?;
    Ok(sure.to_string())
}

/// Waits a while between two questions.
#[mcp_tool(task = "optional")]
async fn nap(ctx: &mut Ctx<Shop>) -> Result<String> {
    let first = ctx.now();
    ctx.sleep(Duration::from_mins(1)).await?;
    let sure: bool = ctx.input("Sure?").await?;
    let second = ctx.now();
    Ok(format!("{sure} {}", second.since(first).as_secs()))
}

/// Gives up on its question after a minute.
#[mcp_tool(task = "optional")]
async fn hasty(ctx: &mut Ctx<Shop>) -> Result<String> {
    let minute = Duration::from_mins(1);
    let answer: Result<bool> = ctx.input("Quick?").timeout(minute).key("quick").await;
    match answer {
        Ok(quick) => Ok(quick.to_string()),
        Err(error) if error.is_timed_out() => Ok("too late".into()),
        Err(error) if error.is_declined() => Ok("declined".into()),
        Err(error) if error.is_dismissed() => Ok("dismissed".into()),
        Err(error) => Err(error),
    }
}

/// Sends somebody somewhere.
#[mcp_tool(task = "optional")]
async fn visit(ctx: &mut Ctx<Shop>) -> Result<String> {
    match ctx
        .input_url("Sign in", "https://example.com")
        .key("visit")
        .await
    {
        Ok(()) => Ok("gone there".into()),
        Err(error) if error.is_cannot_ask() => Ok("cannot ask".into()),
        Err(error) => Err(error),
    }
}

fn shop() -> (Server<Shop>, Shop) {
    let world = Shop::default();
    (open(&world), world)
}

fn open(world: &Shop) -> Server<Shop> {
    Server::new("shop", "1.0.0")
        .state(world.clone())
        .tools(tools![order, reorder, both, slow, nap, hasty, visit])
}

fn item() -> Value {
    json!({ "item": "tea" })
}

fn size(size: Value) -> Value {
    json!({ "size": accepted(json!({ "value": size })) })
}

fn sure(sure: bool) -> Value {
    json!({ "sure": accepted(json!({ "value": sure })) })
}

/// The error of a handle that is refused.
fn assert_refused(answer: Result<Value, Value>, reason: &str) {
    let error = answer.expect_err("it is refused");
    assert_eq!(error["code"], -32602, "{error}");
    assert_eq!(error["data"]["reason"], reason, "{error}");
}

#[tokio::test(start_paused = true)]
async fn u10_u24_rounds_ask_one_after_the_other_and_charge_once() {
    let (server, world) = shop();
    let mut wire = Wire::modern(server, Declares::Elicitation);
    let first = wire.call("order", item()).await.unwrap();
    assert_eq!(first["resultType"], "input_required");
    assert_eq!(first.get("taskId"), None);
    let asked = &questions(&first)["size"];
    assert_eq!(asked["method"], "elicitation/create");
    assert_eq!(asked["params"]["message"], "Which size of tea?");
    let second = wire.go_on("order", item(), &first, size(json!(4))).await;
    assert_eq!(second["resultType"], "input_required");
    assert_ne!(first["requestState"], second["requestState"]);
    assert_eq!(questions(&second).keys().collect::<Vec<_>>(), ["sure"]);
    let done = wire.go_on("order", item(), &second, sure(true)).await;
    assert_eq!(done["resultType"], "complete");
    assert_eq!(text(&done), "tea of size 4, charge 1, parcel 1");
    assert_eq!(world.charged.load(Relaxed), 1);
    assert_eq!(world.runs.load(Relaxed), 3);
}

#[tokio::test(start_paused = true)]
async fn u24_the_same_answers_again_get_the_same_reply_and_run_nothing() {
    let (server, world) = shop();
    let mut wire = Wire::modern(server, Declares::Elicitation);
    let first = wire.call("order", item()).await.unwrap();
    let second = wire.go_on("order", item(), &first, size(json!(4))).await;
    let lost = wire.go_on("order", item(), &first, size(json!(4))).await;
    assert_eq!(lost, second);
    let done = wire.go_on("order", item(), &second, sure(true)).await;
    for _ in 0..3 {
        let lost = wire.go_on("order", item(), &second, sure(true)).await;
        assert_eq!(lost, done);
    }
    assert_eq!(world.runs.load(Relaxed), 3);
    assert_eq!(world.shipped.load(Relaxed), 1);
}

#[tokio::test(start_paused = true)]
async fn u19_other_answers_older_rounds_and_forged_handles_are_refused() {
    let (server, world) = shop();
    let mut wire = Wire::modern(server, Declares::Elicitation);
    let first = wire.call("order", item()).await.unwrap();
    let second = wire.go_on("order", item(), &first, size(json!(4))).await;
    let other = wire.again("order", item(), &first, size(json!(5))).await;
    assert_refused(other, "round_answered");
    let done = wire.go_on("order", item(), &second, sure(true)).await;
    let other = wire.again("order", item(), &second, sure(false)).await;
    assert_refused(other, "round_answered");
    // Two rounds back, whatever comes with it.
    let older = wire.again("order", item(), &first, size(json!(4))).await;
    assert_refused(older, "unknown_round");

    let state = second["requestState"].as_str().unwrap();
    let (id, name) = state.split_once('.').unwrap();
    assert!(id.len() == 32 && name.len() == 32, "{state}");
    let zeros = "0".repeat(32);
    for forged in [
        format!("{id}.{zeros}"),
        format!("{zeros}.{name}"),
        format!("{id}."),
        id.to_owned(),
        ".".to_owned(),
        String::new(),
        format!("{state}0"),
        state.to_uppercase() + "X",
        "\u{0}\u{1F600}".repeat(1_000),
    ] {
        let asked = json!({ "requestState": forged });
        let answer = wire.again("order", item(), &asked, sure(true)).await;
        assert_refused(answer, "unknown_round");
    }
    assert_eq!(text(&done), "tea of size 4, charge 1, parcel 1");
    assert_eq!(world.shipped.load(Relaxed), 1);
}

#[tokio::test(start_paused = true)]
async fn u19_a_handle_is_bound_to_its_tool_and_arguments() {
    let (server, world) = shop();
    let mut wire = Wire::modern(server, Declares::Elicitation);
    let asked = wire.call("order", item()).await.unwrap();
    let coffee = json!({ "item": "coffee" });
    let swapped = wire.again("order", coffee, &asked, size(json!(4))).await;
    assert_refused(swapped, "unknown_round");
    // The other tool takes the same arguments.
    let swapped = wire.again("reorder", item(), &asked, size(json!(4))).await;
    assert_refused(swapped, "unknown_round");
    // The right call still goes on.
    let second = wire.go_on("order", item(), &asked, size(json!(4))).await;
    assert_eq!(second["resultType"], "input_required");
    assert_eq!(world.charged.load(Relaxed), 1);
}

#[tokio::test]
async fn u19_a_handle_is_bound_to_its_owner() {
    let (server, _) = shop();
    let http = Http::start(server.owner(|request| {
        let user = request.headers.get("x-user")?.to_str().ok()?;
        Some(user.to_owned())
    }))
    .await;
    let call = json!({ "name": "order", "arguments": item() });
    let alice = [("X-User", "alice")];
    let declares = Declares::Elicitation;
    let (_, asked) = http
        .post_as(declares, &alice, "tools/call", call.clone())
        .await;
    let mut again = call;
    again["requestState"] = asked["result"]["requestState"].clone();
    again["inputResponses"] = size(json!(4));
    let nobody: &[(&str, &str)] = &[];
    for foreign in [&[("X-User", "bob")], nobody] {
        let (_, answer) = http
            .post_as(declares, foreign, "tools/call", again.clone())
            .await;
        assert_refused(Err(answer["error"].clone()), "unknown_round");
    }
    let (_, answer) = http.post_as(declares, &alice, "tools/call", again).await;
    assert_eq!(answer["result"]["resultType"], "input_required");
}

#[tokio::test(start_paused = true)]
async fn u19_a_handle_expires_with_its_call() {
    let (server, world) = shop();
    let mut wire = Wire::modern(server, Declares::Elicitation);
    let asked = wire.call("order", item()).await.unwrap();
    sleep(Duration::from_hours(1)).await;
    let late = wire.again("order", item(), &asked, size(json!(4))).await;
    assert_refused(late, "expired");
    assert_eq!(world.runs.load(Relaxed), 1);
}

#[tokio::test(start_paused = true)]
async fn answers_that_do_not_fit_are_asked_again_without_spending_the_round() {
    let (server, world) = shop();
    let mut wire = Wire::modern(server, Declares::Elicitation);
    let asked = wire.call("order", item()).await.unwrap();
    for wrong in [
        size(json!("banana")),
        size(json!(300)),
        json!({}),
        json!({ "size": 42 }),
        json!({ "size": { "action": "accept" } }),
        json!({ "nobody asked": accepted(json!({})) }),
    ] {
        let again = wire.go_on("order", item(), &asked, wrong.clone()).await;
        assert_eq!(again["requestState"], asked["requestState"], "{wrong}");
        let message = questions(&again)["size"]["params"]["message"]
            .as_str()
            .unwrap();
        assert!(message.ends_with(". Which size of tea?"), "{message}");
        assert!(!message.starts_with("Which"), "{message}");
    }
    let second = wire.go_on("order", item(), &asked, size(json!(4))).await;
    assert_eq!(questions(&second).keys().collect::<Vec<_>>(), ["sure"]);
    assert_eq!(world.runs.load(Relaxed), 2);
    assert_eq!(world.charged.load(Relaxed), 1);
}

#[tokio::test(start_paused = true)]
async fn several_questions_are_one_round_and_missing_ones_are_asked_again() {
    let (server, _) = shop();
    let mut wire = Wire::modern(server, Declares::Elicitation);
    let asked = wire.call("both", json!({})).await.unwrap();
    assert_eq!(
        questions(&asked).keys().collect::<Vec<_>>(),
        ["name", "sure"]
    );
    let half = json!({ "name": accepted(json!({ "value": "Ada" })) });
    let again = wire.go_on("both", json!({}), &asked, half).await;
    assert_eq!(questions(&again).len(), 2);
    let sure = &questions(&again)["sure"]["params"]["message"];
    assert_eq!(sure, "This was not answered. Sure?");
    let all = json!({
        "name": accepted(json!({ "value": "Ada", "surplus": 1 })),
        "sure": accepted(json!({ "value": true })),
        "nobody asked": 1,
    });
    let done = wire.go_on("both", json!({}), &again, all).await;
    assert_eq!(text(&done), "Ada true");
}

#[tokio::test(start_paused = true)]
async fn u08_decline_and_dismissal_reach_the_author() {
    let (server, world) = shop();
    let mut wire = Wire::modern(server, Declares::Elicitation);
    for (action, told) in [("decline", "declined"), ("cancel", "dismissed")] {
        let first = wire.call("hasty", json!({})).await.unwrap();
        let no = json!({ "quick": { "action": action } });
        let done = wire.go_on("hasty", json!({}), &first, no).await;
        assert_eq!(text(&done), told);
    }
    // `.optional()` makes a decline `None`.
    let first = wire.call("order", item()).await.unwrap();
    let second = wire.go_on("order", item(), &first, size(json!(4))).await;
    let no = json!({ "sure": { "action": "decline" } });
    let done = wire.go_on("order", item(), &second, no).await;
    assert_eq!(text(&done), "not ordered");
    assert_eq!(world.shipped.load(Relaxed), 0);
}

#[tokio::test(start_paused = true)]
async fn u09_a_client_that_declared_no_such_question_is_not_asked() {
    let (server, _) = shop();
    let mut wire = Wire::modern(server, Declares::Nothing);
    let done = wire.call("order", item()).await.unwrap();
    assert_eq!(done["isError"], true);
    assert!(
        text(&done).contains("did not declare form elicitation"),
        "{done}"
    );
    let (server, _) = shop();
    let mut wire = Wire::modern(server, Declares::Elicitation);
    let done = wire.call("visit", json!({})).await.unwrap();
    assert_eq!(text(&done), "cannot ask");
}

#[tokio::test(start_paused = true)]
async fn u09_a_retry_that_no_longer_declares_elicitation_is_told_to_and_spends_nothing() {
    let (server, world) = shop();
    let mut wire = Wire::modern(server, Declares::Elicitation);
    let asked = wire.call("order", item()).await.unwrap();
    for answers in [json!({}), size(json!(4))] {
        let params = json!({
            "name": "order",
            "arguments": item(),
            "requestState": asked["requestState"],
            "inputResponses": answers,
            "_meta": { "io.modelcontextprotocol/clientCapabilities": {} },
        });
        let error = wire.request("tools/call", params).await.unwrap_err();
        assert_eq!(error["code"], -32021);
        let needs = json!({ "requiredCapabilities": { "elicitation": { "form": {} } } });
        assert_eq!(error["data"], needs);
    }
    assert_eq!(world.runs.load(Relaxed), 1);
    let second = wire.again("order", item(), &asked, size(json!(5))).await;
    assert_eq!(questions(&second.unwrap()).len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_round_is_no_task_for_anybody() {
    let host = VirtualHost::new();
    let (server, _) = shop();
    let server = server.host(host);
    let tasks = server.tasks();
    let mut wire = Wire::with_host(server, host);
    let plain = json!({ "io.modelcontextprotocol/clientCapabilities": { "elicitation": {} } });
    let params = json!({ "name": "order", "arguments": item(), "_meta": plain });
    let asked = wire.request("tools/call", params).await.unwrap();
    let state = asked["requestState"].as_str().unwrap();
    let (id, _) = state.split_once('.').unwrap();
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        let params = json!({ "taskId": id, "inputResponses": size(json!(4)) });
        let error = wire.request(method, params).await.unwrap_err();
        assert_eq!(error["data"]["reason"], "unknown_task", "{method}");
    }
    assert!(tasks.list(None).await.unwrap().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_retry_that_declares_tasks_gets_one_and_keeps_what_was_done() {
    let (server, world) = shop();
    let mut wire = Wire::modern(server, Declares::Elicitation);
    let first = wire.call("order", item()).await.unwrap();
    let declares = json!({ "elicitation": {}, "extensions": { (TASKS): {} } });
    let params = json!({
        "name": "order",
        "arguments": item(),
        "requestState": first["requestState"],
        "inputResponses": size(json!(4)),
        "_meta": { "io.modelcontextprotocol/clientCapabilities": declares },
    });
    let created = wire.request("tools/call", params).await.unwrap();
    assert_eq!(created["resultType"], "task");
    assert_eq!(created["status"], "working");
    wire.close().await;
    assert_eq!(world.charged.load(Relaxed), 1);
}

#[tokio::test(start_paused = true)]
async fn a_sleep_in_a_round_is_waited_for_once() {
    let (server, _) = shop();
    let mut wire = Wire::modern(server, Declares::Elicitation);
    let began = tokio::time::Instant::now();
    let asked = wire.call("nap", json!({})).await.unwrap();
    assert_eq!(began.elapsed().as_secs(), 60);
    let done = wire.go_on("nap", json!({}), &asked, sure(true)).await;
    assert_eq!(text(&done), "true 60");
    assert_eq!(began.elapsed().as_secs(), 60);
}

#[tokio::test(start_paused = true)]
async fn a_question_that_nobody_waits_for_any_more_needs_no_answer() {
    let (server, _) = shop();
    let mut wire = Wire::modern(server, Declares::Elicitation);
    let asked = wire.call("hasty", json!({})).await.unwrap();
    sleep(Duration::from_mins(1)).await;
    let late = json!({ "quick": accepted(json!({ "value": true })) });
    let done = wire.go_on("hasty", json!({}), &asked, late).await;
    assert_eq!(text(&done), "too late");
}
