//! How calls end that do not complete.

use rmcp::{model::ErrorCode, service::ServiceError};
use serde_json::{Value, json};
use siding::{
    client::{Answer, CallError, Event, Question},
    testing::{FakeServer, Reply},
};
use tokio::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

use super::{all, answering, asks, completed, connected, tasked, words, working, yes};
use crate::support::Log;

#[tokio::test(start_paused = true)]
async fn c05_a_token_cancels_the_task_and_the_last_event_carries_its_id() {
    let server = tasked(json!({}), [working()]);
    let client = connected(&server).await;
    let token = CancellationToken::new();
    let call = client.call("order", json!({})).cancel_on(token.clone());
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(3_500)).await;
        token.cancel();
    });
    let (events, error) = all(call.events()).await;
    assert_eq!(words(&events), ["created t1", "cancelled t1"]);
    assert!(error.is_none());
    assert_eq!(server.params("tasks/cancel")[0]["taskId"], "t1");
}

#[tokio::test(start_paused = true)]
async fn c05_a_token_cancels_while_the_person_answers_and_before_there_is_a_task() {
    let server = tasked(json!({}), [asks(["sure"])]);
    let token = CancellationToken::new();
    let raised = token.clone();
    let person = move |_: Question| {
        raised.cancel();
        std::future::pending::<Answer>()
    };
    let client = answering(&server, person).await;
    let call = client.call("order", json!({})).cancel_on(token.clone());
    let error = call.finish().await.unwrap_err();
    assert!(
        matches!(&error, CallError::Cancelled { id: Some(id) } if id == "t1"),
        "{error}"
    );
    assert_eq!(server.count("tasks/cancel"), 1);

    // The token is raised from the start: nothing is called.
    let call = client.call("order", json!({})).cancel_on(token.clone());
    let (events, _) = all(call.events()).await;
    assert_eq!(words(&events), ["cancelled the call"]);
    assert_eq!(server.count("tools/call"), 1);
    let (events, _) = all(client.resume("t1").cancel_on(token).events()).await;
    assert_eq!(words(&events), ["cancelled t1"]);
    assert_eq!(server.count("tasks/cancel"), 2);
}

/// The error of a task whose only state is this one.
async fn end_of(state: Value) -> (FakeServer, CallError) {
    let server = tasked(json!({}), [state]);
    let client = connected(&server).await;
    let error = client.call("order", json!({})).finish().await.unwrap_err();
    (server, error)
}

#[tokio::test(start_paused = true)]
async fn c10_a_failed_task_carries_the_error_whole() {
    let failure = json!({ "code": 429, "message": "too many", "data": { "reason": "over_limit" } });
    let (server, error) = end_of(json!({ "status": "failed", "error": failure })).await;
    assert_eq!(error.to_string(), "the task `t1` failed: too many (429)");
    let CallError::Failed { id, error } = error else {
        panic!("{error}");
    };
    assert_eq!(id, "t1");
    assert_eq!((error.code, &*error.message), (ErrorCode(429), "too many"));
    assert_eq!(error.data, Some(json!({ "reason": "over_limit" })));
    assert_eq!(
        server.count("tasks/cancel"),
        0,
        "there is nothing left to cancel"
    );
}

#[tokio::test(start_paused = true)]
async fn c10_cancelled_unreadable_and_unknown_are_told_apart() {
    let (server, error) = end_of(json!({ "status": "cancelled" })).await;
    assert!(
        matches!(&error, CallError::Cancelled { id: Some(id) } if id == "t1"),
        "{error}"
    );
    assert_eq!(server.count("tasks/cancel"), 0);

    let odd = json!({ "status": "completed", "result": { "content": "tea" } });
    let (_, error) = end_of(odd).await;
    assert!(matches!(error, CallError::Unreadable { .. }), "{error}");
    let odd = json!({ "status": "failed", "error": { "code": "many" } });
    let (_, error) = end_of(odd).await;
    assert!(matches!(error, CallError::Unreadable { .. }), "{error}");

    let odd = json!({ "status": "dreaming" });
    let (server, error) = end_of(odd).await;
    let CallError::UnknownPayload { id, payload } = &error else {
        panic!("{error}");
    };
    assert_eq!(id.as_deref(), Some("t1"));
    assert_eq!(payload["status"], "dreaming");
    assert_eq!(server.count("tasks/cancel"), 1, "it may still run");
}

