//! Every kind of return.

use rmcp::model::{CallToolResult, ContentBlock};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};
use siding::prelude::*;

use crate::support::{Declares, Wire};

/// A string.
#[mcp_tool]
async fn string() -> String {
    "a string".into()
}

/// A borrowed string.
#[mcp_tool]
async fn borrowed() -> &'static str {
    "a str"
}

/// Nothing.
#[mcp_tool]
async fn nothing() {}

/// Nothing, or an error.
#[mcp_tool]
async fn fallible_nothing() -> Result<()> {
    Ok(())
}

/// A number.
#[mcp_tool]
async fn number() -> Result<u32, std::num::ParseIntError> {
    "7".parse()
}

#[derive(Serialize, JsonSchema)]
struct Point {
    x: i32,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<String>,
}

/// A structure.
#[mcp_tool]
async fn structure() -> Vec<Point> {
    vec![Point { x: 1, label: None }]
}

/// Content of the protocol.
#[mcp_tool]
async fn content() -> Vec<ContentBlock> {
    vec![ContentBlock::text("one"), ContentBlock::text("two")]
}

/// A result of the protocol.
#[mcp_tool]
async fn result() -> Result<CallToolResult> {
    Ok(CallToolResult::structured(json!({ "as": "it is" })))
}

#[tokio::test(start_paused = true)]
async fn each_becomes_text_or_structure() {
    let tools = tools![
        string,
        borrowed,
        nothing,
        fallible_nothing,
        number,
        structure,
        content,
        result
    ];
    let mut wire = Wire::modern(
        Server::new("returns", "1.0.0").tools(tools),
        Declares::Nothing,
    );
    let text = |text: &str| json!([{ "type": "text", "text": text }]);
    let point = json!([{ "x": 1 }]);
    for (tool, content, structured) in [
        ("string", text("a string"), Value::Null),
        ("borrowed", text("a str"), Value::Null),
        ("nothing", json!([]), Value::Null),
        ("fallible_nothing", json!([]), Value::Null),
        ("number", text("7"), json!(7)),
        ("structure", text(&point.to_string()), point),
        (
            "content",
            json!([{ "type": "text", "text": "one" }, { "type": "text", "text": "two" }]),
            Value::Null,
        ),
        (
            "result",
            text(r#"{"as":"it is"}"#),
            json!({ "as": "it is" }),
        ),
    ] {
        let result = wire.call(tool, json!({})).await.unwrap();
        assert_eq!(result["content"], content, "{tool}");
        assert_eq!(result["structuredContent"], structured, "{tool}");
        assert_eq!(result["isError"], false, "{tool}");
    }
    let listed = wire.request("tools/list", json!({})).await.unwrap();
    for tool in listed["tools"].as_array().unwrap() {
        let structured = ["number", "structure"].contains(&tool["name"].as_str().unwrap());
        assert_eq!(tool.get("outputSchema").is_some(), structured, "{tool}");
    }
}
