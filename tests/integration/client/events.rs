//! What is seen of a call.

use futures::StreamExt;
use serde_json::json;
use siding::{
    client::{CallError, Event},
    testing::{FakeServer, Reply},
};

use super::{all, answering, asks, completed, connected, tasked, text, words, working, yes};

#[tokio::test(start_paused = true)]
async fn c01_a_result_in_the_call_is_the_only_event() {
    let server = FakeServer::new();
    server.reply(Reply::text("hello"));
    let client = connected(&server).await;
    let call = client.call("greet", json!({ "name": "Ada" }));
    let (events, error) = all(call.events()).await;
    assert_eq!(words(&events), ["result hello"]);
    assert!(error.is_none());
    let call = &server.params("tools/call")[0];
    assert_eq!(call["name"], "greet");
    assert_eq!(call["arguments"], json!({ "name": "Ada" }));
}

#[tokio::test(start_paused = true)]
async fn c01_a_task_is_created_seen_at_work_asked_about_and_completed() {
    let states = [
        json!({ "status": "working", "statusMessage": "brewing" }),
        json!({ "status": "working", "statusMessage": "brewing" }),
        asks(["sure"]),
        json!({ "status": "working", "statusMessage": "pouring" }),
        completed("tea"),
    ];
    let server = tasked(json!({}), states);
    let client = answering(&server, yes).await;
    let (events, error) = all(client.call("order", json!({})).events()).await;
    // A state that has not changed is not told again.
    assert_eq!(
        words(&events),
        [
            "created t1",
            "status brewing",
            "status",
            "asked sure",
            "status pouring",
            "completed tea",
        ]
    );
    assert!(error.is_none());
    assert_eq!(server.count("tasks/get"), 5);
    assert_eq!(server.count("tasks/cancel"), 0);
    let update = &server.params("tasks/update")[0];
    assert_eq!(update["taskId"], "t1");
    let answer = json!({ "sure": { "action": "accept", "content": { "value": true } } });
    assert_eq!(update["inputResponses"], answer);
}

#[tokio::test(start_paused = true)]
async fn c01_every_request_declares_what_the_client_can() {
    let server = tasked(json!({}), [asks(["sure"]), completed("tea")]);
    let client = answering(&server, yes).await;
    client.call("order", json!({})).finish().await.unwrap();
    let declared = json!({
        "elicitation": { "form": {} },
        "extensions": { "io.modelcontextprotocol/tasks": {} },
    });
    for asked in server.received() {
        let meta = &asked.params["_meta"];
        let capabilities = &meta["io.modelcontextprotocol/clientCapabilities"];
        assert_eq!(capabilities, &declared, "{}", asked.method);
        assert_eq!(
            meta["io.modelcontextprotocol/protocolVersion"],
            "2026-07-28"
        );
    }
    let server = FakeServer::new();
    server.reply(Reply::text("hello"));
    let client = connected(&server).await;
    client.call("greet", json!({})).finish().await.unwrap();
    let meta = &server.params("tools/call")[0]["_meta"];
    let capabilities = &meta["io.modelcontextprotocol/clientCapabilities"];
    assert_eq!(capabilities.get("elicitation"), None, "nobody answers");
}

#[tokio::test(start_paused = true)]
async fn c01_a_task_is_resumed_by_its_id() {
    let server = FakeServer::new();
    server.reply(Reply::task("t1", json!({})));
    server.task("t1", [working(), working(), completed("tea")]);
    let client = connected(&server).await;
    let mut events = client.call("order", json!({})).events();
    let Some(Ok(Event::Created(task))) = events.next().await else {
        panic!("no task");
    };
    // As a program that ends without a word.
    std::mem::forget(events);
    let again = connected(&server).await;
    let (events, error) = all(again.resume(task.task_id).events()).await;
    assert_eq!(words(&events), ["status", "completed tea"]);
    assert!(error.is_none());
}

#[tokio::test(start_paused = true)]
async fn c01_the_tools_of_all_pages_are_listed() {
    let server = FakeServer::new();
    for name in ["one", "two", "three"] {
        server.tool(json!({ "name": name, "inputSchema": { "type": "object" } }));
    }
    let client = connected(&server).await;
    let tools = client.tools().await.unwrap();
    let names: Vec<_> = tools.iter().map(|tool| tool.name.as_ref()).collect();
    assert_eq!(names, ["one", "two", "three"]);
    assert_eq!(server.count("tools/list"), 3);
}

#[tokio::test(start_paused = true)]
async fn c01_arguments_that_are_no_object_are_not_sent() {
    let server = FakeServer::new();
    let client = connected(&server).await;
    let error = client.call("greet", "Ada").finish().await.unwrap_err();
    assert!(matches!(error, CallError::Arguments { .. }), "{error}");
    assert_eq!(server.count("tools/call"), 0);
}

#[tokio::test(start_paused = true)]
async fn c02_progress_before_and_after_the_task_was_made_comes_in_its_place() {
    let server = FakeServer::new();
    server.reply(Reply::progress(1.0, Some(3.0)));
    server.reply(Reply::task("t1", json!({})));
    server.task("t1", [working(), completed("tea")]);
    let client = connected(&server).await;
    let mut events = client.call("order", json!({})).events();
    let mut seen = Vec::new();
    while let Some(event) = StreamExt::next(&mut events).await {
        let event = event.unwrap();
        if matches!(event, Event::Created(_)) {
            server.progress(2.0, Some(3.0));
            server.progress(3.0, Some(3.0));
        }
        seen.push(event);
    }
    // After the last progress the task goes on by itself.
    assert_eq!(
        words(&seen),
        [
            "progress 1",
            "created t1",
            "progress 2",
            "progress 3",
            "completed tea"
        ]
    );
    let Event::Progress(progress) = &seen[0] else {
        panic!("{seen:?}");
    };
    assert_eq!(progress.total, Some(3.0));
}

#[tokio::test(start_paused = true)]
async fn c02_progress_of_another_call_is_not_this_ones() {
    let server = FakeServer::new();
    server.reply(Reply::task("t1", json!({})));
    server.task("t1", [working(), working(), completed("tea")]);
    let client = connected(&server).await;
    let mut first = client.call("order", json!({})).events();
    assert!(matches!(first.next().await, Some(Ok(Event::Created(_)))));
    server.reply(Reply::progress(1.0, None));
    server.reply(Reply::text("hello"));
    let (second, _) = all(client.call("greet", json!({})).events()).await;
    assert_eq!(words(&second), ["progress 1", "result hello"]);
    let (first, _) = all(first).await;
    assert_eq!(words(&first), ["completed tea"]);
}

#[tokio::test(start_paused = true)]
async fn a_next_that_is_dropped_loses_nothing() {
    let server = tasked(json!({}), [working(), working(), completed("tea")]);
    let client = connected(&server).await;
    let mut events = client.call("order", json!({})).events();
    let mut seen = Vec::new();
    loop {
        let pause = tokio::time::Duration::from_millis(70);
        match tokio::time::timeout(pause, events.next()).await {
            Ok(Some(event)) => seen.push(event.unwrap()),
            Ok(None) => break,
            Err(_) => {}
        }
    }
    assert_eq!(words(&seen), ["created t1", "completed tea"]);
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_failed_on_its_own_terms_has_a_result() {
    let server = tasked(
        json!({}),
        [json!({
            "status": "completed",
            "result": { "isError": true, "content": [{ "type": "text", "text": "no tea" }] },
        })],
    );
    let client = connected(&server).await;
    let result = client.call("order", json!({})).finish().await.unwrap();
    assert_eq!((text(&result), result.is_error), ("no tea", Some(true)));
}
