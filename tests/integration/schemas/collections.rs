use std::collections::{BTreeMap, BTreeSet, HashMap};

use expect_test::expect_file;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use siding::prelude::*;

use super::Subject;

#[derive(PartialEq, Eq, Hash, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Side {
    Left,
    Right,
}

/// Takes several of something.
#[mcp_tool]
#[expect(clippy::too_many_arguments, reason = "one of each")]
async fn collections(
    vec: Vec<u8>,
    nested: Vec<Vec<bool>>,
    holes: Vec<Option<u8>>,
    array: [u8; 3],
    pair: (i32, i32),
    tuple: (u8, String, u8),
    pairs: Vec<(String, f64)>,
    map: BTreeMap<String, u8>,
    by_number: BTreeMap<u8, bool>,
    by_side: HashMap<Side, u8>,
    set: BTreeSet<String>,
    values: Vec<Value>,
    object: Map<String, Value>,
    option: Option<Vec<Option<u8>>>,
    option_map: Option<BTreeMap<String, Option<u8>>>,
) {
    drop((vec, nested, holes, array, pair, tuple, pairs));
    drop((map, by_number, by_side, set, values, object));
    drop((option, option_map));
}

async fn subject() -> Subject {
    let fitting = json!({
        "vec": [1], "nested": [[true], []], "holes": [1, null], "array": [1, 2, 3],
        "pair": [1, 2], "tuple": [1, "a", 2], "pairs": [["a", 1.5]], "map": { "a": 1 },
        "by_number": { "1": true }, "by_side": { "left": 1 }, "set": ["a"],
        "values": [1, "a", null], "object": { "a": [1] }, "option": [null],
        "option_map": { "a": null },
    });
    let server = Server::new("schemas", "1").tool::<collections>();
    Subject::new(server, fitting).await
}

#[tokio::test(start_paused = true)]
async fn u16_collections_say_what_is_in_them() {
    subject().await.has(&expect_file!["collections.json"]);
}

#[tokio::test(start_paused = true)]
async fn u16_lists_take_what_their_schemas_take() {
    let mut tool = subject().await;
    tool.takes("vec", [json!([]), json!([0, 255])]).await;
    tool.refuses("vec", [json!(1), json!([256]), json!([null]), json!({})])
        .await;
    tool.refuses("nested", [json!([true]), json!([[1]])]).await;
    tool.refuses("holes", [json!(["x"]), json!([-1])]).await;
    tool.refuses("array", [json!([1, 2]), json!([1, 2, 3, 4])])
        .await;
    tool.refuses("array", [json!([1, 2, 256])]).await;
    tool.takes("set", [json!([]), json!(["a", "b"])]).await;
    tool.refuses("set", [json!([1]), json!("a")]).await;
    tool.takes("values", [json!([]), json!([{ "a": [] }])])
        .await;
    tool.refuses("values", [json!({}), json!(1)]).await;
}

#[tokio::test(start_paused = true)]
async fn u16_tuples_take_what_their_schemas_take() {
    let mut tool = subject().await;
    tool.takes("pair", [json!([-1, 0])]).await;
    tool.refuses("pair", [json!([1]), json!([1, 2, 3]), json!([1, "a"])])
        .await;
    tool.refuses("tuple", [json!([1, "a"]), json!([1, "a", 2, 3])])
        .await;
    tool.refuses("tuple", [json!([1, true, 2])]).await;
    tool.refuses_by_2020_12("tuple", [json!(["a", 1, 2])]).await;
    tool.refuses("pairs", [json!([["a"]]), json!(["a", 1])])
        .await;
    tool.refuses_by_2020_12("pairs", [json!([[1, "a"]])]).await;
}

#[tokio::test(start_paused = true)]
async fn u16_maps_take_what_their_schemas_take() {
    let mut tool = subject().await;
    tool.takes("map", [json!({}), json!({ "": 0 })]).await;
    tool.refuses("map", [json!({ "a": -1 }), json!([]), json!(null)])
        .await;
    tool.takes("by_number", [json!({}), json!({ "255": false })])
        .await;
    tool.refuses("by_number", [json!({ "a": true }), json!({ "1": 1 })])
        .await;
    tool.takes("by_side", [json!({}), json!({ "left": 1, "right": 2 })])
        .await;
    tool.refuses("by_side", [json!({ "top": 1 }), json!({ "left": "x" })])
        .await;
    tool.refuses("object", [json!([]), json!(1)]).await;
}

#[tokio::test(start_paused = true)]
async fn u16_collections_may_be_left_out_where_they_are_optional() {
    let mut tool = subject().await;
    tool.may_miss("option").await;
    tool.may_miss("option_map").await;
}
