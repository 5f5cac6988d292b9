//! Tools where names mean something else than usual, as `tests/renamed` has them.

use futures::{StreamExt, TryStreamExt, stream};
use serde_json::{Value, json};
use siding::prelude::*;
use siding_tests_renamed::server;

use crate::support::{Declares, Wire};

/// Calls a tool that asks nothing.
async fn told(tool: &str, arguments: Value) -> Value {
    let mut wire = Wire::modern(server(), Declares::Nothing);
    let mut result = wire.call(tool, arguments).await.unwrap();
    assert_eq!(result["isError"], false, "{result}");
    result["content"][0]["text"].take()
}

/// Calls a tool as a task, and answers its questions in turn.
async fn answered<const N: usize>(
    tool: &str,
    arguments: Value,
    answers: [(&str, Value); N],
) -> Value {
    let mut wire = Wire::tasks(server());
    let id = wire.task(tool, arguments).await;
    for (key, content) in answers {
        wire.until(&id, "input_required").await;
        wire.accept(&id, key, content).await;
    }
    let mut task = wire.end(&id).await;
    assert_eq!(task["status"], "completed", "{task}");
    task["result"]["content"][0]["text"].take()
}

#[tokio::test(start_paused = true)]
async fn u18_names_of_std_and_of_expansions_may_be_shadowed() {
    let arguments = json!({ "inputs": 1, "output": "a" });
    let form = json!({ "answers": true, "choice": "None" });
    let text = answered("shadowed", arguments, [("form", form)]).await;
    assert_eq!(text, "a None 3 true None none");
    assert_eq!(told("output", json!({ "output": "b" })).await, "b");
}

#[tokio::test(start_paused = true)]
async fn u18_functions_parameters_and_fields_may_be_called_by_keywords() {
    let sure = json!({ "value": true });
    let form = json!({ "type": 2, "fn": "true" });
    let answers = [("where", sure), ("struct", form)];
    let sum = answered("match", json!({ "type": 1 }), answers).await;
    assert_eq!(sum, "3");
    assert_eq!(told("for", json!({ "const": 1 })).await, "4");
    assert_eq!(told("for", json!({ "const": 1, "while": 1 })).await, "2");
}

#[tokio::test(start_paused = true)]
async fn u18_tools_may_stand_in_modules_and_in_functions() {
    assert_eq!(told("one.tool", json!({})).await, "one");
    assert_eq!(told("two.tool", json!({})).await, "not one");
    assert_eq!(told("deeper.tool", json!({})).await, "3");
    assert_eq!(told("local", json!({ "word": "long" })).await, "true");
}

#[tokio::test(start_paused = true)]
async fn u18_macros_may_write_tools_and_pass_their_parts() {
    let number = |n: u8| json!({ "value": n });
    let sum = answered("added", json!({ "ctx": 1 }), [("more", number(2))]).await;
    assert_eq!(sum, "3");
    let sum = answered("second", json!({ "output": 1 }), [("more", number(3))]).await;
    assert_eq!(sum, "4");
    assert_eq!(told("told", json!({ "first": "a" })).await, "a 7");
    assert_eq!(told("item", json!({ "text": "four" })).await, "4");
    for (tool, outcome) in [
        ("whole", "false"),
        ("block", "true"),
        ("expression", "true"),
    ] {
        let answers = [("sure", json!({ "value": true }))];
        assert_eq!(answered(tool, json!({}), answers).await, outcome, "{tool}");
    }
}

#[tokio::test(start_paused = true)]
async fn u18_the_runtime_may_come_through_another_crate() {
    let answers = || [("sure", json!({ "value": true }))];
    assert_eq!(answered("confirmed", json!({}), answers()).await, "true");
    let answers = [("approval", json!({ "sure": true }))];
    assert_eq!(answered("approved", json!({}), answers).await, "true");
}

async fn length(word: &str) -> usize {
    tokio::task::yield_now().await;
    word.len()
}

/// Measures words, several at a time, in a step.
#[mcp_tool(task = "optional")]
async fn boxed(ctx: &mut Ctx, words: Vec<String>) -> Result<Vec<usize>> {
    let mut lengths = ctx
        .step("lengths", async {
            let lengths = stream::iter(&words).map(|word| length(word));
            Ok(lengths
                .buffer_unordered(2)
                .boxed()
                .collect::<Vec<_>>()
                .await)
        })
        .await?;
    lengths.sort_unstable();
    Ok(lengths)
}

/// The same without a step, and over what the argument lends.
#[mcp_tool]
async fn lent(text: &str, separator: char) -> Result<Vec<usize>> {
    let words: Vec<&str> = text.split(separator).collect();
    let lengths = stream::iter(&words).map(|word| async move {
        match length(word).await {
            0 => Err("an empty word"),
            length => Ok(length),
        }
    });
    let mut lengths: Vec<usize> = lengths.buffer_unordered(4).boxed().try_collect().await?;
    lengths.sort_unstable();
    Ok(lengths)
}

/// The same with the futures made before the stream of them.
#[mcp_tool]
async fn collected(words: Vec<String>) -> Vec<usize> {
    let lengths: Vec<_> = words.iter().map(|word| length(word)).collect();
    let lengths = stream::iter(lengths).buffer_unordered(2);
    let mut lengths: Vec<_> = lengths.collect().await;
    lengths.sort_unstable();
    lengths
}

/// The same over items that the stream owns.
#[mcp_tool]
async fn owned(words: Vec<String>) -> Vec<usize> {
    let lengths = stream::iter(words).map(|word| async move { length(&word).await });
    let mut lengths: Vec<_> = lengths.buffer_unordered(2).collect().await;
    lengths.sort_unstable();
    lengths
}

/// One after the other.
#[mcp_tool]
async fn ordered(words: Vec<String>) -> Vec<usize> {
    let lengths = stream::iter(&words).then(|word| length(word));
    let mut lengths: Vec<_> = lengths.boxed().collect().await;
    lengths.sort_unstable();
    lengths
}

#[tokio::test(start_paused = true)]
async fn u17_streams_may_buffer_futures_over_borrowed_items() {
    let tools = siding::tools![boxed, lent, collected, owned, ordered];
    let server = Server::new("words", "1.0.0").tools(tools);
    let mut wire = Wire::modern(server, Declares::Nothing);
    let words = json!({ "words": ["three", "a", "of"] });
    let text = json!({ "text": "three-a-of", "separator": "-" });
    for tool in ["boxed", "lent", "collected", "owned", "ordered"] {
        let arguments = if tool == "lent" { &text } else { &words };
        let result = wire.call(tool, arguments.clone()).await.unwrap();
        assert_eq!(result["structuredContent"], json!([1, 2, 5]), "{tool}");
    }
}
