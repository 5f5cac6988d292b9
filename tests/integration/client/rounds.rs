//! Questions that come before the answer of a call: in rounds, and live from older servers.

use serde_json::{Value, json};
use siding::{
    client::{Answer, CallError, Question},
    testing::{FakeServer, Reply},
};
use tokio::time::{Duration, Instant};

use super::{all, answering, asks, completed, connected, form, words, yes};

#[tokio::test(start_paused = true)]
async fn c08_a_round_is_answered_by_calling_again_with_the_state_as_it_came() {
    let server = FakeServer::new();
    server.reply(Reply::round(json!({ "sure": form("Sure?") }), "s-1"));
    server.reply(Reply::round(json!({ "sure": form("Really?") }), "s-2"));
    server.reply(Reply::text("ordered"));
    let client = answering(&server, yes).await;
    let call = client.call("order", json!({ "tea": "Assam" }));
    let (events, error) = all(call.events()).await;
    assert!(error.is_none(), "{error:?}");
    // A key means nothing in the next round.
    assert_eq!(
        words(&events),
        ["asked sure", "asked sure", "result ordered"]
    );
    let calls = server.params("tools/call");
    assert_eq!(calls[0].get("requestState"), None);
    assert_eq!(calls[0].get("inputResponses"), None);
    let answer = json!({ "sure": { "action": "accept", "content": { "value": true } } });
    for (call, state) in calls[1..].iter().zip(["s-1", "s-2"]) {
        assert_eq!(call["requestState"], state);
        assert_eq!(call["inputResponses"], answer);
        assert_eq!(call["arguments"], json!({ "tea": "Assam" }));
    }
}

#[tokio::test(start_paused = true)]
async fn c08_a_round_may_come_before_a_task_and_its_keys_are_its_own() {
    let server = FakeServer::new();
    server.reply(Reply::round(json!({ "sure": form("Sure?") }), "s-1"));
    server.reply(Reply::task("t1", json!({})));
    server.task("t1", [asks(["sure"]), completed("tea")]);
    let client = answering(&server, yes).await;
    let (events, _) = all(client.call("order", json!({})).events()).await;
    let expected = [
        "asked sure",
        "created t1",
        "status",
        "asked sure",
        "completed tea",
    ];
    assert_eq!(words(&events), expected);
}

#[tokio::test(start_paused = true)]
async fn c08_a_round_without_questions_is_called_again_after_a_pause() {
    let server = FakeServer::new();
    let later = json!({ "resultType": "input_required", "requestState": "busy" });
    server.reply(Reply::result(later));
    server.reply(Reply::text("ordered"));
    let client = connected(&server).await;
    let began = Instant::now();
    client.call("order", json!({})).finish().await.unwrap();
    assert!(!began.elapsed().is_zero());
    let again = &server.params("tools/call")[1];
    assert_eq!(again["requestState"], "busy");
    assert_eq!(again.get("inputResponses"), None);
}

#[tokio::test(start_paused = true)]
async fn c09_a_round_that_nobody_can_answer_is_an_error() {
    let server = FakeServer::new();
    server.reply(Reply::round(json!({ "sure": form("Sure?") }), "s-1"));
    let client = connected(&server).await;
    let error = client.call("order", json!({})).finish().await.unwrap_err();
    assert!(
        matches!(&error, CallError::CannotAnswer { kind, .. } if kind == "form"),
        "{error}"
    );
    assert_eq!(server.count("tools/call"), 1);
}

#[tokio::test(start_paused = true)]
async fn c08_a_server_without_state_that_asks_the_same_for_ever_is_left() {
    let server = FakeServer::new();
    for _ in 0..20 {
        let asked = json!({ "sure": form("Sure?"), "name": form("Name?") });
        let round = json!({ "resultType": "input_required", "inputRequests": asked });
        server.reply(Reply::result(round));
    }
    let client = answering(&server, yes).await;
    let (events, error) = all(client.call("order", json!({})).events()).await;
    let Some(CallError::Unfit { key, violation }) = error else {
        panic!("{error:?}");
    };
    assert_eq!(
        [key, violation],
        ["name", "it is asked again, without a reason"]
    );
    assert_eq!(events.len(), 20);
}

