//! What can be said of a question beside its text.

use serde_json::{Value, json};
use siding::prelude::*;
use tokio::time::{Duration, sleep};

use crate::support::{Declares, Wire, questions};

#[derive(Input, Clone, Copy, Debug, PartialEq)]
enum Size {
    Small,
    #[input(rename = "XL")]
    Large,
}

#[derive(Input, Debug)]
struct Order {
    size: Size,
    count: u64,
    gift: bool,
    note: Option<String>,
    extras: Vec<Size>,
    price: f32,
}

/// Fills in everything beforehand.
#[mcp_tool(task = "required")]
async fn prefilled(ctx: &mut Ctx) -> Result<String> {
    let name: String = ctx.input("Name?").prefill("Ada").await?;
    let count: Option<u32> = ctx.input("How many?").prefill(3).await?;
    let size: Size = ctx.input("Size?").prefill(Size::Large).await?;
    let order = Order {
        size,
        count: u64::MAX,
        gift: true,
        note: None,
        extras: vec![Size::Small],
        price: 0.5,
    };
    let order: Order = ctx.input("Order?").prefill(order).await?;
    Ok(format!("{name} {count:?} {order:?}"))
}

/// Takes no for an answer.
#[mcp_tool(task = "required")]
async fn optional(ctx: &mut Ctx) -> Result<String> {
    let note: Option<String> = ctx.input("A note?").optional().await?;
    let Some(size) = ctx
        .input::<Size>("Size?")
        .prefill(Size::Small)
        .optional()
        .await?
    else {
        return Ok(format!("{note:?}, no size"));
    };
    Ok(format!("{note:?} {size:?}"))
}

/// Lets one of a list be chosen.
#[mcp_tool(task = "required")]
async fn choose(ctx: &mut Ctx, hosts: Vec<String>) -> Result<String> {
    let host = ctx.choose("Which host?", &hosts).await?;
    let port = ctx.choose("Which port?", [80, 8080]).optional().await?;
    Ok(format!("{host}:{}", port.unwrap_or(1)))
}

/// Sends the person elsewhere.
#[mcp_tool(task = "required")]
async fn pay(ctx: &mut Ctx) -> Result<String> {
    let paid = ctx
        .input_url("Pay here", "https://example.com/pay")
        .key("pay")
        .await;
    match paid {
        Ok(()) => Ok("paid".into()),
        Err(error) if error.is_cannot_ask() => Ok(format!("cannot ask: {error}")),
        Err(error) if error.is_declined() => Ok("declined".into()),
        Err(error) => Err(error),
    }
}

/// Does not wait for ever.
#[mcp_tool(task = "required")]
async fn hasty(ctx: &mut Ctx) -> Result<String> {
    let minute = Duration::from_mins(1);
    let sure: Result<bool> = ctx.input("Sure?").timeout(minute).key("sure").await;
    match sure {
        Ok(sure) => Ok(sure.to_string()),
        Err(error) if error.is_timed_out() => Ok("too late".into()),
        Err(error) => Err(error),
    }
}

fn wire() -> Wire {
    let server = Server::new("builders", "1.0.0");
    Wire::tasks(server.tools(tools![prefilled, optional, choose, pay, hasty]))
}

/// The schema of the one question that the task asks.
fn schema(task: &Value, key: &str) -> Value {
    questions(task)[key]["params"]["requestedSchema"]["properties"].clone()
}

async fn respond(wire: &mut Wire, id: &str, key: &str, action: &str) {
    let answer = json!({ (key): { "action": action } });
    wire.update(id, answer).await.expect("it is taken");
}

