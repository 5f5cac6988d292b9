//! The client against a real server.

use std::sync::{Arc, Mutex};

use rmcp::transport::StreamableHttpClientTransport;
use serde_json::json;
use siding::{
    client::{Answer, CallError, Client, ClientBuilder, Event, Question},
    prelude::*,
};
use tokio::{net::TcpListener, time::Duration};

use super::{all, text, words};

/// What the person fills in.
#[derive(Input)]
struct Approval {
    /// Go ahead?
    approve: bool,
    cups: u8,
}

/// Orders tea.
#[mcp_tool(task = "required", poll = "5ms")]
async fn order(ctx: &mut Ctx, tea: String) -> Result<String> {
    let approval: Approval = ctx.input(format!("Order {tea}?")).await?;
    ctx.status("brewing");
    let (name, spoons): (String, u8) = ctx.input_all(("For whom?", "Sugar?")).await?;
    Ok(format!(
        "{} {tea} with {spoons} for {name}: {}",
        approval.cups, approval.approve
    ))
}

/// Asks in a round, and again as a task.
#[mcp_tool(task = "optional", detach = "manual", poll = "5ms")]
async fn brew(ctx: &mut Ctx) -> Result<String> {
    let leaves: u8 = ctx.input("How many leaves?").await?;
    ctx.detach().await?;
    let name: String = ctx.input("For whom?").await?;
    Ok(format!("{leaves} leaves for {name}"))
}

/// Greets.
#[mcp_tool]
async fn greet(name: String) -> String {
    format!("Hello, {name}!")
}

/// Makes a client one of its kind.
type Kind = fn(ClientBuilder) -> ClientBuilder;

/// The question as each of these clients is asked it, until it gives up.
async fn stubborn(kind: Kind) -> Vec<Option<String>> {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let seen = asked.clone();
    let wrong = move |question: Question| {
        seen.lock().unwrap().push(question.violation);
        async { Answer::Accept(json!({ "leaves": 3 })) }
    };
    let (near, far) = tokio::io::duplex(4096);
    let (reader, writer) = tokio::io::split(far);
    let _server = tokio::spawn(server().serve(reader, writer));
    let builder = kind(Client::builder("tests", "1.0.0")).answers(wrong);
    let client = builder.connect(near).await.unwrap();
    let error = client.call("brew", json!({})).finish().await.unwrap_err();
    let CallError::Unfit { key, violation } = error else {
        panic!("{error}");
    };
    assert_eq!(key, "leaves");
    assert_eq!(violation, "`value` is missing.");
    asked.lock().unwrap().clone()
}

fn server() -> Server {
    Server::new("tea", "1.0.0").tools(tools![order, brew, greet])
}

/// Answers `approval` and `spoons` wrong at first.
async fn person(question: Question) -> Answer {
    Answer::Accept(match (question.key.as_str(), question.violation) {
        ("approval", None) => json!({ "approve": true, "cups": "many" }),
        ("approval", Some(violation)) => {
            assert!(violation.contains("cups"), "{violation}");
            json!({ "approve": true, "cups": 2 })
        }
        ("spoons", None) => json!({ "value": -1 }),
        ("spoons", Some(violation)) => {
            assert!(violation.contains("spoons"), "{violation}");
            json!({ "value": 3 })
        }
        _ => json!({ "value": "Ada" }),
    })
}

async fn drive(client: &Client) {
    let names: Vec<_> = client
        .tools()
        .await
        .unwrap()
        .into_iter()
        .map(|tool| tool.name)
        .collect();
    assert_eq!(names, ["order", "brew", "greet"]);
    let result = client
        .call("greet", json!({ "name": "Ada" }))
        .finish()
        .await;
    assert_eq!(text(&result.unwrap()), "Hello, Ada!");
    let (events, error) = all(client.call("order", json!({ "tea": "Assam" })).events()).await;
    assert!(error.is_none(), "{error:?}");
    let words = words(&events);
    assert!(words[0].starts_with("created "), "{words:?}");
    let asked: Vec<_> = words
        .iter()
        .filter(|word| word.starts_with("asked"))
        .collect();
    // The name was fine, so it is not asked for again.
    assert_eq!(
        asked,
        [
            "asked approval",
            "asked approval",
            "asked name",
            "asked spoons",
            "asked spoons"
        ]
    );
    assert_eq!(
        words.last().unwrap(),
        "completed 2 Assam with 3 for Ada: true"
    );
}

