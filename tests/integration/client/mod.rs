//! `siding::client` against a server that says what the test wrote down, and against ours.

mod asking;
mod drive;
mod ends;
mod events;
mod fake;
mod rounds;
mod serving;
mod time;

use serde_json::{Value, json};
use siding::{
    client::{Answer, Answers, CallError, Client, Event, Events, Question},
    testing::{FakeServer, Reply},
};

use crate::support::VirtualHost;

/// A client that nobody answers for.
async fn connected(server: &FakeServer) -> Client {
    let builder = Client::builder("tests", "1.0.0").host(VirtualHost::new());
    builder.connect(server.connect()).await.unwrap()
}

/// A client whose questions are answered like this.
async fn answering(server: &FakeServer, answers: impl Answers) -> Client {
    let builder = Client::builder("tests", "1.0.0").host(VirtualHost::new());
    let builder = builder.answers(answers);
    builder.connect(server.connect()).await.unwrap()
}

/// Says yes to everything.
async fn yes(_: Question) -> Answer {
    Answer::Accept(json!({ "value": true }))
}

/// A server whose next call becomes the task `t1`, which goes through these states.
fn tasked<const N: usize>(members: Value, states: [Value; N]) -> FakeServer {
    let server = FakeServer::new();
    server.reply(Reply::task("t1", members));
    server.task("t1", states);
    server
}

fn working() -> Value {
    json!({ "status": "working" })
}

/// A state in which these questions are open.
fn asks<const N: usize>(keys: [&str; N]) -> Value {
    let requests: serde_json::Map<_, _> = keys
        .into_iter()
        .map(|key| (key.to_owned(), form(key)))
        .collect();
    json!({ "status": "input_required", "inputRequests": requests })
}

/// The request of a form with one field.
fn form(message: &str) -> Value {
    json!({
        "method": "elicitation/create",
        "params": {
            "mode": "form",
            "message": message,
            "requestedSchema": {
                "type": "object", "properties": { "value": { "type": "boolean" } },
            },
        },
    })
}

fn completed(text: &str) -> Value {
    let result = json!({ "content": [{ "type": "text", "text": text }] });
    json!({ "status": "completed", "result": result })
}

/// All events, and the error after them.
async fn all(mut events: Events) -> (Vec<Event>, Option<CallError>) {
    let mut seen = Vec::new();
    while let Some(event) = events.next().await {
        match event {
            Ok(event) => seen.push(event),
            Err(error) => {
                assert!(events.next().await.is_none(), "an error is the last");
                return (seen, Some(error));
            }
        }
    }
    (seen, None)
}

/// The events in a word each.
fn words(events: &[Event]) -> Vec<String> {
    let word = |event: &Event| match event {
        Event::Result(result) => format!("result {}", text(result)),
        Event::Created(task) => format!("created {}", task.task_id),
        Event::Status(task) => match &task.status_message {
            Some(message) => format!("status {message}"),
            None => "status".to_owned(),
        },
        Event::Asked(question) => format!("asked {}", question.key),
        Event::Progress(progress) => format!("progress {}", progress.done),
        Event::Completed(result) => format!("completed {}", text(result)),
        Event::Cancelled { id } => format!("cancelled {}", id.as_deref().unwrap_or("the call")),
        other => format!("{other:?}"),
    };
    events.iter().map(word).collect()
}

fn text(result: &rmcp::model::CallToolResult) -> &str {
    &result.content[0].as_text().unwrap().text
}
