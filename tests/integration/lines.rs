//! Lines that are no messages, over standard streams and the like.

use serde_json::{Value, json};
use siding::prelude::*;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};

use crate::support::Declares;

/// Says so.
#[mcp_tool]
async fn works() -> &'static str {
    "it works"
}

/// Writes bytes to a server, then a call, and gives the messages that come until its answer.
async fn answers(bytes: &[u8]) -> Vec<Value> {
    let (ours, theirs) = tokio::io::duplex(64 * 1024);
    let (reader, writer) = tokio::io::split(theirs);
    let server = Server::new("lines", "1.0.0").tool::<works>();
    let serving = tokio::spawn(server.serve(reader, writer));
    let (reader, mut writer) = tokio::io::split(ours);
    let meta = Declares::Nothing.meta();
    let call = json!({ "name": "works", "arguments": {}, "_meta": meta });
    let call = json!({ "jsonrpc": "2.0", "id": "last", "method": "tools/call", "params": call });
    let bytes = [bytes, b"\n", call.to_string().as_bytes(), b"\n"].concat();
    // The server may answer before it has read everything.
    let written = tokio::spawn(async move {
        writer.write_all(&bytes).await.unwrap();
        writer
    });
    let mut lines = BufReader::new(reader).lines();
    let mut answers = Vec::new();
    while let Some(line) = lines.next_line().await.unwrap() {
        let message: Value = serde_json::from_str(&line).unwrap();
        let is_last = message["id"] == "last";
        answers.push(message);
        if is_last {
            break;
        }
    }
    drop((written.await.unwrap(), lines));
    serving.await.unwrap().unwrap();
    answers
}

#[tokio::test(start_paused = true)]
async fn a_line_that_is_not_json_is_answered_and_the_connection_goes_on() {
    let answers = answers(b"{ \"jsonrpc\": \nhello\n\xff\xfe\n").await;
    let (last, errors) = answers.split_last().unwrap();
    assert_eq!(last["result"]["content"][0]["text"], "it works");
    assert_eq!(errors.len(), 3);
    for error in errors {
        assert_eq!(error["error"]["code"], -32700, "{error}");
        assert_eq!(error.get("id"), None);
    }
    let why = errors[2]["error"]["message"].as_str().unwrap();
    assert_eq!(why, "this line is not UTF-8");
}

#[tokio::test(start_paused = true)]
async fn json_that_is_no_message_is_an_invalid_request() {
    let answers = answers(b"{}\n[]\n42\n{\"id\":7}\n").await;
    let (last, errors) = answers.split_last().unwrap();
    assert_eq!(last["result"]["content"][0]["text"], "it works");
    assert_eq!(errors.len(), 4);
    for error in errors {
        assert_eq!(error["error"]["code"], -32600, "{error}");
    }
}

#[tokio::test(start_paused = true)]
async fn blank_lines_byte_order_marks_and_notifications_that_nobody_knows_are_passed_over() {
    let unknown = r#"{"jsonrpc":"2.0","method":"$/setTrace","params":{"value":"off"}}"#;
    let mut bytes = b"\n\r\n  \n\xef\xbb\xbf\n".to_vec();
    // Before the first request nothing but requests may come.
    let meta = Declares::Nothing.meta();
    let list = json!({ "jsonrpc": "2.0", "id": "first", "method": "tools/list", "params": { "_meta": meta } });
    bytes.extend(list.to_string().bytes());
    bytes.extend(b"\n");
    bytes.extend(unknown.bytes());
    let answers = answers(&bytes).await;
    assert!(
        answers.iter().all(|answer| answer.get("error").is_none()),
        "{answers:?}"
    );
    assert_eq!(answers.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_line_without_end_is_refused_when_it_is_too_long_and_not_kept() {
    let mut bytes = vec![b'x'; 17 * 1024 * 1024];
    bytes.extend(b"\n");
    let answers = answers(&bytes).await;
    let (last, errors) = answers.split_last().unwrap();
    assert_eq!(last["result"]["content"][0]["text"], "it works");
    assert_eq!(errors.len(), 1);
    let why = errors[0]["error"]["message"].as_str().unwrap();
    assert!(why.contains("more than 16777216 bytes"), "{why}");
}
