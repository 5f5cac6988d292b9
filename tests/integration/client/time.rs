//! Polls, the deadline, and the time to live.

use serde_json::{Value, json};
use siding::{
    client::{Answer, CallError, Question},
    testing::{FakeServer, Reply},
};
use tokio::time::{Duration, Instant};

use super::{all, answering, asks, completed, connected, tasked, words, working};

const SECOND: Duration = Duration::from_secs(1);

/// How long a task takes that is at work for three polls.
async fn duration(members: Value) -> Duration {
    let server = tasked(members, [working(), working(), working(), completed("tea")]);
    let client = connected(&server).await;
    let start = Instant::now();
    client.call("order", json!({})).finish().await.unwrap();
    assert_eq!(server.count("tasks/get"), 4);
    start.elapsed()
}

#[tokio::test(start_paused = true)]
async fn c03_polls_as_often_as_the_task_says() {
    let took = duration(json!({ "pollIntervalMs": 200 })).await;
    assert_eq!(took, Duration::from_millis(4 * 200));
}

#[tokio::test(start_paused = true)]
async fn c03_polls_each_second_where_the_server_names_no_interval_or_none_at_all() {
    assert_eq!(duration(json!({})).await, 4 * SECOND);
    assert_eq!(duration(json!({ "pollIntervalMs": 0 })).await, 4 * SECOND);
}

#[tokio::test(start_paused = true)]
async fn c03_the_interval_may_change_on_the_way() {
    let states = [
        json!({ "status": "working", "pollIntervalMs": 5_000 }),
        completed("tea"),
    ];
    let server = tasked(json!({ "pollIntervalMs": 200 }), states);
    let client = connected(&server).await;
    let start = Instant::now();
    client.call("order", json!({})).finish().await.unwrap();
    assert_eq!(start.elapsed(), Duration::from_millis(5_200));
}

/// Lets a call of this server time out after 2.5 s.
async fn times_out(server: &FakeServer, answer: impl siding::client::Answers) -> Option<String> {
    let client = answering(server, answer).await;
    let start = Instant::now();
    let call = client.call("order", json!({}));
    let error = call
        .timeout(Duration::from_millis(2_500))
        .finish()
        .await
        .unwrap_err();
    assert_eq!(start.elapsed(), Duration::from_millis(2_500));
    match error {
        CallError::TimedOut { id } => id,
        other => panic!("{other}"),
    }
}

async fn never(_: Question) -> Answer {
    std::future::pending().await
}

#[tokio::test(start_paused = true)]
async fn c04_the_deadline_covers_polls_and_waits_and_cancels_the_task() {
    let server = tasked(json!({}), [working()]);
    assert_eq!(times_out(&server, never).await.as_deref(), Some("t1"));
    assert_eq!(server.count("tasks/get"), 2);
    assert_eq!(server.params("tasks/cancel")[0]["taskId"], "t1");
}

#[tokio::test(start_paused = true)]
async fn c04_the_deadline_covers_the_answering_of_the_person() {
    let server = tasked(json!({}), [asks(["sure"])]);
    assert_eq!(times_out(&server, never).await.as_deref(), Some("t1"));
    assert_eq!(server.count("tasks/update"), 0);
    assert_eq!(server.count("tasks/cancel"), 1);
}

#[tokio::test(start_paused = true)]
async fn c04_the_deadline_covers_requests_and_tells_the_server_which_to_forget() {
    let server = FakeServer::new();
    server.reply(Reply::silence());
    assert_eq!(times_out(&server, never).await, None);
    assert_eq!(server.count("notifications/cancelled"), 1);

    let server = tasked(json!({}), [working()]);
    server.ignore("tasks/get");
    assert_eq!(times_out(&server, never).await.as_deref(), Some("t1"));
    assert_eq!(server.count("tasks/cancel"), 1);
}

#[tokio::test(start_paused = true)]
async fn c06_a_task_that_expired_is_not_polled_again() {
    // Created when the virtual clock starts.
    let server = tasked(json!({ "ttlMs": 2_500 }), [working()]);
    let client = connected(&server).await;
    let start = Instant::now();
    let (events, error) = all(client.call("order", json!({})).events()).await;
    assert_eq!(words(&events), ["created t1"]);
    assert!(
        matches!(&error, Some(CallError::Expired { id }) if id == "t1"),
        "{error:?}"
    );
    assert_eq!(start.elapsed(), Duration::from_millis(2_500));
    assert_eq!(server.count("tasks/get"), 2);
}

#[tokio::test(start_paused = true)]
async fn c06_a_task_that_is_expired_when_it_is_made_is_not_polled_at_all() {
    let created = json!({ "createdAt": "2026-11-29T11:00:00+00:00", "ttlMs": 1_000 });
    let server = tasked(created, [working()]);
    let client = connected(&server).await;
    let error = client.call("order", json!({})).finish().await.unwrap_err();
    assert!(matches!(error, CallError::Expired { .. }), "{error}");
    assert_eq!(server.count("tasks/get"), 0);
}

#[tokio::test(start_paused = true)]
async fn c06_a_question_ends_when_its_task_expires() {
    let server = tasked(json!({ "ttlMs": 60_000 }), [asks(["sure"])]);
    let client = answering(&server, never).await;
    let start = Instant::now();
    let error = client.call("order", json!({})).finish().await.unwrap_err();
    assert!(matches!(error, CallError::Expired { .. }), "{error}");
    assert_eq!(start.elapsed(), 60 * SECOND);
}

#[tokio::test(start_paused = true)]
async fn c06_what_cannot_be_counted_and_what_has_ended_never_expires() {
    let never_expire = [
        json!({ "ttlMs": u64::MAX }),
        json!({ "ttlMs": 1, "createdAt": "half past nine" }),
        json!({ "ttlMs": null, "createdAt": "2020-01-01T00:00:00Z" }),
    ];
    for members in never_expire {
        assert_eq!(duration(members).await, 4 * SECOND);
    }
    let ended = json!({
        "status": "completed", "ttlMs": 1, "createdAt": "2020-01-01T00:00:00Z",
    });
    let server = tasked(ended, [completed("tea")]);
    let client = connected(&server).await;
    client.call("order", json!({})).finish().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn c07_a_timeout_without_end_works() {
    let server = tasked(json!({}), [working(), completed("tea")]);
    let client = connected(&server).await;
    let call = client.call("order", json!({})).timeout(Duration::MAX);
    call.finish().await.unwrap();
}