#[tokio::test(start_paused = true)]
async fn c10_a_refused_call_is_told_with_the_error_whole() {
    let server = FakeServer::new();
    server.reply(Reply::error(-32021, "tasks are needed"));
    let client = connected(&server).await;
    let error = client.call("order", json!({})).finish().await.unwrap_err();
    let CallError::Refused(error) = error else {
        panic!("{error}");
    };
    assert_eq!(
        (error.code, &*error.message),
        (ErrorCode(-32021), "tasks are needed")
    );
    assert_eq!(server.count("notifications/cancelled"), 0);
}

#[tokio::test(start_paused = true)]
async fn c11_a_poll_that_fails_is_told_with_its_source_and_cancels_the_task() {
    let server = tasked(json!({}), [working()]);
    server.refuse("tasks/get", -32603, "out of order");
    let client = connected(&server).await;
    let error = client.call("order", json!({})).finish().await.unwrap_err();
    let source = std::error::Error::source(&error).unwrap().downcast_ref();
    let Some(ServiceError::McpError(source)) = source else {
        panic!("{error}");
    };
    assert_eq!(
        (source.code, &*source.message),
        (ErrorCode(-32603), "out of order")
    );
    assert!(
        matches!(&error, CallError::PollFailed { id, .. } if id == "t1"),
        "{error}"
    );
    assert_eq!(server.count("tasks/get"), 1);
    assert_eq!(server.count("tasks/cancel"), 1);
}

#[tokio::test(start_paused = true)]
async fn c11_an_update_that_fails_is_told_with_its_source_and_cancels_the_task() {
    let server = tasked(json!({}), [asks(["sure"])]);
    server.refuse("tasks/update", -32603, "out of order");
    let client = answering(&server, yes).await;
    let error = client.call("order", json!({})).finish().await.unwrap_err();
    assert!(
        std::error::Error::source(&error)
            .unwrap()
            .is::<ServiceError>()
    );
    assert!(
        matches!(&error, CallError::UpdateFailed { id, .. } if id == "t1"),
        "{error}"
    );
    assert_eq!(server.count("tasks/cancel"), 1);
}

#[tokio::test(start_paused = true)]
async fn c12_a_server_that_does_not_acknowledge_the_cancel_is_waited_for_a_second() {
    let server = tasked(json!({}), [working()]);
    server.ignore("tasks/cancel");
    let client = connected(&server).await;
    let call = client
        .call("order", json!({}))
        .timeout(Duration::from_secs(3));
    let start = Instant::now();
    let error = call.finish().await.unwrap_err();
    assert!(matches!(error, CallError::TimedOut { .. }), "{error}");
    assert_eq!(start.elapsed(), Duration::from_secs(4));
    assert_eq!(server.count("tasks/cancel"), 1);
}

#[tokio::test(start_paused = true)]
async fn c12_a_cancel_that_fails_is_logged_and_does_not_hide_why_the_call_ended() {
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt().with_writer(move || writer.clone());
    let _logging = tracing::subscriber::set_default(subscriber.finish());
    let server = tasked(json!({}), [working()]);
    server.refuse("tasks/cancel", -32603, "out of order");
    let client = connected(&server).await;
    let call = client
        .call("order", json!({}))
        .timeout(Duration::from_secs(3));
    let error = call.finish().await.unwrap_err();
    assert!(matches!(error, CallError::TimedOut { .. }), "{error}");
    let log = log.text();
    assert!(log.contains("the server cannot be told to stop"), "{log}");
}

#[tokio::test(start_paused = true)]
async fn c12_events_that_are_dropped_cancel_the_task() {
    let server = tasked(json!({}), [working(), completed("tea")]);
    let client = connected(&server).await;
    let mut events = client.call("order", json!({})).events();
    assert!(matches!(events.next().await, Some(Ok(Event::Created(_)))));
    // The connection outlives the client for as long as that takes.
    drop(client);
    drop(events);
    server.until("tasks/cancel").await;
    assert_eq!(server.params("tasks/cancel")[0]["taskId"], "t1");
}

#[tokio::test(start_paused = true)]
async fn c12_a_call_that_is_dropped_before_its_answer_is_cancelled_as_a_request() {
    let server = FakeServer::new();
    server.reply(Reply::silence());
    let client = connected(&server).await;
    let call = client.call("order", json!({})).finish();
    let dropped = tokio::time::timeout(Duration::from_secs(1), call).await;
    assert!(dropped.is_err());
    server.until("notifications/cancelled").await;
}

#[tokio::test(start_paused = true)]
async fn a_closed_connection_is_told_as_such() {
    let server = FakeServer::new();
    let client = connected(&server).await;
    client.clone().close().await;
    let error = client.call("order", json!({})).finish().await.unwrap_err();
    assert!(matches!(error, CallError::Transport(_)), "{error}");
}
