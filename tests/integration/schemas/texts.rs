use std::{borrow::Cow, path::PathBuf};

use expect_test::expect_file;
use serde_json::{Value, json};
use siding::prelude::*;

use super::Subject;

/// Takes what is no number.
#[mcp_tool]
#[expect(clippy::too_many_arguments, reason = "one of each")]
#[expect(clippy::option_option, reason = "an alias may hide one")]
async fn texts(
    bool: bool,
    char: char,
    string: String,
    borrowed: &str,
    cow: Cow<'_, str>,
    path: PathBuf,
    unit: (),
    value: Value,
    /// Anything at all.
    any: Option<Value>,
    option: Option<String>,
    twice: Option<Option<bool>>,
    #[arg(default = "x")] default: String,
) {
    let () = unit;
    drop((bool, char, string, borrowed, cow, path));
    drop((value, any, option, twice, default));
}

async fn subject() -> Subject {
    let fitting = json!({
        "bool": true, "char": "c", "string": "s", "borrowed": "b", "cow": "c", "path": "/",
        "unit": null, "value": 1, "any": 1, "option": "o", "twice": true, "default": "d",
    });
    Subject::new(Server::new("schemas", "1").tool::<texts>(), fitting).await
}

#[tokio::test(start_paused = true)]
async fn u16_texts_say_their_type_and_nothing_of_rust() {
    subject().await.has(&expect_file!["texts.json"]);
}

#[tokio::test(start_paused = true)]
async fn u16_texts_take_what_their_schemas_take() {
    let mut tool = subject().await;
    tool.takes("char", [json!("ß"), json!("😀")]).await;
    tool.refuses("char", [json!(""), json!("ab"), json!(1)])
        .await;
    tool.takes("bool", [json!(false)]).await;
    tool.refuses("bool", [json!(0), json!("no"), json!(null)])
        .await;
    for name in ["string", "borrowed", "cow", "path", "default"] {
        tool.takes(name, [json!(""), json!("1"), json!("null")])
            .await;
        tool.refuses(name, [json!(1), json!(["a"]), json!(null)])
            .await;
    }
    tool.refuses("unit", [json!(0), json!("x"), json!([])])
        .await;
}

#[tokio::test(start_paused = true)]
async fn u16_a_json_value_may_be_anything() {
    let mut tool = subject().await;
    for name in ["value", "any"] {
        tool.takes(name, [json!(null), json!("s"), json!([1, {}]), json!({})])
            .await;
    }
}

#[tokio::test(start_paused = true)]
async fn u16_texts_may_be_left_out_where_they_are_optional() {
    let mut tool = subject().await;
    tool.may_miss("option").await;
    tool.may_miss("twice").await;
}