#[tokio::test(start_paused = true)]
async fn c08_of_a_round_that_comes_again_only_what_does_not_fit_has_a_violation() {
    let server = FakeServer::new();
    let round = |sure: &str| {
        let asked = json!({ "name": form("Name?"), "sure": form(sure) });
        Reply::round(asked, "s-1")
    };
    server.reply(round("Sure?"));
    server.reply(round("That is no boolean. Sure?"));
    server.reply(round("Please be sure."));
    server.reply(Reply::text("ordered"));
    let (tells, told) = std::sync::mpsc::channel();
    let person = move |question: Question| {
        tells.send((question.key, question.violation)).unwrap();
        async { Answer::Accept(json!({ "value": true })) }
    };
    let client = answering(&server, person).await;
    client.call("order", json!({})).finish().await.unwrap();
    let told: Vec<_> = told.try_iter().collect();
    let told: Vec<_> = told
        .iter()
        .map(|(key, violation)| (key.as_str(), violation.as_deref()))
        .collect();
    let expected = [
        ("name", None),
        ("sure", None),
        ("name", None),
        ("sure", Some("That is no boolean.")),
        ("name", None),
        ("sure", Some("Please be sure.")),
    ];
    assert_eq!(told, expected);
}

fn question() -> Reply {
    Reply::question("elicitation/create", form("Sure?")["params"].clone())
}

#[tokio::test(start_paused = true)]
async fn c08_an_older_server_asks_live_and_is_answered_by_the_same_handler() {
    let server = FakeServer::older();
    server.reply(Reply::progress(1.0, None));
    server.reply(question());
    server.reply(question());
    server.reply(Reply::text("ordered"));
    let client = answering(&server, yes).await;
    let (events, error) = all(client.call("order", json!({})).events()).await;
    assert!(error.is_none(), "{error:?}");
    let expected = [
        "progress 1",
        "asked question",
        "asked question",
        "result ordered",
    ];
    assert_eq!(words(&events), expected);
    let answers = server.params("elicitation/create");
    let yes = json!({ "action": "accept", "content": { "value": true } });
    assert_eq!(answers, [yes.clone(), yes]);
    let declared = &server.params("initialize")[0]["capabilities"];
    assert_eq!(declared["elicitation"], json!({ "form": {} }));
}

#[tokio::test(start_paused = true)]
async fn c04_the_deadline_covers_live_questions_and_dismisses_them() {
    let server = FakeServer::older();
    server.reply(question());
    server.reply(Reply::silence());
    let never = |_: Question| std::future::pending::<Answer>();
    let client = answering(&server, never).await;
    let call = client
        .call("order", json!({}))
        .timeout(Duration::from_secs(5));
    let error = call.finish().await.unwrap_err();
    assert!(matches!(error, CallError::TimedOut { id: None }), "{error}");
    server.until("elicitation/create").await;
    let answers = server.params("elicitation/create");
    assert_eq!(answers, [json!({ "action": "cancel" })]);
    server.until("notifications/cancelled").await;
}

#[tokio::test(start_paused = true)]
async fn c09_a_live_question_that_nobody_can_answer_is_an_error() {
    let server = FakeServer::older();
    let params: Value = json!({
        "mode": "url", "message": "Sign in", "url": "https://login.example/", "elicitationId": "1",
    });
    server.reply(Reply::question("elicitation/create", params));
    server.reply(Reply::silence());
    let client = answering(&server, yes).await;
    let error = client.call("order", json!({})).finish().await.unwrap_err();
    assert!(
        matches!(&error, CallError::CannotAnswer { kind, .. } if kind == "url"),
        "{error}"
    );
    server.until("notifications/cancelled").await;
}