#[tokio::test(start_paused = true)]
async fn prefilled_values_are_the_defaults_of_the_form() {
    let mut wire = wire();
    let id = wire.task("prefilled", json!({})).await;
    let task = wire.until(&id, "input_required").await;
    assert_eq!(schema(&task, "name")["value"]["default"], "Ada");
    wire.accept(&id, "name", json!({ "value": "Ada" })).await;
    let task = wire.until(&id, "input_required").await;
    assert_eq!(schema(&task, "count")["value"]["default"], 3);
    wire.accept(&id, "count", json!({})).await;
    let task = wire.until(&id, "input_required").await;
    assert_eq!(schema(&task, "size")["value"]["default"], "XL");
    wire.accept(&id, "size", json!({ "value": "XL" })).await;
    let task = wire.until(&id, "input_required").await;
    let fields = schema(&task, "order");
    for (field, default) in [
        ("size", json!("XL")),
        // Beyond what JSON numbers hold exactly.
        ("count", Value::Null),
        ("gift", json!(true)),
        ("note", Value::Null),
        ("extras", json!(["Small"])),
        ("price", json!(0.5)),
    ] {
        assert_eq!(fields[field]["default"], default, "{field}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_decline_is_none_where_the_question_is_optional() {
    let mut wire = wire();
    let id = wire.parked("optional", json!({})).await;
    respond(&mut wire, &id, "note", "decline").await;
    wire.until(&id, "input_required").await;
    respond(&mut wire, &id, "size", "decline").await;
    let task = wire.end(&id).await;
    assert_eq!(task["result"]["content"][0]["text"], "None, no size");

    // Closing the form is no answer.
    let id = wire.parked("optional", json!({})).await;
    respond(&mut wire, &id, "note", "cancel").await;
    let task = wire.end(&id).await;
    assert_eq!(task["result"]["isError"], true);
}

#[tokio::test(start_paused = true)]
async fn one_of_a_list_is_chosen() {
    let mut wire = wire();
    let id = wire
        .task("choose", json!({ "hosts": ["a", "b", "a"] }))
        .await;
    let task = wire.until(&id, "input_required").await;
    assert_eq!(schema(&task, "host")["value"]["enum"], json!(["a", "b"]));
    let other = json!({ "host": { "action": "accept", "content": { "value": "c" } } });
    let refused = wire.update(&id, other).await.unwrap_err();
    assert_eq!(refused["data"]["reason"], "wrong_answer");
    wire.accept(&id, "host", json!({ "value": "b" })).await;
    wire.until(&id, "input_required").await;
    wire.accept(&id, "port", json!({ "value": "8080" })).await;
    let task = wire.end(&id).await;
    assert_eq!(task["result"]["content"][0]["text"], "b:8080");

    let id = wire.task("choose", json!({ "hosts": [] })).await;
    let task = wire.end(&id).await;
    let text = task["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("`host` has no options"), "{text}");
}

#[tokio::test(start_paused = true)]
async fn a_person_is_sent_to_an_address() {
    let server = || Server::new("builders", "1.0.0").tool::<pay>();
    let mut wire = Wire::modern(server(), Declares::Urls);
    for (action, text) in [("accept", "paid"), ("decline", "declined")] {
        let id = wire.task("pay", json!({})).await;
        let task = wire.until(&id, "input_required").await;
        assert_eq!(
            questions(&task)["pay"]["params"],
            json!({
                "mode": "url",
                "message": "Pay here",
                "url": "https://example.com/pay",
                "elicitationId": "pay",
            })
        );
        respond(&mut wire, &id, "pay", action).await;
        let task = wire.end(&id).await;
        assert_eq!(task["result"]["content"][0]["text"], text);
    }

    let mut wire = Wire::tasks(server());
    let id = wire.task("pay", json!({})).await;
    let task = wire.end(&id).await;
    let text = task["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("did not declare URL elicitation"), "{text}");
}

#[tokio::test(start_paused = true)]
async fn a_question_with_a_timeout_is_given_up() {
    let mut wire = wire();
    for (pause, text) in [(0, "true"), (61, "too late")] {
        let id = wire.parked("hasty", json!({})).await;
        sleep(Duration::from_secs(pause)).await;
        if pause == 0 {
            wire.accept(&id, "sure", json!({ "value": true })).await;
        }
        let task = wire.end(&id).await;
        assert_eq!(task["result"]["content"][0]["text"], text);
    }
}

mod renamed {
    use siding::prelude::*;

    /// Asks twice, by a new name.
    #[mcp_tool(task = "required", name = "deploy")]
    pub(super) async fn after(ctx: &mut Ctx) -> Result<String> {
        let mut regions = Vec::new();
        for _ in 0..2 {
            let region: String = ctx.input("Which region?").was("place").await?;
            regions.push(region);
        }
        Ok(regions.join(" "))
    }

    /// Asks twice, by the old name.
    #[mcp_tool(task = "required", name = "deploy")]
    pub(super) async fn before(ctx: &mut Ctx) -> Result<String> {
        let mut places = Vec::new();
        for _ in 0..2 {
            let place: String = ctx.input("Which place?").await?;
            places.push(place);
        }
        Ok(places.join(" "))
    }
}

#[tokio::test(start_paused = true)]
async fn a_question_is_found_by_its_former_name() {
    let store = MemoryStore::new();
    let server = || Server::new("renamed", "1.0.0").store(store.clone());
    let mut wire = Wire::tasks(server().tool::<renamed::before>());
    let id = wire.parked("deploy", json!({})).await;
    wire.accept(&id, "place", json!({ "value": "north" })).await;
    let task = wire.until(&id, "input_required").await;
    assert!(questions(&task).contains_key("place#2"));
    wire.close().await;

    let mut wire = Wire::tasks(server().tool::<renamed::after>());
    wire.accept(&id, "place#2", json!({ "value": "south" }))
        .await;
    let task = wire.end(&id).await;
    assert_eq!(task["result"]["content"][0]["text"], "north south");
}
