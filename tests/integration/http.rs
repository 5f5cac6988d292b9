//! What is particular to HTTP: origins, status codes, owners.

use serde_json::{Value, json};
use siding::prelude::*;

use crate::support::{Declares, Http, accepted, retry};

/// Tells whose call it is, twice.
#[mcp_tool(task = "required")]
async fn whose(ctx: &mut Ctx) -> Result<String> {
    let before = ctx.owner().map(str::to_owned);
    let sure: bool = ctx.input("Sure?").await?;
    Ok(format!("{before:?} {:?} {sure}", ctx.owner()))
}

fn server() -> Server {
    Server::new("owned", "1.0.0")
        .tool::<whose>()
        .owner(|request| {
            let user = request.headers.get("x-user")?.to_str().ok()?;
            Some(user.to_owned())
        })
}

async fn create(http: &Http, headers: &[(&str, &str)]) -> String {
    let params = json!({ "name": "whose", "arguments": {} });
    let (status, message) = http.post(headers, "tools/call", params).await;
    assert_eq!(status, 200, "{message}");
    message["result"]["taskId"].as_str().unwrap().into()
}

async fn get(http: &Http, headers: &[(&str, &str)], id: &str) -> Value {
    http.post(headers, "tasks/get", json!({ "taskId": id }))
        .await
        .1
}

#[tokio::test]
async fn pages_from_elsewhere_are_refused_and_pages_of_this_machine_are_not() {
    let http = Http::start(server().allow_origins(["https://app.example.com:443"])).await;
    for (origin, status) in [
        ("http://evil.example", 403),
        ("null", 403),
        ("http://localhost:6274", 200),
        ("https://app.example.com", 200),
    ] {
        let headers = [("Origin", origin)];
        let (answered, message) = http.post(&headers, "server/discover", json!({})).await;
        assert_eq!(answered, status, "{origin}: {message}");
    }
    let foreign = [("Host", "rebound.example")];
    let (status, _) = http.post(&foreign, "server/discover", json!({})).await;
    assert_eq!(status, 403);
}

#[tokio::test]
async fn w11_the_refusal_for_want_of_tasks_is_a_400() {
    let http = Http::start(server()).await;
    for (method, params) in [
        ("tools/call", json!({ "name": "whose", "arguments": {} })),
        ("tasks/get", json!({ "taskId": "x" })),
    ] {
        let (status, message) = http
            .post_as(Declares::Elicitation, &[], method, params)
            .await;
        assert_eq!(status, 400, "{method}");
        assert_eq!(message["error"]["code"], -32021);
    }
}

#[tokio::test]
async fn w05_f15_s20_s21_a_task_is_there_for_its_owner_and_for_nobody_else() {
    let http = Http::start(server()).await;
    let alice = [("X-User", "alice")];
    let bob = [("X-User", "bob")];
    let nobody: [(&str, &str); 0] = [];
    // The equality table: who made it, who asks, whether it is there.
    let table: [(&[_], &[_], bool); 6] = [
        (&nobody, &nobody, true),
        (&alice, &alice, true),
        (&alice, &bob, false),
        (&alice, &nobody, false),
        (&nobody, &alice, false),
        (&bob, &alice, false),
    ];
    for (maker, asker, there) in table {
        let id = create(&http, maker).await;
        for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
            let params = json!({ "taskId": id, "inputResponses": {} });
            let (_, message) = http.post(asker, method, params.clone()).await;
            assert_eq!(
                message.get("result").is_some(),
                there,
                "{maker:?} {asker:?} {message}"
            );
            if !there {
                // A denial is to the letter what a missing task gives.
                let missing = json!({ "taskId": "0".repeat(32), "inputResponses": {} });
                let (_, unknown) = http.post(asker, method, missing).await;
                let unknown = unknown.to_string().replace(&"0".repeat(32), &id);
                assert_eq!(message.to_string(), unknown);
            }
        }
    }
}

