use std::collections::BTreeMap;

use expect_test::expect_file;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use siding::prelude::*;

use super::Subject;

/// A tree.
#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "read by serde")]
struct Tree {
    label: Option<u8>,
    /// What grows on it.
    #[serde(default)]
    branches: Vec<Tree>,
    /// What it grows on.
    parent: Option<Box<Tree>>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[expect(dead_code, reason = "read by serde")]
enum Expression {
    Number(i32),
    Sum(Vec<Expression>),
    Product(Box<Expression>, Box<Expression>),
    Named(BTreeMap<String, Expression>),
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "read by serde")]
struct Even {
    odd: Option<Box<Odd>>,
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "read by serde")]
struct Odd {
    even: Even,
}

/// Takes what contains itself.
#[mcp_tool]
async fn recursive(
    /// The tree.
    tree: Tree,
    /// Another one.
    option: Option<Tree>,
    expression: Expression,
    even: Even,
) {
    drop((tree, option, expression, even));
}

async fn subject() -> Subject {
    let fitting = json!({ "tree": {}, "option": {}, "expression": { "number": 1 }, "even": {} });
    Subject::new(Server::new("schemas", "1").tool::<recursive>(), fitting).await
}

#[tokio::test(start_paused = true)]
async fn u16_recursion_goes_over_definitions_under_the_root() {
    subject().await.has(&expect_file!["recursive.json"]);
}

#[tokio::test(start_paused = true)]
async fn u16_recursive_types_are_checked_at_every_depth() {
    let mut tool = subject().await;
    for name in ["tree", "option"] {
        let grown = json!({ "branches": [{ "branches": [{ "label": 1 }] }], "parent": {} });
        tool.takes(name, [grown]).await;
        for wrong in [
            json!({ "branches": [{ "branches": [{ "label": 256 }] }] }),
            json!({ "branches": {} }),
            json!({ "parent": { "parent": { "label": "x" } } }),
            json!(1),
        ] {
            tool.refuses(name, [wrong]).await;
        }
        let orphan = json!({ "parent": { "parent": { "parent": null } } });
        tool.advises_against(name, [orphan]);
    }
    tool.may_miss("option").await;
    let sum = json!({ "sum": [{ "number": 1 }, { "product": [{ "sum": [] }, { "named": {} }] }] });
    tool.takes("expression", [sum]).await;
    for wrong in [
        json!({ "sum": [1] }),
        json!({ "product": [{ "number": 1 }] }),
        json!({ "named": { "x": { "number": "x" } } }),
    ] {
        tool.refuses("expression", [wrong]).await;
    }
    tool.takes(
        "even",
        [json!({ "odd": { "even": { "odd": { "even": {} } } } })],
    )
    .await;
    tool.refuses(
        "even",
        [json!({ "odd": {} }), json!({ "odd": { "even": 1 } })],
    )
    .await;
}
