//! Arguments: what is taken, what is refused, and when.

use serde_json::{Value, json};
use siding::prelude::*;

use crate::support::{Declares, Wire};

/// Repeats a word.
#[mcp_tool(task = "optional")]
async fn repeat(
    /// What to say.
    word: &str,
    /// How often.
    times: u8,
    /// What stands between.
    #[arg(default = " ", rename = "joinedBy")]
    separator: String,
    loud: Option<bool>,
) -> String {
    let text = vec![word; times.into()].join(&separator);
    if loud == Some(true) {
        text.to_uppercase()
    } else {
        text
    }
}

fn server() -> Server {
    Server::new("words", "1.0.0").tool::<repeat>()
}

#[tokio::test(start_paused = true)]
async fn f10_strings_are_read_by_the_type_in_the_call_and_in_the_task() {
    let arguments = json!({ "word": "7", "times": "3", "loud": "true" });
    let mut plain = Wire::modern(server(), Declares::Nothing);
    let direct = plain.call("repeat", arguments.clone()).await.unwrap();
    assert_eq!(direct["content"][0]["text"], "7 7 7");

    let mut wire = Wire::tasks(server());
    let id = wire.task("repeat", arguments).await;
    let task = wire.end(&id).await;
    assert_eq!(task["result"]["content"][0]["text"], "7 7 7");
}

#[tokio::test(start_paused = true)]
async fn f11_bad_arguments_name_every_violation_and_make_no_task() {
    let mut wire = Wire::tasks(server());
    let arguments = json!({ "times": 300, "loud": "maybe", "sound": 1 });
    let result = wire.call("repeat", arguments).await.unwrap();
    assert_eq!(result["resultType"], "complete", "{result}");
    assert_eq!(result["isError"], true);
    let text = result["content"][0]["text"].as_str().unwrap();
    for part in [
        "invalid arguments for `repeat`",
        "`word` is missing",
        "`times` does not fit",
        "`loud` does not fit",
        "`sound` is not an argument of this tool; it takes `word`, `times`, `joinedBy`, `loud`",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[tokio::test(start_paused = true)]
async fn left_out_arguments_have_their_defaults_and_null_is_none() {
    let mut plain = Wire::modern(server(), Declares::Nothing);
    let arguments = json!({ "word": "a", "times": 2, "loud": Value::Null });
    let result = plain.call("repeat", arguments).await.unwrap();
    assert_eq!(result["content"][0]["text"], "a a");
    let arguments = json!({ "word": "a", "times": 2, "joinedBy": "-" });
    let result = plain.call("repeat", arguments).await.unwrap();
    assert_eq!(result["content"][0]["text"], "a-a");
}

#[tokio::test(start_paused = true)]
async fn the_schema_tells_names_descriptions_and_defaults() {
    let mut wire = Wire::tasks(server());
    let listed = wire.request("tools/list", json!({})).await.unwrap();
    let schema = &listed["tools"][0]["inputSchema"];
    let properties = &schema["properties"];
    assert_eq!(
        properties["word"],
        json!({ "type": "string", "description": "What to say." })
    );
    assert_eq!(
        properties["joinedBy"],
        json!({ "type": "string", "description": "What stands between.", "default": " " })
    );
    assert_eq!(properties["loud"], json!({ "type": "boolean" }));
    assert_eq!(schema["required"], json!(["word", "times"]));
}
