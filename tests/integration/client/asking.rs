//! The questions of a task.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use siding::client::{Answer, Answers, Ask, CallError, Question};
use tokio::time::{Duration, Instant};

use super::{all, answering, asks, completed, connected, form, tasked, words, working, yes};

/// Remembers what it was asked, and says yes.
#[derive(Clone, Default)]
struct Recorder {
    asked: Arc<Mutex<Vec<Question>>>,
}

impl Recorder {
    fn asked(&self) -> Vec<(String, Option<String>)> {
        let asked = self.asked.lock().unwrap();
        let pairs = asked
            .iter()
            .map(|question| (question.key.clone(), question.violation.clone()));
        pairs.collect()
    }
}

impl Answers for Recorder {
    fn urls(&self) -> bool {
        true
    }

    async fn answer(&self, question: &Question) -> Answer {
        self.asked.lock().unwrap().push(question.clone());
        match question.ask {
            Ask::Url(_) => Answer::Accept(Value::Null),
            _ => Answer::Accept(json!({ "value": true })),
        }
    }
}

fn once(key: &str) -> (String, Option<String>) {
    (key.to_owned(), None)
}

#[tokio::test(start_paused = true)]
async fn c08_each_question_is_asked_once_and_all_of_a_poll_are_answered_in_one_update() {
    let states = [
        asks(["one", "two"]),
        asks(["two", "three"]),
        completed("tea"),
    ];
    let server = tasked(json!({}), states);
    let person = Recorder::default();
    let client = answering(&server, person.clone()).await;
    client.call("order", json!({})).finish().await.unwrap();
    assert_eq!(person.asked(), [once("one"), once("two"), once("three")]);
    let updates = server.params("tasks/update");
    let keys = |update: &Value| -> Vec<String> {
        let responses = update["inputResponses"].as_object().unwrap();
        responses.keys().cloned().collect()
    };
    assert_eq!(updates.len(), 2);
    assert_eq!(keys(&updates[0]), ["one", "two"]);
    assert_eq!(keys(&updates[1]), ["three"]);
}

#[tokio::test(start_paused = true)]
async fn c08_an_answer_may_become_visible_late() {
    let states = [
        asks(["sure"]),
        asks(["sure"]),
        asks(["sure"]),
        working(),
        completed("tea"),
    ];
    let server = tasked(json!({}), states);
    let person = Recorder::default();
    let client = answering(&server, person.clone()).await;
    client.call("order", json!({})).finish().await.unwrap();
    assert_eq!(person.asked(), [once("sure")]);
    assert_eq!(server.count("tasks/update"), 1);
}

