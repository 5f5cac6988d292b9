//! Functions that ask on behalf of a tool.

use serde_json::json;
use siding::prelude::*;

use crate::support::{Declares, Wire, questions};

struct Shop {
    currency: &'static str,
}

/// Asks for one number.
#[mcp_part]
async fn ask_count(ctx: &mut Ctx, what: &str) -> Result<u32> {
    let count = ctx.input(format!("How many {what}?")).await?;
    ctx.step("count", async { Ok(count) }).await
}

/// Calls another part, and asks itself.
#[mcp_part]
async fn ask_item<S>(ctx: &mut Ctx<S>, log: &mut Vec<String>) -> Result<String>
where
    S: ?Sized + Send + Sync,
{
    let name: String = ctx.input("Which item?").await?;
    log.push(name.clone());
    Ok(name)
}

/// A part of parts, for tools with this state.
#[mcp_part]
async fn ask_order(ctx: &mut Ctx<Shop>) -> Result<String> {
    let mut log = Vec::new();
    let item = ask_item(ctx, &mut log).await?;
    let count = ask_count(ctx, &item).await?;
    let price: u32 = ctx.input("At what price?").await?;
    let currency = ctx.state().currency;
    Ok(format!("{count} {item} for {price} {currency}"))
}

/// Takes two orders.
#[mcp_tool(task = "required")]
async fn order(ctx: &mut Ctx<Shop>) -> Result<String> {
    let first = ask_order(ctx).await?;
    let note: String = ctx.input("A note?").await?;
    let second = ask_order(ctx).await?;
    Ok(format!("{first}, {second}: {note}"))
}

/// Can not ask, and calls a part that does.
#[mcp_tool]
async fn hurry(ctx: &mut Ctx) -> Result<u32> {
    ask_count(ctx, "things").await
}

/// Calls the function of another tool.
#[mcp_tool(task = "required")]
async fn twice(ctx: &mut Ctx<Shop>) -> Result<String> {
    let one = order(ctx).await?;
    let price: u32 = ctx.input("Price of all?").await?;
    Ok(format!("{one} = {price}"))
}

fn server() -> Server<Shop> {
    Server::new("shop", "1.0.0")
        .state(Shop { currency: "EUR" })
        .tools(tools![order, hurry, twice])
}

const ANSWERS: [(&str, &str); 7] = [
    ("ask_item/name", "\"tea\""),
    ("ask_count/count", "2"),
    ("ask_order/price", "5"),
    ("note", "\"soon\""),
    ("ask_item/name#2", "\"milk\""),
    ("ask_count/count#2", "1"),
    ("ask_order/price#2", "3"),
];

async fn answer(wire: &mut Wire, id: &str, answers: &[(&str, &str)]) {
    for (key, value) in answers {
        let task = wire.until(id, "input_required").await;
        let keys: Vec<_> = questions(&task).keys().collect();
        assert_eq!(keys, [key]);
        let value: serde_json::Value = serde_json::from_str(value).expect("it is JSON");
        wire.accept(id, key, json!({ "value": value })).await;
    }
}

#[tokio::test(start_paused = true)]
async fn keys_carry_the_name_of_their_part() {
    let mut wire = Wire::tasks(server());
    let id = wire.task("order", json!({})).await;
    answer(&mut wire, &id, &ANSWERS).await;
    let task = wire.end(&id).await;
    assert_eq!(
        task["result"]["content"][0]["text"],
        "2 tea for 5 EUR, 1 milk for 3 EUR: soon"
    );
}

#[tokio::test(start_paused = true)]
async fn the_function_of_a_tool_serves_another_tool() {
    let mut wire = Wire::tasks(server());
    let id = wire.task("twice", json!({})).await;
    answer(&mut wire, &id, &ANSWERS).await;
    answer(&mut wire, &id, &[("price", "9")]).await;
    let task = wire.end(&id).await;
    let text = task["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.ends_with("soon = 9"), "{text}");
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_is_never_a_task_is_told_so() {
    for declares in [Declares::Tasks, Declares::Nothing] {
        let mut wire = Wire::modern(server(), declares);
        let error = wire.call("hurry", json!({})).await.unwrap_err();
        assert_eq!(error["data"]["reason"], "misuse");
        let message = error["message"].as_str().unwrap();
        for part in [
            "`ask_count/count` waits, and this tool is never a task that could wait",
            "`#[mcp_tool(task = \"optional\")]` or `task = \"required\"`",
        ] {
            assert!(message.contains(part), "{message}");
        }
    }
}