#[tokio::test]
async fn u06_the_owner_is_the_same_in_every_leg_and_nothing_else_of_the_request_is_kept() {
    let store = MemoryStore::new();
    let server = server().store(store.clone());
    let tasks = server.tasks();
    let http = Http::start(server).await;
    let alice = [("X-User", "alice"), ("Authorization", "Bearer s3cret")];
    let id = create(&http, &alice).await;
    let task = loop {
        let task = get(&http, &alice, &id).await;
        if task["result"]["status"] == "input_required" {
            break task;
        }
    };
    assert!(!task.to_string().contains("alice"), "{task}");
    let kept = tasks.get(&id.as_str().into()).await.unwrap();
    let kept = serde_json::to_string(&*kept).unwrap();
    assert!(kept.contains("alice") && !kept.contains("s3cret"), "{kept}");
    let answer = json!({ "action": "accept", "content": { "value": true } });
    let params = json!({ "taskId": id, "inputResponses": { "sure": answer } });
    http.post(&[("X-User", "alice")], "tasks/update", params)
        .await;
    tasks.wait(&id.as_str().into()).await.unwrap();
    let task = get(&http, &alice, &id).await;
    let text = &task["result"]["result"]["content"][0]["text"];
    assert_eq!(text, r#"Some("alice") Some("alice") true"#);
}

#[tokio::test]
async fn a_stream_that_a_client_holds_open_does_not_keep_the_server_from_stopping() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    let stop = std::sync::Arc::new(tokio::sync::Notify::new());
    let stopped = stop.clone();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let server = server()
        .patience(std::time::Duration::from_millis(100))
        .shutdown_on(async move { stopped.notified().await });
    let serving = tokio::spawn(server.serve_listener(listener));
    let head = format!(
        "Host: {address}\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\n"
    );
    let body = json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": { "name": "holder", "version": "1" },
        },
    });
    let body = body.to_string();
    let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
    let request = format!(
        "POST /mcp HTTP/1.1\r\n{head}Connection: close\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    let session = answer
        .lines()
        .find_map(|line| line.strip_prefix("mcp-session-id: "))
        .unwrap_or_else(|| panic!("{answer}"));
    let mut listening = tokio::net::TcpStream::connect(address).await.unwrap();
    let request = format!("GET /mcp HTTP/1.1\r\n{head}Mcp-Session-Id: {session}\r\n\r\n");
    listening.write_all(request.as_bytes()).await.unwrap();
    let mut begun = [0; 12];
    listening.read_exact(&mut begun).await.unwrap();
    assert_eq!(&begun, b"HTTP/1.1 200");
    stop.notify_one();
    let patience = std::time::Duration::from_secs(5);
    let ended = tokio::time::timeout(patience, serving).await;
    ended.expect("it stops").unwrap().unwrap();
}

#[tokio::test]
async fn a_panic_while_the_owner_is_read_is_answered_and_makes_nobody_of_the_caller() {
    let server = Server::new("owned", "1.0.0")
        .tool::<whose>()
        .owner(|request| {
            let user = request.headers.get("x-user")?.to_str();
            Some(user.expect("a name in ASCII").to_owned())
        });
    let http = Http::start(server).await;
    let id = create(&http, &[]).await;
    let odd = [("X-User", "zoë")];
    for (method, params) in [
        ("tools/call", json!({ "name": "whose", "arguments": {} })),
        ("tasks/get", json!({ "taskId": id })),
    ] {
        let post = http.post(&odd, method, params);
        let answer = tokio::time::timeout(std::time::Duration::from_secs(5), post).await;
        let (_, message) = answer.expect("it is answered");
        assert_eq!(message["error"]["code"], -32603, "{method}: {message}");
    }
}

/// Adds, as a task where the client can follow one.
#[mcp_tool(task = "optional")]
async fn add(ctx: &mut Ctx, a: i64) -> Result<i64> {
    let b: i64 = ctx.input("And what?").await?;
    Ok(a + b)
}

#[tokio::test]
async fn two_clients_interleaved_over_one_server_are_decided_separately() {
    let http = Http::start(Server::new("sums", "1.0.0").tool::<add>()).await;
    let call = json!({ "name": "add", "arguments": { "a": 1 } });
    let mut asked = Vec::new();
    for _ in 0..3 {
        for (declares, kind) in [
            (Declares::Tasks, "task"),
            (Declares::Elicitation, "input_required"),
            (Declares::Nothing, "complete"),
        ] {
            let (_, answer) = http
                .post_as(declares, &[], "tools/call", call.clone())
                .await;
            assert_eq!(answer["result"]["resultType"], kind, "{declares:?}");
            asked.push((declares, answer["result"].clone()));
        }
    }
    for (declares, first) in asked {
        if declares == Declares::Elicitation {
            let answer = json!({ "b": accepted(json!({ "value": 2 })) });
            let again = retry(call.clone(), &first, answer);
            let (_, answer) = http.post_as(declares, &[], "tools/call", again).await;
            assert_eq!(answer["result"]["structuredContent"], 3);
        }
    }
}
