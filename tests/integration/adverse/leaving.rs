//! Clients that leave, and servers that shut down.

use std::sync::atomic::Ordering::Relaxed;

use serde_json::json;
use siding::{prelude::*, record::Status};
use tokio::time::{Duration, sleep};

use super::{Shop, meta, server, sure};
use crate::support::{Declares, Wire, retry, text};

#[tokio::test(start_paused = true)]
async fn a_retry_that_is_taken_back_leaves_a_task_that_was_told_before() {
    let (server, _) = server();
    let mut wire = Wire::tasks(server);
    let plain = meta(json!({ "elicitation": {} }));
    let params = json!({ "name": "pick", "arguments": {}, "_meta": plain });
    let asked = wire.request("tools/call", params).await.unwrap();
    assert_eq!(asked["resultType"], "input_required");
    let created = wire.go_on("pick", json!({}), &asked, sure()).await;
    assert_eq!(created["resultType"], "task", "{created}");
    let id = created["taskId"].as_str().unwrap();
    sleep(Duration::from_millis(100)).await;
    let params = retry(json!({ "name": "pick", "arguments": {} }), &asked, sure());
    let second = wire.send("tools/call", params).await;
    wire.take_back(second).await;
    sleep(Duration::from_secs(1)).await;
    let task = wire.get(id).await;
    assert_eq!(task["status"], "working", "{task}");
}

#[tokio::test(start_paused = true)]
async fn no_step_begins_for_a_client_that_left_its_first_request() {
    let (server, world) = server();
    let mut wire = Wire::modern(server, Declares::Elicitation);
    let params = json!({ "name": "two_steps", "arguments": {} });
    let call = wire.send("tools/call", params).await;
    world.began.notified().await;
    wire.take_back(call).await;
    sleep(Duration::from_secs(1)).await;
    world.gate.notify_one();
    sleep(Duration::from_mins(1)).await;
    assert_eq!(world.charged.load(Relaxed), 1, "what was in flight ended");
    assert_eq!(world.shipped.load(Relaxed), 0, "nothing else began");
}

#[tokio::test(start_paused = true)]
async fn a_sleep_goes_on_for_a_client_that_comes_back() {
    let (server, _) = server();
    let mut wire = Wire::modern(server, Declares::Elicitation);
    let asked = wire.call("doze", json!({})).await.unwrap();
    let began = tokio::time::Instant::now();
    let params = retry(json!({ "name": "doze", "arguments": {} }), &asked, sure());
    let left = wire.send("tools/call", params).await;
    sleep(Duration::from_secs(50)).await;
    wire.take_back(left).await;
    sleep(Duration::from_secs(1)).await;
    let done = wire.go_on("doze", json!({}), &asked, sure()).await;
    assert_eq!(text(&done), "true");
    assert_eq!(began.elapsed().as_secs(), 60);
}

