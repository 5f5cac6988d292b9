//! Arguments within limits.

use serde_json::{Value, json};
use siding::prelude::*;

use crate::support::{Declares, Wire};

const MOST: u64 = 5_000_000_000;

/// Takes what is within limits.
#[mcp_tool(task = "optional")]
async fn book(
    #[arg(range(1..=10), default = 2)] guests: u8,
    #[arg(length(2..=8), pattern = "^[a-z]+$")] name: &str,
    #[arg(range(-1.5..))] warmth: Option<f64>,
    #[arg(length(..3))] tags: Option<Vec<String>>,
    #[arg(range(..MOST))] budget: Option<u64>,
    #[arg(range(-5_000_000_000..=5_000_000_000))] offset: Option<i64>,
) -> String {
    format!("{guests} {name} {warmth:?} {tags:?} {budget:?} {offset:?}")
}

fn server() -> Server {
    Server::new("limits", "1.0.0").tool::<book>()
}

#[tokio::test(start_paused = true)]
async fn they_are_in_the_schema() {
    let mut wire = Wire::modern(server(), Declares::Nothing);
    let listed = wire.request("tools/list", json!({})).await.unwrap();
    let properties = &listed["tools"][0]["inputSchema"]["properties"];
    let limits = |name: &str, keywords: &[&str]| -> Vec<Value> {
        let of = |keyword: &&str| properties[name][*keyword].clone();
        keywords.iter().map(of).collect()
    };
    assert_eq!(limits("guests", &["minimum", "maximum"]), [1, 10]);
    assert_eq!(limits("name", &["minLength", "maxLength"]), [2, 8]);
    assert_eq!(limits("name", &["pattern"]), ["^[a-z]+$"]);
    assert_eq!(limits("warmth", &["minimum"]), [-1.5]);
    assert_eq!(limits("tags", &["maxItems"]), [2]);
    assert_eq!(limits("budget", &["exclusiveMaximum"]), [MOST]);
    assert_eq!(
        limits("offset", &["minimum", "maximum"]),
        [-5_000_000_000_i64, 5_000_000_000]
    );
}

#[tokio::test(start_paused = true)]
async fn a_value_outside_is_named_and_never_reaches_the_body() {
    let mut wire = Wire::tasks(server());
    let arguments = json!({
        "guests": "11", "name": "X", "warmth": -2, "tags": ["a", "b", "c"], "budget": MOST,
    });
    let result = wire.call("book", arguments).await.unwrap();
    assert_eq!(result["isError"], true);
    let text = result["content"][0]["text"].as_str().unwrap();
    for part in [
        "`guests` must be at most 10",
        "`name` must have at least 2 characters, not 1",
        "`name` must match `^[a-z]+$`",
        "`warmth` must be at least -1.5",
        "`tags` must have at most 2 elements, not 3",
        "`budget` must be below 5000000000",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_value_inside_is_taken() {
    let mut wire = Wire::modern(server(), Declares::Nothing);
    let result = wire.call("book", json!({ "name": "ada" })).await.unwrap();
    assert_eq!(result["content"][0]["text"], "2 ada None None None None");
    let arguments = json!({ "guests": 10, "name": "ada", "tags": ["a", "b"], "warmth": "0.5" });
    let result = wire.call("book", arguments).await.unwrap();
    assert_eq!(result["isError"], false, "{result}");
}
