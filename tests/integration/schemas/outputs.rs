use std::collections::BTreeMap;

use chrono::NaiveDateTime;
use expect_test::expect_file;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use siding::prelude::*;

use super::{pretty, validators};
use crate::support::{Declares, Wire};

/// Read and written in different ways.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all(serialize = "camelCase", deserialize = "kebab-case"))]
struct Report {
    total_count: u32,
    #[serde(rename(serialize = "written", deserialize = "read"))]
    renamed: bool,
    #[serde(default)]
    defaulted: i8,
    nullable: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    skipped: Option<String>,
    #[serde(skip_serializing)]
    #[expect(dead_code, reason = "written only")]
    password: String,
    pair: (u8, u8),
    at: NaiveDateTime,
    any: Value,
}

#[derive(Serialize, JsonSchema)]
#[serde(tag = "state", rename_all = "lowercase")]
enum State {
    Done { reports: Vec<Report> },
    Waiting,
}

#[derive(Serialize, JsonSchema)]
struct Tree {
    /// What grows on it.
    branches: Vec<Tree>,
    first: Option<Box<Tree>>,
}

/// A struct.
#[mcp_tool]
async fn report() -> Report {
    Report::default()
}

/// An enum.
#[mcp_tool]
async fn state(done: bool) -> Result<State> {
    let reports = vec![Report::default()];
    Ok(if done {
        State::Done { reports }
    } else {
        State::Waiting
    })
}

/// What contains itself.
#[mcp_tool]
async fn tree() -> Tree {
    let leaf = || Tree {
        branches: Vec::new(),
        first: None,
    };
    Tree {
        branches: vec![leaf()],
        first: Some(Box::new(leaf())),
    }
}

/// No object.
#[mcp_tool]
async fn list() -> Vec<Option<u8>> {
    vec![Some(1), None]
}

/// A map.
#[mcp_tool]
async fn map() -> BTreeMap<String, f64> {
    BTreeMap::from([("a".into(), 1.5)])
}

/// Anything.
#[mcp_tool]
async fn anything() -> Value {
    json!([1, "a"])
}

fn server() -> Server {
    Server::new("schemas", "1").tools(siding::tools![report, state, tree, list, map, anything])
}

async fn listed(wire: &mut Wire) -> BTreeMap<String, Value> {
    let tools = wire.request("tools/list", json!({})).await.unwrap();
    let tools = tools["tools"].as_array().unwrap().iter();
    tools
        .map(|tool| {
            let name = tool["name"].as_str().unwrap();
            (name.into(), tool["outputSchema"].clone())
        })
        .collect()
}

#[tokio::test(start_paused = true)]
async fn u16_output_schemas_say_what_is_written_not_what_is_read() {
    let mut wire = Wire::modern(server(), Declares::Nothing);
    let schemas = json!(listed(&mut wire).await);
    expect_file!["outputs.json"].assert_eq(&pretty(&schemas));
}

#[tokio::test(start_paused = true)]
async fn u16_structured_content_is_as_its_schema_says() {
    let mut wire = Wire::modern(server(), Declares::Nothing);
    let schemas = listed(&mut wire).await;
    for (tool, arguments) in [
        ("report", json!({})),
        ("state", json!({ "done": true })),
        ("state", json!({ "done": false })),
        ("tree", json!({})),
        ("list", json!({})),
        ("map", json!({})),
    ] {
        let result = wire.call(tool, arguments).await.unwrap();
        for schema in validators(&schemas[tool]) {
            let content = &result["structuredContent"];
            assert!(schema.is_valid(content), "{tool}: {content}");
            assert!(!schema.is_valid(&json!("x")), "{tool}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn u16_what_may_be_anything_has_no_output_schema() {
    let mut wire = Wire::modern(server(), Declares::Nothing);
    assert_eq!(listed(&mut wire).await["anything"], Value::Null);
    let result = wire.call("anything", json!({})).await.unwrap();
    assert_eq!(result["structuredContent"], json!([1, "a"]));
}

#[tokio::test(start_paused = true)]
async fn u16_older_clients_are_told_of_objects_only() {
    let (mut wire, _) = Wire::legacy(server(), Declares::Nothing).await;
    for (tool, schema) in listed(&mut wire).await {
        assert!(schema.is_null() || schema["type"] == "object", "{tool}");
        let has_schema = ["report", "state", "tree", "map"].contains(&tool.as_str());
        assert_eq!(!schema.is_null(), has_schema, "{tool}");
    }
    let result = wire.call("list", json!({})).await.unwrap();
    assert_eq!(result["structuredContent"], Value::Null);
    assert_eq!(result["content"][0]["text"], "[1,null]");
    let result = wire.call("map", json!({})).await.unwrap();
    assert_eq!(result["structuredContent"], json!({ "a": 1.5 }));
}
