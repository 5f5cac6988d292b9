//! The `drive` example as a process, driven as a script drives it.

use std::{
    io::Write,
    net::SocketAddr,
    process::{Child, Command, Output, Stdio},
};

use serde_json::{Value, json};
use siding::prelude::*;
use tokio::{net::TcpListener, time::Duration};

use crate::support::example;

/// Orders tea.
#[mcp_tool(task = "required", poll = "20ms", title = "Order tea")]
async fn order(
    ctx: &mut Ctx,
    /// Which.
    tea: String,
    #[arg(default = 1)] cups: u8,
) -> Result<String> {
    let sure: bool = ctx.input(format!("Order {cups} {tea}?")).await?;
    let name: String = ctx.input("For whom?").await?;
    if !sure {
        return Err(ToolError::new("nothing was ordered"));
    }
    Ok(format!("{cups} {tea} for {name}"))
}

/// Takes an hour.
#[mcp_tool(task = "required", poll = "20ms")]
async fn brew(ctx: &mut Ctx) -> Result<()> {
    ctx.sleep(Duration::from_hours(1)).await?;
    siding::Ok(())
}

/// Fails with a JSON-RPC error.
#[mcp_tool(task = "required", poll = "20ms")]
async fn spill() -> Result<()> {
    Err(ToolError::protocol(418, "spilled", None))
}

async fn server() -> SocketAddr {
    let server = Server::new("tea", "1.0.0")
        .tool::<order>()
        .tool::<brew>()
        .tool::<spill>();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(server.serve_listener(listener));
    address
}