#[mcp_tool(task = "optional")]
async fn nag(ctx: &mut Ctx<Shop>) -> Result<String> {
    let world = ctx.state();
    loop {
        let name: Result<String> = ctx.input("Name?").key("name").await;
        world.charged.fetch_add(1, Relaxed);
        if let Ok(name) = name {
            return Ok(name);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_nags_ends_when_its_client_hung_up() {
    let (server, world) = server();
    let (mut wire, _) = Wire::legacy(server.tool::<nag>(), Declares::Tasks).await;
    let params = json!({ "name": "nag", "arguments": {} });
    wire.send("tools/call", params).await;
    wire.incoming("elicitation/create").await;
    drop(wire);
    sleep(Duration::from_secs(7)).await;
    let asked = world.charged.load(Relaxed);
    sleep(Duration::from_secs(1)).await;
    assert_eq!(world.charged.load(Relaxed), asked);
    assert!(asked < 2_000, "{asked}");
}

#[tokio::test]
async fn two_calls_on_one_connection_in_small_packets_keep_their_tasks() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let (server, _) = server();
    let tasks = server.tasks();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let serving = tokio::spawn(server.serve_listener(listener));
    let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
    stream.set_nodelay(true).unwrap();
    for round in 0..2 {
        let params = json!({ "name": "hold", "arguments": {}, "_meta": Declares::Tasks.meta() });
        let body =
            json!({ "jsonrpc": "2.0", "id": round, "method": "tools/call", "params": params });
        let body = body.to_string();
        let request = format!(
            "POST /mcp HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\n\
             Mcp-Method: tools/call\r\nMcp-Name: hold\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        for packet in request.as_bytes().chunks(97) {
            stream.write_all(packet).await.unwrap();
            sleep(Duration::from_millis(1)).await;
        }
        let mut seen = Vec::new();
        while !String::from_utf8_lossy(&seen).contains("0\r\n\r\n") {
            assert_ne!(stream.read_buf(&mut seen).await.unwrap(), 0);
        }
        assert!(String::from_utf8_lossy(&seen).contains("taskId"));
    }
    drop(stream);
    sleep(Duration::from_millis(300)).await;
    let all = tasks.list(Some(Status::InputRequired)).await.unwrap();
    assert_eq!(all.len(), 2);
    serving.abort();
}

/// Asks, works in a step, works in another.
#[mcp_tool(task = "optional")]
async fn work(ctx: &mut Ctx<Shop>) -> Result<String> {
    let world = ctx.state();
    let sure: bool = ctx.input("Sure?").await?;
    ctx.step("charge", world.charge_when_let()).await?;
    ctx.step("ship", world.ship()).await?;
    Ok(sure.to_string())
}

#[tokio::test(start_paused = true)]
async fn of_two_attempts_at_once_either_may_leave() {
    for leaver in 0..2 {
        let (server, world) = server();
        let mut wire = Wire::modern(server.tool::<work>(), Declares::Elicitation);
        let asked = wire.call("work", json!({})).await.unwrap();
        let params = retry(json!({ "name": "work", "arguments": {} }), &asked, sure());
        let mut attempts = Vec::new();
        for _ in 0..2 {
            attempts.push(wire.send("tools/call", params.clone()).await);
            sleep(Duration::from_millis(10)).await;
        }
        world.began.notified().await;
        wire.take_back(attempts[leaver]).await;
        sleep(Duration::from_secs(20)).await;
        world.gate.notify_one();
        let done = wire.receive(attempts[1 - leaver]).await.unwrap();
        assert_eq!(text(&done), "true");
        assert_eq!(world.charged.load(Relaxed), 1);
        assert_eq!(world.shipped.load(Relaxed), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_shuts_down_answers_the_calls_that_it_gives_up() {
    for tool in ["two_steps", "work"] {
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let (server, world) = server();
        let server = server.tool::<work>().shutdown_on(async {
            let _gone = stopped.await;
        });
        let mut wire = Wire::modern(server, Declares::Elicitation);
        let params = if tool == "work" {
            let asked = wire.call("work", json!({})).await.unwrap();
            retry(json!({ "name": "work", "arguments": {} }), &asked, sure())
        } else {
            json!({ "name": tool, "arguments": {} })
        };
        let call = wire.send("tools/call", params).await;
        world.began.notified().await;
        let began = tokio::time::Instant::now();
        stop.send(()).unwrap();
        let error = wire.receive(call).await.unwrap_err();
        assert_eq!(error["data"]["reason"], "shutting_down", "{tool} {error}");
        assert_eq!(began.elapsed().as_secs(), 10);
    }
}

/// Holds a seat while a person decides.
#[mcp_tool(task = "optional", ttl = "1h")]
async fn seat(ctx: &mut Ctx<Shop>) -> Result<String> {
    let world = ctx.state();
    ctx.step("reserve", world.charge()).await?;
    let sure: Result<bool> = ctx.input("Take it?").key("sure").await;
    if let Ok(true) = sure {
        return Ok("taken".into());
    }
    ctx.cleanup("release", world.ship()).await?;
    Err(ToolError::new("not taken"))
}

#[tokio::test(start_paused = true)]
async fn a_round_that_expires_is_cleaned_up() {
    let (server, world) = server();
    let mut wire = Wire::modern(server.tool::<seat>(), Declares::Elicitation);
    let asked = wire.call("seat", json!({})).await.unwrap();
    sleep(Duration::from_hours(2)).await;
    assert_eq!(world.charged.load(Relaxed), 1);
    assert_eq!(world.shipped.load(Relaxed), 1);
    let late = wire.again("seat", json!({}), &asked, sure()).await;
    assert_eq!(late.unwrap_err()["code"], -32602);
    assert_eq!(world.shipped.load(Relaxed), 1);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_asks_after_its_time_says_so() {
    let (server, _) = server();
    let mut wire = Wire::modern(server, Declares::Elicitation);
    let asked = wire.call("long", json!({})).await;
    let error = asked.unwrap_err();
    assert_eq!(error["data"]["reason"], "expired", "{error}");
}
