//! Every kind of parameter.

use std::{borrow::Cow, collections::BTreeMap};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use siding::prelude::*;

use crate::support::{Declares, Wire};

type Maybe<T> = Option<T>;

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Level {
    Low,
    High,
}

#[derive(Deserialize, JsonSchema)]
struct Window {
    from: u32,
    until: Option<u32>,
}

/// Takes one of each.
#[mcp_tool]
#[expect(clippy::too_many_arguments, reason = "one of each")]
async fn take(
    text: String,
    borrowed: &str,
    cow: Cow<'_, str>,
    perhaps: Option<&str>,
    alias: Maybe<u8>,
    r#type: Level,
    #[arg(default = Level::High)] level: Level,
    #[arg(default = 3)] tries: u32,
    #[arg(default = 5)] wait: Option<u64>,
    window: Window,
    labels: BTreeMap<String, String>,
    pair: (u8, bool),
    anything: Value,
) -> String {
    let name = |level| match level {
        Level::Low => "low",
        Level::High => "high",
    };
    format!(
        "{text} {borrowed} {cow} {perhaps:?} {alias:?} {} {} {tries} {wait:?} {} {:?} {labels:?} \
         {pair:?} {anything}",
        name(r#type),
        name(level),
        window.from,
        window.until,
    )
}

#[tokio::test(start_paused = true)]
async fn all_are_read() {
    let server = Server::new("takes", "1.0.0").tool::<take>();
    let mut wire = Wire::modern(server, Declares::Nothing);
    let arguments = json!({
        "text": "a", "borrowed": "b", "cow": "c", "type": "low",
        "window": { "from": 1 }, "labels": { "k": "v" }, "pair": [1, true], "anything": [null],
    });
    let result = wire.call("take", arguments).await.unwrap();
    assert_eq!(
        result["content"][0]["text"],
        r#"a b c None None low high 3 Some(5) 1 None {"k": "v"} (1, true) [null]"#,
        "{result}"
    );
}
