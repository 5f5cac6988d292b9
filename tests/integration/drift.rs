//! Code that changed under a task: never a wrong answer, never an effect.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
    time::Duration,
};

use serde_json::json;
use siding::prelude::*;
use tokio::time::sleep;

use crate::support::{VirtualHost, Wire};

type Effects = Arc<AtomicU32>;

/// The effect that no drifted leg may reach.
async fn pay(effects: Arc<Effects>) -> Result<u32> {
    Ok(effects.fetch_add(1, Relaxed))
}

mod first {
    use super::*;

    /// Orders.
    #[mcp_tool(task = "required", name = "order")]
    pub(super) async fn order(ctx: &mut Ctx<Effects>) -> Result<String> {
        ctx.step("plan", async { Ok(1) }).await?;
        let sure: bool = ctx.input("Order it?").await?;
        let effects = ctx.state();
        ctx.step("pay", pay(effects)).await?;
        Ok(format!("ordered: {sure}"))
    }
}

mod reworded {
    use super::*;

    /// Orders, politely.
    #[mcp_tool(task = "required", name = "order")]
    pub(super) async fn order(ctx: &mut Ctx<Effects>) -> Result<String> {
        ctx.step("plan", async { Ok(1) }).await?;
        let sure: bool = ctx.input("Would you like to order it?").await?;
        let effects = ctx.state();
        ctx.step("pay", pay(effects)).await?;
        ctx.step("thank", async { Ok(()) }).await?;
        Ok(format!("ordered, thanks: {sure}"))
    }
}

mod renamed_step {
    use super::*;

    /// Orders.
    #[mcp_tool(task = "required", name = "order")]
    pub(super) async fn order(ctx: &mut Ctx<Effects>) -> Result<String> {
        ctx.step("prepare", async { Ok(1) }).await?;
        let sure: bool = ctx.input("Order it?").await?;
        let effects = ctx.state();
        ctx.step("pay", pay(effects)).await?;
        Ok(format!("{sure}"))
    }
}

mod renamed_with_care {
    use super::*;

    /// Orders.
    #[mcp_tool(task = "required", name = "order")]
    pub(super) async fn order(ctx: &mut Ctx<Effects>) -> Result<String> {
        ctx.step("prepare", async { Ok(1) }).was("plan").await?;
        let agreed: bool = ctx.input("Order it?").was("sure").await?;
        let effects = ctx.state();
        ctx.step("pay", pay(effects)).await?;
        Ok(format!("agreed: {agreed}"))
    }
}

mod removed_step {
    use super::*;

    /// Orders.
    #[mcp_tool(task = "required", name = "order")]
    pub(super) async fn order(ctx: &mut Ctx<Effects>) -> Result<String> {
        let sure: bool = ctx.input("Order it?").await?;
        let effects = ctx.state();
        ctx.step("pay", pay(effects)).await?;
        Ok(format!("{sure}"))
    }
}

mod removed_all {
    use super::*;

    /// Orders.
    #[mcp_tool(task = "required", name = "order")]
    pub(super) async fn order(ctx: &mut Ctx<Effects>) -> Result<String> {
        Ok(format!("{:?}", ctx.task_id()))
    }
}

mod question_above {
    use super::*;

    /// Orders.
    #[mcp_tool(task = "required", name = "order")]
    pub(super) async fn order(ctx: &mut Ctx<Effects>) -> Result<String> {
        ctx.step("plan", async { Ok(1) }).await?;
        let gift: bool = ctx.input("Is it a gift?").await?;
        let sure: bool = ctx.input("Order it?").await?;
        let effects = ctx.state();
        ctx.step("pay", pay(effects)).await?;
        Ok(format!("{gift} {sure}"))
    }
}

mod retyped_question {
    use super::*;

    /// Orders.
    #[mcp_tool(task = "required", name = "order")]
    pub(super) async fn order(ctx: &mut Ctx<Effects>) -> Result<String> {
        ctx.step("plan", async { Ok(1) }).await?;
        let sure: String = ctx.input("Order it?").await?;
        let effects = ctx.state();
        ctx.step("pay", pay(effects)).await?;
        Ok(sure)
    }
}

mod retyped_step {
    use super::*;

    /// Orders.
    #[mcp_tool(task = "required", name = "order")]
    pub(super) async fn order(ctx: &mut Ctx<Effects>) -> Result<String> {
        let plan = ctx.step("plan", async { Ok(vec![String::new()]) }).await?;
        let sure: bool = ctx.input("Order it?").await?;
        let effects = ctx.state();
        ctx.step("pay", pay(effects)).await?;
        Ok(format!("{plan:?} {sure}"))
    }
}

mod inserted_step {
    use super::*;

    /// Orders.
    #[mcp_tool(task = "required", name = "order")]
    pub(super) async fn order(ctx: &mut Ctx<Effects>) -> Result<String> {
        let effects = ctx.state();
        ctx.step("pay first", pay(effects)).await?;
        ctx.step("plan", async { Ok(1) }).await?;
        let sure: bool = ctx.input("Order it?").await?;
        Ok(format!("{sure}"))
    }
}

fn server<T>(effects: &Effects) -> Server<Effects>
where
    T: siding::Tool<State = Effects>,
{
    // Each deploy has a version of its own.
    let version = std::any::type_name::<T>();
    Server::new("shop", version)
        .state(effects.clone())
        .tool::<T>()
}

