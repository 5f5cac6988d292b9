//! Questions wherever an expression can stand.

use serde_json::json;
use siding::prelude::*;

use crate::support::{Wire, questions};

#[derive(Input, Clone, Copy)]
enum Way {
    Up,
    Down,
}

fn joined(one: u8, other: u8) -> String {
    format!("{one}-{other}")
}

/// Asks in every position.
#[mcp_tool(task = "required")]
async fn everywhere(ctx: &mut Ctx, rounds: u8) -> Result<String> {
    let mut told = Vec::new();
    // `let`, with a type and with a turbofish.
    let named: u8 = ctx.input("let").await?;
    let turbo = ctx.input::<u8>("let").await?;
    told.push(joined(named, turbo));
    // `let`-`else`.
    let Ok(present) = ctx.input::<u8>("let else").await else {
        return Err(ToolError::new("absent"));
    };
    // `if let` and `while let`, which stop at a decline.
    if let Some(here) = ctx.input::<u8>("if let").optional().await? {
        told.push(joined(present, here));
    }
    while let Ok(again) = ctx.input::<u8>("while let").await {
        told.push(again.to_string());
    }
    // The scrutinee of a `match`.
    match ctx.input::<Way>("match").key("way").await? {
        Way::Up => told.push("up".into()),
        Way::Down => told.push(ctx.input::<String>("arm").key("how-far").await?),
    }
    // Arguments, in their order; macros; operators; struct fields and arrays.
    told.push(joined(
        ctx.input("argument").key("one").await?,
        ctx.input("argument").key("other").await?,
    ));
    told.push(format!(
        "{}",
        ctx.input::<u8>("macro").key("in-format").await?
    ));
    let sum = 1 + ctx.input::<u8>("operator").key("plus").await?;
    let list = [sum, ctx.input("array").key("element").await?];
    told.push(format!("{list:?}"));
    // A loop, with and without a name of its own.
    for round in 0..rounds {
        let more: bool = ctx.input(format!("round {round}")).await?;
        let size = ctx.input::<u8>("size").key(format!("size-{round}")).await?;
        told.push(format!("{more}{size}"));
    }
    // The value of a block, and of the function.
    let block = {
        let inner: u8 = ctx.input("block").await?;
        inner + 1
    };
    told.push(block.to_string());
    if rounds > 100 {
        return ctx.input("return").key("early").await;
    }
    Ok(told.join(" ") + &ctx.input::<String>("tail").key("tail").await?)
}

#[tokio::test(start_paused = true)]
async fn a_question_can_stand_anywhere() {
    let mut wire = Wire::tasks(Server::new("asks", "1.0.0").tool::<everywhere>());
    let id = wire.task("everywhere", json!({ "rounds": 2 })).await;
    for (key, value) in [
        ("named", Some(json!(1))),
        ("turbo", Some(json!(2))),
        ("present", Some(json!(3))),
        ("here", Some(json!(4))),
        ("again", Some(json!(5))),
        ("again#2", Some(json!(6))),
        ("again#3", None),
        ("way", Some(json!("Down"))),
        ("how-far", Some(json!("down"))),
        ("one", Some(json!(7))),
        ("other", Some(json!(8))),
        ("in-format", Some(json!(9))),
        ("plus", Some(json!(9))),
        ("element", Some(json!(11))),
        ("more", Some(json!(true))),
        ("size-0", Some(json!(12))),
        ("more#2", Some(json!(false))),
        ("size-1", Some(json!(13))),
        ("inner", Some(json!(13))),
        ("tail", Some(json!("!"))),
    ] {
        let task = wire.until(&id, "input_required").await;
        let keys: Vec<_> = questions(&task).keys().collect();
        assert_eq!(keys, [key]);
        let answer = match value {
            Some(value) => json!({ "action": "accept", "content": { "value": value } }),
            None => json!({ "action": "decline" }),
        };
        wire.update(&id, json!({ (key): answer })).await.unwrap();
    }
    let task = wire.end(&id).await;
    assert_eq!(
        task["result"]["content"][0]["text"],
        "1-2 3-4 5 6 down 7-8 9 [10, 11] true12 false13 14!"
    );
}
