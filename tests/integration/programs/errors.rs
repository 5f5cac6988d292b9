//! Every way to fail.

use serde_json::json;
use siding::prelude::*;

use crate::support::{Declares, Wire};

#[derive(Debug)]
enum ShopError {
    Closed,
    Sold(String),
}

impl From<ShopError> for ToolError {
    fn from(error: ShopError) -> Self {
        match error {
            ShopError::Closed => Self::protocol(4001, "the shop is closed", None),
            ShopError::Sold(what) => Self::new(format!("{what} is sold out")),
        }
    }
}

/// Fails in the way that is asked for.
#[mcp_tool]
async fn fail(how: String) -> Result<u32> {
    match how.as_str() {
        "text" => Err(ToolError::new("as a text")),
        "str" => Err("as a str")?,
        "parse" => Ok("x".parse()?),
        "io" => Err(std::io::Error::other("as io"))?,
        "boxed" => Err(Box::<dyn std::error::Error + Send + Sync>::from("as a box"))?,
        _ => Ok(1),
    }
}

/// Fails with an error of the author's.
#[mcp_tool]
async fn buy(what: String) -> Result<String, ShopError> {
    match what.as_str() {
        "anything" => Err(ShopError::Closed),
        _ => Err(ShopError::Sold(what)),
    }
}

/// Uses operations in a function of `anyhow`.
#[mcp_tool(task = "optional")]
async fn any(ctx: &mut Ctx) -> Result<String> {
    async fn inner(ctx: &mut Ctx) -> anyhow::Result<String> {
        let text = ctx
            .step("fail", async { Err::<String, _>("as a step") })
            .await?;
        Ok(text)
    }
    Ok(inner(ctx).await.map_err(|error| error.context("in all"))?)
}

#[tokio::test(start_paused = true)]
async fn operations_go_with_anyhow() {
    let mut wire = Wire::modern(
        Server::new("fails", "1.0.0").tool::<any>(),
        Declares::Nothing,
    );
    let result = wire.call("any", json!({})).await.unwrap();
    assert_eq!(result["content"][0]["text"], "in all: as a step");
}

#[tokio::test(start_paused = true)]
async fn each_reaches_the_model_or_the_client() {
    let server = Server::new("fails", "1.0.0").tools(tools![fail, buy]);
    let mut wire = Wire::modern(server, Declares::Nothing);
    for (how, text) in [
        ("text", "as a text"),
        ("str", "as a str"),
        ("parse", "invalid digit found in string"),
        ("io", "as io"),
        ("boxed", "as a box"),
    ] {
        let result = wire.call("fail", json!({ "how": how })).await.unwrap();
        assert_eq!(result["isError"], true);
        assert_eq!(result["content"][0]["text"], text);
    }
    let result = wire.call("buy", json!({ "what": "milk" })).await.unwrap();
    assert_eq!(result["content"][0]["text"], "milk is sold out");
    let error = wire
        .call("buy", json!({ "what": "anything" }))
        .await
        .unwrap_err();
    assert_eq!(
        (&error["code"], &error["message"]),
        (&json!(4001), &json!("the shop is closed"))
    );
}