/// A task of the first version that waits for its answer, in a store of its own.
async fn parked(effects: &Effects) -> (MemoryStore, VirtualHost, String) {
    let store = MemoryStore::new();
    let mut wire = Wire::tasks(server::<first::order>(effects).store(store.clone()));
    let id = wire.parked("order", json!({})).await;
    let host = wire.host();
    wire.close().await;
    (store, host, id)
}

/// Answers the task under the version `T`, which does not fit, and lets the first version go on
/// with it in the end.
async fn drifts<T>(words: &[&str])
where
    T: siding::Tool<State = Effects>,
{
    let effects = Effects::default();
    let (store, host, id) = parked(&effects).await;
    let mut wire = Wire::with_host(server::<T>(&effects).store(store.clone()), host);
    wire.accept(&id, "sure", json!({ "value": true })).await;
    sleep(Duration::from_mins(1)).await;
    let task = wire.get(&id).await;
    assert_eq!(task["status"], "working", "{task}");
    let message = task["statusMessage"].as_str().unwrap();
    for word in words {
        assert!(message.contains(word), "{word}: {message}");
    }
    assert_eq!(effects.load(Relaxed), 0);
    wire.close().await;

    let mut wire = Wire::with_host(server::<first::order>(&effects).store(store), host);
    let task = wire.end(&id).await;
    assert_eq!(task["result"]["content"][0]["text"], "ordered: true");
    assert_eq!(effects.load(Relaxed), 1);
}

#[tokio::test(start_paused = true)]
async fn u21_a_renamed_step_waits_for_the_old_code() {
    drifts::<renamed_step::order>(&["the step `plan`", "the step `prepare`"]).await;
}

#[tokio::test(start_paused = true)]
async fn u21_a_removed_step_waits_for_the_old_code() {
    drifts::<removed_step::order>(&["the step `plan`", "the question `sure`"]).await;
}

#[tokio::test(start_paused = true)]
async fn u21_a_run_that_ends_too_early_waits_for_the_old_code() {
    drifts::<removed_all::order>(&["the step `plan`", "nothing more"]).await;
}

#[tokio::test(start_paused = true)]
async fn u21_a_question_of_the_same_type_above_waits_for_the_old_code() {
    drifts::<question_above::order>(&["the question `sure`", "the question `gift`"]).await;
}

#[tokio::test(start_paused = true)]
async fn u21_a_retyped_question_waits_for_the_old_code() {
    drifts::<retyped_question::order>(&["a question `sure` with another form"]).await;
}

#[tokio::test(start_paused = true)]
async fn u21_a_retyped_step_waits_for_the_old_code() {
    drifts::<retyped_step::order>(&["a step `plan` of another type"]).await;
}

#[tokio::test(start_paused = true)]
async fn u21_an_inserted_step_waits_for_the_old_code() {
    drifts::<inserted_step::order>(&["the step `plan`", "the step `pay first`"]).await;
}

#[tokio::test(start_paused = true)]
async fn u21_without_the_old_code_the_task_fails_with_both_sides_named() {
    let effects = Effects::default();
    let (store, host, id) = parked(&effects).await;
    let server = server::<renamed_step::order>(&effects).store(store);
    let server = server.drift_grace(Duration::from_mins(3));
    let mut wire = Wire::with_host(server, host);
    wire.accept(&id, "sure", json!({ "value": true })).await;
    sleep(Duration::from_mins(2)).await;
    assert_eq!(wire.get(&id).await["status"], "working");
    sleep(Duration::from_mins(2)).await;
    let task = wire.get(&id).await;
    assert_eq!(task["status"], "failed");
    assert_eq!(task["error"]["data"]["reason"], "drift");
    let message = task["error"]["message"].as_str().unwrap();
    assert!(
        message.contains("`plan`") && message.contains("`prepare`"),
        "{message}"
    );
    assert_eq!(effects.load(Relaxed), 0);
}

#[tokio::test(start_paused = true)]
async fn u21_former_names_that_are_told_fit() {
    let effects = Effects::default();
    let (store, host, id) = parked(&effects).await;
    let mut wire = Wire::with_host(
        server::<renamed_with_care::order>(&effects).store(store),
        host,
    );
    wire.accept(&id, "sure", json!({ "value": true })).await;
    let task = wire.end(&id).await;
    assert_eq!(task["result"]["content"][0]["text"], "agreed: true");
    assert_eq!(effects.load(Relaxed), 1);
}

#[tokio::test(start_paused = true)]
async fn p14_a_reworded_question_keeps_its_text_and_additions_behind_are_fine() {
    let effects = Effects::default();
    let (store, host, id) = parked(&effects).await;
    let mut wire = Wire::with_host(server::<reworded::order>(&effects).store(store), host);
    let task = wire.get(&id).await;
    assert_eq!(
        task["inputRequests"]["sure"]["params"]["message"],
        "Order it?"
    );
    wire.accept(&id, "sure", json!({ "value": true })).await;
    let task = wire.end(&id).await;
    assert_eq!(
        task["result"]["content"][0]["text"],
        "ordered, thanks: true"
    );
    assert_eq!(effects.load(Relaxed), 1);
}
