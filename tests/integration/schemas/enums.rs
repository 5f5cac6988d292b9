use expect_test::expect_file;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use siding::prelude::*;

use super::Subject;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Level {
    Low,
    VeryHigh,
}

/// How to treat it.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Explained {
    /// As before.
    AsBefore,
    /// Anew.
    #[serde(rename = "afresh", alias = "fresh")]
    Anew,
    #[serde(skip)]
    #[expect(dead_code, reason = "no client can say it")]
    Never,
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "read by serde")]
enum External {
    Unit,
    Newtype(u8),
    Tuple(u8, bool),
    Struct {
        /// How wide.
        width: Option<u32>,
    },
}

#[derive(Deserialize, JsonSchema)]
#[serde(
    tag = "kind",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
#[expect(dead_code, reason = "read by serde")]
enum Internal {
    AtOnce,
    AfterDelay {
        delay_ms: u32,
        #[serde(default)]
        also_now: bool,
    },
}

#[derive(Deserialize, JsonSchema)]
#[serde(tag = "t", content = "c")]
#[expect(dead_code, reason = "read by serde")]
enum Adjacent {
    Nothing,
    Number(i8),
    Point { x: f64 },
}

#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "read by serde")]
enum Untagged {
    Number(u8),
    Text(String),
    Named { name: String },
}

/// Takes alternatives.
#[mcp_tool]
#[expect(clippy::too_many_arguments, reason = "one of each")]
async fn enums(
    unit: Level,
    explained: Explained,
    /// Anything goes.
    external: External,
    internal: Internal,
    adjacent: Adjacent,
    untagged: Untagged,
    option_unit: Option<Level>,
    /// Left out: as before.
    option_explained: Option<Explained>,
    option_external: Option<External>,
    option_untagged: Option<Untagged>,
    list: Vec<Level>,
) {
    drop((unit, explained, external, internal, adjacent, untagged));
    drop((
        option_unit,
        option_explained,
        option_external,
        option_untagged,
        list,
    ));
}

async fn subject() -> Subject {
    let fitting = json!({
        "unit": "low", "explained": "as-before", "external": "Unit",
        "internal": { "kind": "atOnce" }, "adjacent": { "t": "Nothing" }, "untagged": 1,
        "option_unit": "low", "option_explained": "afresh", "option_external": "Unit",
        "option_untagged": "a", "list": ["low"],
    });
    Subject::new(Server::new("schemas", "1").tool::<enums>(), fitting).await
}

#[tokio::test(start_paused = true)]
async fn u16_enums_say_their_alternatives() {
    subject().await.has(&expect_file!["enums.json"]);
}

#[tokio::test(start_paused = true)]
async fn u16_unit_enums_take_what_their_schemas_take() {
    let mut tool = subject().await;
    for name in ["unit", "option_unit"] {
        tool.takes(name, [json!("very_high")]).await;
        tool.refuses(name, [json!("VeryHigh"), json!(1)]).await;
    }
    for name in ["explained", "option_explained"] {
        tool.takes(name, [json!("as-before"), json!("afresh")])
            .await;
        tool.refuses(name, [json!("anew"), json!("never"), json!(0)])
            .await;
    }
    tool.takes("list", [json!([]), json!(["low", "very_high"])])
        .await;
    tool.refuses("list", [json!("low"), json!(["Low"])]).await;
}

#[tokio::test(start_paused = true)]
async fn u16_data_enums_take_what_their_schemas_take() {
    let mut tool = subject().await;
    for name in ["external", "option_external"] {
        tool.takes(name, [json!({ "Newtype": 1 }), json!({ "Struct": {} })])
            .await;
        tool.takes(name, [json!({ "Tuple": [1, true] })]).await;
        tool.refuses(name, [json!("Newtype"), json!({ "Newtype": 256 })])
            .await;
        tool.refuses(name, [json!({ "Tuple": [1] }), json!({ "Other": 1 })])
            .await;
        tool.refuses(name, [json!({ "Newtype": 1, "Struct": {} })])
            .await;
        tool.advises_against(name, [json!({ "Struct": { "width": null } })]);
    }
    tool.takes("internal", [json!({ "kind": "afterDelay", "delayMs": 1 })])
        .await;
    tool.refuses("internal", [json!({ "kind": "afterDelay" }), json!({})])
        .await;
    tool.refuses("internal", [json!({ "kind": "later" }), json!("atOnce")])
        .await;
    tool.takes("adjacent", [json!({ "t": "Number", "c": -1 })])
        .await;
    tool.takes("adjacent", [json!({ "t": "Point", "c": { "x": 1 } })])
        .await;
    tool.refuses("adjacent", [json!({ "t": "Number" }), json!({ "c": 1 })])
        .await;
    tool.refuses("adjacent", [json!({ "t": "Number", "c": 128 })])
        .await;
    for name in ["untagged", "option_untagged"] {
        tool.takes(name, [json!(255), json!("a"), json!({ "name": "a" })])
            .await;
        tool.refuses(name, [json!(256), json!({}), json!([])]).await;
    }
}

#[tokio::test(start_paused = true)]
async fn u16_enums_may_be_left_out_where_they_are_optional() {
    let mut tool = subject().await;
    for name in [
        "option_unit",
        "option_explained",
        "option_external",
        "option_untagged",
    ] {
        tool.may_miss(name).await;
    }
}