#[tokio::test]
async fn c08_a_task_of_ours_is_driven_over_a_duplex_with_wrong_answers_first() {
    let (ours, theirs) = tokio::io::duplex(16 * 1024);
    let (reader, writer) = tokio::io::split(theirs);
    let serving = tokio::spawn(server().serve(reader, writer));
    let builder = Client::builder("tests", "1.0.0").answers(person);
    let client = builder.connect(ours).await.unwrap();
    drive(&client).await;
    client.close().await;
    serving.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn c08_a_round_of_ours_is_answered_and_asked_again_where_it_does_not_fit() {
    let (ours, theirs) = tokio::io::duplex(16 * 1024);
    let (reader, writer) = tokio::io::split(theirs);
    let serving = tokio::spawn(server().serve(reader, writer));
    let patient = |question: Question| async move {
        // What is wrong comes first in the message of a round.
        let fits = question.message.starts_with('`') || question.key == "name";
        Answer::Accept(match question.key.as_str() {
            "leaves" if fits => json!({ "value": 3 }),
            "leaves" => json!({ "value": "some" }),
            _ => json!({ "value": "Ada" }),
        })
    };
    let builder = Client::builder("tests", "1.0.0").answers(patient);
    let client = builder.connect(ours).await.unwrap();
    let (events, error) = all(client.call("brew", json!({})).events()).await;
    assert!(error.is_none(), "{error:?}");
    let story = words(&events);
    assert_eq!(&story[..2], ["asked leaves", "asked leaves"]);
    assert!(story[2].starts_with("created "), "{story:?}");
    let Some(Event::Completed(result)) = events.last() else {
        panic!("{story:?}");
    };
    assert_eq!(text(result), "3 leaves for Ada");
    client.close().await;
    serving.await.unwrap().unwrap();
}

#[tokio::test]
async fn c01_a_task_of_ours_is_driven_over_http() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let serving = tokio::spawn(server().serve_listener(listener));
    let transport = StreamableHttpClientTransport::from_uri(format!("http://{address}/mcp"));
    let builder = Client::builder("tests", "1.0.0").answers(person);
    let client = builder.connect(transport).await.unwrap();
    drive(&client).await;
    client.close().await;
    serving.abort();
}

#[tokio::test]
async fn c12_events_that_are_dropped_cancel_a_task_of_ours() {
    let server = server();
    let tasks = server.tasks();
    let (ours, theirs) = tokio::io::duplex(16 * 1024);
    let (reader, writer) = tokio::io::split(theirs);
    tokio::spawn(server.serve(reader, writer));
    let never = |_: Question| std::future::pending::<Answer>();
    let builder = Client::builder("tests", "1.0.0").answers(never);
    let client = builder.connect(ours).await.unwrap();
    let mut events = client.call("order", json!({ "tea": "Assam" })).events();
    let Some(Ok(Event::Created(task))) = events.next().await else {
        panic!("no task");
    };
    drop(events);
    let id = task.task_id.as_str().into();
    let ended = tokio::time::timeout(Duration::from_secs(5), tasks.wait(&id));
    let ended = ended.await.expect("it is cancelled").unwrap();
    assert_eq!(ended.status(), siding::record::Status::Cancelled);
}

#[tokio::test]
async fn c10_bad_arguments_and_unknown_tools_of_ours_are_told_apart() {
    let (ours, theirs) = tokio::io::duplex(16 * 1024);
    let (reader, writer) = tokio::io::split(theirs);
    tokio::spawn(server().serve(reader, writer));
    let client = Client::builder("tests", "1.0.0")
        .connect(ours)
        .await
        .unwrap();
    let result = client.call("order", json!({})).finish().await.unwrap();
    assert_eq!(result.is_error, Some(true));
    let error = client
        .call("nothing", json!({}))
        .finish()
        .await
        .unwrap_err();
    assert!(matches!(error, CallError::Refused(_)), "{error}");
}

#[tokio::test(start_paused = true)]
async fn c08_a_round_whose_answers_never_fit_ends_with_the_reason() {
    let kinds: [Kind; 2] = [ClientBuilder::without_tasks, |builder| builder];
    for kind in kinds {
        let asked = stubborn(kind).await;
        assert_eq!(asked.len(), 10);
        assert_eq!(asked[0], None);
        let violation = Some("`value` is missing.".to_owned());
        assert!(asked[1..].iter().all(|it| *it == violation), "{asked:?}");
    }
}

/// Asks one question of each kind of client.
#[mcp_tool(task = "optional", poll = "5ms")]
async fn pick(ctx: &mut Ctx) -> Result<String> {
    let leaves: u8 = ctx.input("How many leaves?").await?;
    Ok(format!("{leaves} leaves"))
}

#[tokio::test(start_paused = true)]
async fn c08_a_client_can_be_told_to_follow_no_tasks_and_to_be_an_older_one() {
    let three = |_: Question| async { Answer::Accept(json!({ "value": 3 })) };
    let kinds: [(Kind, &[&str]); 3] = [
        (|builder| builder, &["created", "completed"]),
        (ClientBuilder::without_tasks, &["result"]),
        (ClientBuilder::older, &["result"]),
    ];
    for (kind, expected) in kinds {
        let (near, far) = tokio::io::duplex(4096);
        let (reader, writer) = tokio::io::split(far);
        let _server = tokio::spawn(
            Server::new("tea", "1.0.0")
                .tool::<pick>()
                .serve(reader, writer),
        );
        let builder = kind(Client::builder("tests", "1.0.0")).answers(three);
        let client = builder.connect(near).await.unwrap();
        let (events, error) = all(client.call("pick", json!({})).events()).await;
        assert!(error.is_none(), "{error:?}");
        let ends: Vec<_> = words(&events)
            .iter()
            .filter_map(|word| word.split_once(' ').map(|(kind, _)| kind.to_owned()))
            .filter(|kind| !["asked", "status"].contains(&kind.as_str()))
            .collect();
        assert_eq!(ends, expected);
        let last = events.last().unwrap();
        let (Event::Result(result) | Event::Completed(result)) = last else {
            panic!("{last:?}");
        };
        assert_eq!(text(result), "3 leaves");
    }
}
