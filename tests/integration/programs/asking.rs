//! Every way to name a question.

use serde_json::{Value, json};
use siding::prelude::*;

use crate::support::{Wire, questions};

#[derive(Input, Clone, Copy, PartialEq, Debug)]
enum Topping {
    Ham,
    /// For vegetarians.
    Mushrooms,
}

#[derive(Input)]
struct Address {
    street: String,
    number: u16,
    toppings: Vec<Topping>,
    tip: Option<f64>,
}

/// Orders a pizza.
#[mcp_tool(task = "required")]
async fn pizza(ctx: &mut Ctx) -> Result<String> {
    // By the binding.
    let name: String = ctx.input("Your name?").await?;
    // By the assignment.
    let mut size = 0;
    if name != "nobody" {
        size = ctx.input("How large?").await?;
    }
    // By `.key`, where there is no binding.
    if !ctx.input::<bool>("Hungry?").key("hungry").await? {
        return Ok("nothing".into());
    }
    // By a pattern that binds one name.
    let Ok(address) = ctx.input::<Address>("Where to?").await else {
        return Ok("picked up".into());
    };
    // Several at once, by the tuple.
    let (drink, napkins): (Option<String>, bool) = ctx.input_all(("A drink?", "Napkins?")).await?;
    let tip = address.tip.unwrap_or_default();
    Ok(format!(
        "{name} {size} {} {} {:?} {tip} {drink:?} {napkins}",
        address.street, address.number, address.toppings
    ))
}

#[tokio::test(start_paused = true)]
async fn each_has_its_key() {
    let mut wire = Wire::tasks(Server::new("pizzeria", "1.0.0").tool::<pizza>());
    let id = wire.task("pizza", json!({})).await;
    let address = json!({ "street": "Main", "number": 7, "toppings": ["Ham", "Mushrooms"] });
    for (key, content) in [
        ("name", json!({ "value": "Ada" })),
        ("size", json!({ "value": 30 })),
        ("hungry", json!({ "value": true })),
        ("address", address),
    ] {
        let task = wire.until(&id, "input_required").await;
        let keys: Vec<_> = questions(&task).keys().collect();
        assert_eq!(keys, [key]);
        wire.accept(&id, key, content).await;
    }
    let task = wire.until(&id, "input_required").await;
    assert_eq!(
        questions(&task)["drink"]["params"]["requestedSchema"]["required"],
        Value::Null
    );
    wire.accept(&id, "drink", json!({})).await;
    wire.accept(&id, "napkins", json!({ "value": false })).await;
    let task = wire.end(&id).await;
    assert_eq!(
        task["result"]["content"][0]["text"],
        "Ada 30 Main 7 [Ham, Mushrooms] 0 None false"
    );
}