/// `drive` with these arguments, against this server, with nothing on standard input.
fn start(server: SocketAddr, arguments: &[&str]) -> Child {
    Command::new(example("drive"))
        .args(["--json", &format!("http://{server}/mcp")])
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// The exit code and the events.
fn ended(output: Output) -> (i32, Vec<Value>) {
    let errors = String::from_utf8(output.stderr).unwrap();
    let events = String::from_utf8(output.stdout).unwrap();
    let events = events
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    let code = output.status.code();
    (code.unwrap_or_else(|| panic!("{errors}")), events.collect())
}

async fn run(server: SocketAddr, arguments: &[&str]) -> (i32, Vec<Value>) {
    let child = start(server, arguments);
    let output = tokio::task::spawn_blocking(|| child.wait_with_output().unwrap());
    ended(output.await.unwrap())
}

fn kinds(events: &[Value]) -> Vec<&str> {
    let kinds = events.iter().map(|event| event["event"].as_str().unwrap());
    kinds.filter(|kind| *kind != "status").collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn c01_a_script_drives_a_task_and_gives_its_answers_along() {
    let server = server().await;
    let answers = r#"{"sure":true,"name":{"value":"Ada"}}"#;
    let arguments = ["--answers", answers, "order", "tea=7", "cups=2"];
    let (code, events) = run(server, &arguments).await;
    assert_eq!(code, 0, "{events:?}");
    let expected = ["created", "asked", "asked", "completed"];
    assert_eq!(kinds(&events), expected);
    let asked = events
        .iter()
        .find(|event| event["event"] == "asked")
        .unwrap();
    assert_eq!(asked["key"], "sure");
    assert_eq!(asked["message"], "Order 2 7?");
    assert_eq!(
        asked["form"]["properties"]["value"],
        json!({ "type": "boolean" })
    );
    let text = &events.last().unwrap()["result"]["content"][0]["text"];
    assert_eq!(text, "2 7 for Ada");
}

#[tokio::test(flavor = "multi_thread")]
async fn c01_a_script_answers_line_by_line() {
    let server = server().await;
    let mut child = start(server, &["order", "tea=Assam"]);
    let mut input = child.stdin.take().unwrap();
    input
        .write_all(b"{\"sure\":true}\n{\"name\":\"Ada\"}\n")
        .unwrap();
    let output = tokio::task::spawn_blocking(|| child.wait_with_output().unwrap());
    let (code, events) = ended(output.await.unwrap());
    assert_eq!(code, 0, "{events:?}");
    let text = &events.last().unwrap()["result"]["content"][0]["text"];
    assert_eq!(text, "1 Assam for Ada");
}

#[tokio::test(flavor = "multi_thread")]
async fn c10_the_exit_code_tells_how_it_ended() {
    let server = server().await;
    let no = r#"{"sure":false,"name":"Ada"}"#;
    let declined = r#"{"sure":null,"name":"Ada"}"#;
    let cases: [(&[&str], i32); 9] = [
        (&["--answers", no, "order", "tea=Assam"], 1),
        (&["--answers", declined, "order", "tea=Assam"], 1),
        (&["order"], 1), // the server tells what is missing
        (&["nothing"], 2),
        (&["order", "Assam"], 2),
        (&["order", "tea=Assam", "cups=many"], 2),
        (&["spill"], 3),
        (&["--timeout", "300ms", "brew"], 5),
        (&["--answers", "{}", "order", "tea=Assam"], 6),
    ];
    for (arguments, expected) in cases {
        let (code, events) = run(server, arguments).await;
        assert_eq!(code, expected, "{arguments:?}: {events:?}");
    }
    let (_, events) = run(server, &["spill"]).await;
    let error = &events.last().unwrap()["error"];
    assert_eq!(
        (&error["code"], &error["message"]),
        (&json!(418), &json!("spilled"))
    );
    let nobody = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = nobody.local_addr().unwrap();
    drop(nobody);
    assert_eq!(run(address, &["order"]).await.0, 7);
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn c05_an_interrupt_cancels_the_task_on_the_server() {
    use std::io::{BufRead, BufReader, Read};

    let server = server().await;
    let mut child = start(server, &["brew"]);
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    let mut created = String::new();
    lines.read_line(&mut created).unwrap();
    let created: Value = serde_json::from_str(&created).unwrap();
    let id = created["task"]["taskId"].as_str().unwrap();
    // The `kill` of the shell: not every machine has a program of this name.
    let interrupt = Command::new("sh")
        .args(["-c", "kill -INT \"$0\"", &child.id().to_string()])
        .status();
    assert!(interrupt.unwrap().success());
    let code = tokio::task::spawn_blocking(move || child.wait().unwrap().code());
    assert_eq!(code.await.unwrap(), Some(4));
    let mut rest = String::new();
    lines.read_to_string(&mut rest).unwrap();
    let last: Value = serde_json::from_str(rest.lines().last().unwrap()).unwrap();
    assert_eq!(last, json!({ "event": "cancelled", "id": id }));
    // What was cancelled can be looked at again, and has ended.
    let (code, _) = run(server, &["--resume", id]).await;
    assert_eq!(code, 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn c01_without_a_tool_all_are_listed() {
    let server = server().await;
    let (code, tools) = run(server, &[]).await;
    assert_eq!(code, 0);
    let names: Vec<_> = tools
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["order", "brew", "spill"]);
    let output = Command::new(example("drive"))
        .arg(format!("http://{server}/mcp"))
        .stdin(Stdio::null())
        .output();
    let text = String::from_utf8(output.unwrap().stdout).unwrap();
    assert!(text.contains("order  Order tea\n  Orders tea."), "{text}");
    assert!(text.contains("tea=  string  Which."), "{text}");
    assert!(
        text.contains("cups=  integer, optional, default 1"),
        "{text}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn c01_a_server_over_its_standard_streams_is_started_and_driven() {
    let output = Command::new(example("drive"))
        .args(["--answers", r#"{"approval":{"approve":true}}"#])
        .args(["deploy", "service=api", "--"])
        .arg(example("deploy"))
        .stdin(Stdio::null())
        .output();
    let output = output.unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{errors}");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("release 1"), "{text}");
}