#[tokio::test(start_paused = true)]
async fn c08_a_question_that_stays_after_its_answer_was_taken_is_an_error_and_the_end() {
    for (interval, gets) in [(1_000, 7), (100, 51)] {
        let server = tasked(json!({ "pollIntervalMs": interval }), [asks(["sure"])]);
        let person = Recorder::default();
        let client = answering(&server, person.clone()).await;
        let error = client.call("order", json!({})).finish().await.unwrap_err();
        assert!(
            matches!(&error, CallError::StillAsked { key } if key == "sure"),
            "{error}"
        );
        assert_eq!(person.asked(), [once("sure")]);
        assert_eq!(server.count("tasks/get"), gets);
        assert_eq!(server.count("tasks/cancel"), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn c08_a_refused_answer_is_asked_for_again_with_the_reason() {
    let states = [asks(["sure"]), asks(["sure"]), completed("tea")];
    let server = tasked(json!({}), states);
    server.refuse("tasks/update", -32602, "`sure` must be a boolean");
    let person = Recorder::default();
    let client = answering(&server, person.clone()).await;
    client.call("order", json!({})).finish().await.unwrap();
    let again = (
        "sure".to_owned(),
        Some("`sure` must be a boolean".to_owned()),
    );
    assert_eq!(person.asked(), [once("sure"), again]);
    assert_eq!(server.count("tasks/update"), 2);
}

#[tokio::test(start_paused = true)]
async fn c08_whoever_has_no_answer_that_fits_is_not_asked_for_ever() {
    let server = tasked(json!({}), [asks(["sure"])]);
    for _ in 0..20 {
        server.refuse("tasks/update", -32602, "`sure` must be a boolean");
    }
    let person = Recorder::default();
    let client = answering(&server, person.clone()).await;
    let error = client.call("order", json!({})).finish().await.unwrap_err();
    let CallError::Unfit { key, violation } = error else {
        panic!("{error}");
    };
    assert_eq!([key, violation], ["sure", "`sure` must be a boolean"]);
    assert_eq!(person.asked().len(), 10);
    assert_eq!(server.count("tasks/cancel"), 1);
}

#[tokio::test(start_paused = true)]
async fn c08_answers_that_are_refused_together_are_sent_one_by_one() {
    let states = [asks(["one", "two"]), asks(["two"]), completed("tea")];
    let server = tasked(json!({}), states);
    server.refuse("tasks/update", -32602, "something does not fit");
    let person = Recorder::default();
    let client = answering(&server, person.clone()).await;
    let call = client.call("order", json!({}));
    call.finish().await.unwrap();
    assert_eq!(person.asked(), [once("one"), once("two")]);
    assert_eq!(server.count("tasks/update"), 3);
}

#[tokio::test(start_paused = true)]
async fn c08_a_person_may_decline_and_dismiss() {
    let server = tasked(json!({}), [asks(["one", "two"]), completed("tea")]);
    let person = |question: Question| async move {
        match question.key.as_str() {
            "one" => Answer::Decline,
            _ => Answer::Dismiss,
        }
    };
    let client = answering(&server, person).await;
    client.call("order", json!({})).finish().await.unwrap();
    let responses = &server.params("tasks/update")[0]["inputResponses"];
    let expected = json!({ "one": { "action": "decline" }, "two": { "action": "cancel" } });
    assert_eq!(responses, &expected);
}

#[tokio::test(start_paused = true)]
async fn c08_an_address_is_put_as_one_and_accepted_without_content() {
    let request = json!({
        "method": "elicitation/create",
        "params": { "mode": "url", "message": "Sign in", "url": "https://login.example/" },
    });
    let asked = json!({ "status": "input_required", "inputRequests": { "login": request } });
    let server = tasked(json!({}), [asked, completed("tea")]);
    let person = Recorder::default();
    let client = answering(&server, person.clone()).await;
    client.call("order", json!({})).finish().await.unwrap();
    let question = person.asked.lock().unwrap()[0].clone();
    assert_eq!(question.message, "Sign in");
    assert_eq!(question.ask, Ask::Url("https://login.example/".to_owned()));
    let responses = &server.params("tasks/update")[0]["inputResponses"];
    assert_eq!(responses, &json!({ "login": { "action": "accept" } }));
    let meta = &server.params("tools/call")[0]["_meta"];
    let capabilities = &meta["io.modelcontextprotocol/clientCapabilities"];
    assert_eq!(
        capabilities["elicitation"],
        json!({ "form": {}, "url": {} })
    );
}

#[tokio::test(start_paused = true)]
async fn c09_what_cannot_be_answered_is_an_error_that_names_it_and_the_end_of_the_task() {
    let url = json!({
        "method": "elicitation/create",
        "params": { "mode": "url", "message": "Sign in", "url": "https://login.example/" },
    });
    let sampling = json!({
        "method": "sampling/createMessage",
        "params": { "messages": [], "maxTokens": 1 },
    });
    let dreaming = json!({ "method": "dreams/list", "params": {} });
    let voice = json!({
        "method": "elicitation/create",
        "params": { "mode": "voice", "message": "Sing" },
    });
    let cases = [
        (url, "url"),
        (sampling, "sampling/createMessage"),
        (json!({ "method": "roots/list" }), "roots/list"),
        (dreaming, "dreams/list"),
        (voice, "elicitation/create, mode voice"),
    ];
    for (request, wanted) in cases {
        let requests = json!({ "a": form("Sure?"), "odd": request });
        let asked = json!({ "status": "input_required", "inputRequests": requests });
        let server = tasked(json!({}), [asked]);
        let client = answering(&server, yes).await;
        let (events, error) = all(client.call("order", json!({})).events()).await;
        // Nobody is asked in vain.
        assert!(
            !words(&events).contains(&"asked a".to_owned()),
            "{events:?}"
        );
        let Some(CallError::CannotAnswer { key, kind }) = error else {
            panic!("{wanted}: {error:?}");
        };
        assert_eq!((key.as_str(), kind.as_str()), ("odd", wanted));
        assert_eq!(server.count("tasks/update"), 0);
        assert_eq!(server.count("tasks/cancel"), 1, "{wanted}");
    }
}

#[tokio::test(start_paused = true)]
async fn c09_a_form_that_nobody_answers_is_an_error() {
    let server = tasked(json!({}), [asks(["sure"])]);
    let client = connected(&server).await;
    let error = client.call("order", json!({})).finish().await.unwrap_err();
    assert!(
        matches!(&error, CallError::CannotAnswer { kind, .. } if kind == "form"),
        "{error}"
    );
    assert_eq!(server.count("tasks/cancel"), 1);

    let server = tasked(json!({}), [asks(["sure"])]);
    let client = answering(&server, |_: Question| async { Answer::Unable }).await;
    let error = client.call("order", json!({})).finish().await.unwrap_err();
    assert!(matches!(error, CallError::CannotAnswer { .. }), "{error}");
    assert_eq!(server.count("tasks/cancel"), 1);
}

#[tokio::test(start_paused = true)]
async fn the_person_takes_the_time_it_takes() {
    let server = tasked(json!({}), [asks(["sure"]), completed("tea")]);
    let slow = |_: Question| async {
        tokio::time::sleep(Duration::from_hours(1)).await;
        Answer::Accept(json!({ "value": true }))
    };
    let client = answering(&server, slow).await;
    let start = Instant::now();
    client.call("order", json!({})).finish().await.unwrap();
    assert_eq!(start.elapsed(), Duration::from_secs(3_602));
}
