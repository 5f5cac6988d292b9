//! Questions to older clients, which are asked while they wait.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering::Relaxed},
};

use rmcp::{
    ClientHandler, ErrorData, RoleClient,
    model::{
        CallToolRequestParams, ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult,
        ElicitationAction, Implementation,
    },
    service::{ClientLifecycleMode, ClientServiceExt, RequestContext},
    transport::StreamableHttpClientTransport,
};
use serde_json::{Value, json};
use siding::prelude::*;
use tokio::{net::TcpListener, time::Duration};

use crate::support::{Declares, Wire, accepted, text};

type Effects = Arc<AtomicU32>;

/// Asks for a table, after it held one.
#[mcp_tool(task = "optional")]
async fn book(ctx: &mut Ctx<Effects>) -> Result<String> {
    let effects = ctx.state();
    ctx.step("hold", async { siding::Ok(effects.fetch_add(1, Relaxed)) })
        .await?;
    let guests: u8 = ctx.input("How many guests?").await?;
    let (name, window): (String, Option<bool>) =
        ctx.input_all(("Your name?", "At the window?")).await?;
    Ok(format!("{name}, {guests}, {window:?}"))
}

/// Asks for a note that may be left out.
#[mcp_tool(task = "optional")]
async fn note(ctx: &mut Ctx<Effects>) -> Result<String> {
    let asked: Result<Option<String>> = ctx.input("A note?").optional().key("note").await;
    match asked {
        Ok(note) => Ok(format!("{note:?}")),
        Err(error) if error.is_dismissed() => Ok("dismissed".into()),
        Err(error) => Err(error),
    }
}

/// Gives up on its question after a minute.
#[mcp_tool(task = "optional")]
async fn hasty(ctx: &mut Ctx<Effects>) -> Result<String> {
    let minute = Duration::from_mins(1);
    let answer: Result<bool> = ctx.input("Quick?").timeout(minute).key("quick").await;
    match answer {
        Ok(quick) => Ok(quick.to_string()),
        Err(error) if error.is_timed_out() => Ok("too late".into()),
        Err(error) => Err(error),
    }
}

/// Sends somebody somewhere.
#[mcp_tool(task = "optional")]
async fn visit(ctx: &mut Ctx<Effects>) -> Result<String> {
    let visited = ctx
        .input_url("Sign in", "https://example.com")
        .key("visit")
        .await;
    match visited {
        Ok(()) => Ok("gone there".into()),
        Err(error) if error.is_cannot_ask() => Ok(format!("cannot ask: {error}")),
        Err(error) => Err(error),
    }
}

fn server() -> (Server<Effects>, Effects) {
    let effects = Effects::default();
    let server = Server::new("tables", "1.0.0")
        .state(effects.clone())
        .tools(tools![book, note, hasty, visit]);
    (server, effects)
}

async fn call(wire: &mut Wire, tool: &str) -> u64 {
    let params = json!({ "name": tool, "arguments": {} });
    wire.send("tools/call", params).await
}

/// Waits for the next question and answers it; gives what the person reads.
async fn answer(wire: &mut Wire, result: Value) -> String {
    let asked = wire.incoming("elicitation/create").await;
    wire.respond(&asked, result).await;
    asked["params"]["message"].as_str().unwrap().into()
}

fn value(value: Value) -> Value {
    accepted(json!({ "value": value }))
}

#[tokio::test(start_paused = true)]
async fn u10_an_older_client_is_asked_in_the_same_order_and_charged_once() {
    let (server, effects) = server();
    let (mut wire, _) = Wire::legacy(server, Declares::Tasks).await;
    let id = call(&mut wire, "book").await;
    assert_eq!(answer(&mut wire, value(json!(4))).await, "How many guests?");
    // Of two questions at once, the second is put when the first is answered.
    let first = wire.incoming("elicitation/create").await;
    wire.hear(Duration::from_secs(1)).await;
    assert_eq!(wire.unread().count(), 0);
    assert_eq!(first["params"]["message"], "Your name?");
    wire.respond(&first, value(json!("Ada"))).await;
    assert_eq!(
        answer(&mut wire, accepted(json!({}))).await,
        "At the window?"
    );
    let done = wire.receive(id).await.unwrap();
    assert_eq!(text(&done), "Ada, 4, None");
    assert_eq!(done.get("resultType"), None);
    assert_eq!(effects.load(Relaxed), 1);
}

#[tokio::test(start_paused = true)]
async fn u07_a_wrong_answer_is_asked_again_with_what_is_wrong_first() {
    let (server, _) = server();
    let (mut wire, _) = Wire::legacy(server, Declares::Elicitation).await;
    let id = call(&mut wire, "book").await;
    answer(&mut wire, value(json!("banana"))).await;
    let again = answer(&mut wire, value(json!(300))).await;
    assert_eq!(
        again,
        "`value` must be a whole number from 0 to 255. How many guests?"
    );
    answer(&mut wire, json!({ "action": "maybe" })).await;
    answer(&mut wire, value(json!(2))).await;
    answer(&mut wire, value(json!("Ada"))).await;
    answer(&mut wire, value(json!(true))).await;
    assert_eq!(text(&wire.receive(id).await.unwrap()), "Ada, 2, Some(true)");
}

#[tokio::test(start_paused = true)]
async fn a_client_that_never_answers_rightly_is_not_asked_for_ever() {
    let (server, _) = server();
    let (mut wire, _) = Wire::legacy(server, Declares::Elicitation).await;
    let id = call(&mut wire, "book").await;
    for _ in 0..10 {
        answer(&mut wire, value(json!("banana"))).await;
    }
    let done = wire.receive(id).await.unwrap();
    assert_eq!(done["isError"], true);
    assert!(text(&done).contains("10 answers"), "{done}");
}

#[tokio::test(start_paused = true)]
async fn u08_decline_and_dismissal_reach_the_author_of_an_older_client_too() {
    let (server, _) = server();
    let (mut wire, _) = Wire::legacy(server, Declares::Elicitation).await;
    for (action, told) in [("decline", "None"), ("cancel", "dismissed")] {
        let id = call(&mut wire, "note").await;
        answer(&mut wire, json!({ "action": action })).await;
        let done = wire.receive(id).await.unwrap();
        assert_eq!(text(&done), told);
    }
}

#[tokio::test(start_paused = true)]
async fn u09_an_older_client_that_cannot_be_asked_gives_a_typed_error() {
    let (server, effects) = server();
    let (mut wire, _) = Wire::legacy(server, Declares::Nothing).await;
    let done = wire.call("book", json!({})).await.unwrap();
    assert_eq!(done["isError"], true);
    assert!(
        text(&done).contains("did not declare form elicitation"),
        "{done}"
    );
    assert_eq!(effects.load(Relaxed), 1);
    assert_eq!(wire.unread().count(), 0);
}

#[tokio::test(start_paused = true)]
async fn u09_a_client_with_forms_only_is_not_sent_anywhere() {
    let (server, _) = server();
    let (mut wire, _) = Wire::legacy(server, Declares::Elicitation).await;
    let done = wire.call("visit", json!({})).await.unwrap();
    assert!(
        text(&done).contains("did not declare URL elicitation"),
        "{done}"
    );
    let (server, _) = self::server();
    let (mut wire, _) = Wire::legacy(server, Declares::Urls).await;
    let id = call(&mut wire, "visit").await;
    let asked = wire.incoming("elicitation/create").await;
    assert_eq!(asked["params"]["mode"], "url");
    assert_eq!(asked["params"]["url"], "https://example.com");
    assert!(
        asked["params"]["elicitationId"]
            .as_str()
            .unwrap()
            .ends_with("/visit")
    );
    wire.respond(&asked, json!({ "action": "accept" })).await;
    assert_eq!(text(&wire.receive(id).await.unwrap()), "gone there");
}

#[tokio::test(start_paused = true)]
async fn a_client_that_answers_a_question_with_an_error_gives_a_typed_error() {
    let (server, _) = server();
    let (mut wire, _) = Wire::legacy(server, Declares::Urls).await;
    let id = call(&mut wire, "visit").await;
    let asked = wire.incoming("elicitation/create").await;
    let error = json!({ "code": -32601, "message": "no such method" });
    wire.write(&json!({ "jsonrpc": "2.0", "id": asked["id"], "error": error }))
        .await;
    let done = wire.receive(id).await.unwrap();
    assert!(text(&done).starts_with("cannot ask: "), "{done}");
    assert!(text(&done).contains("no such method"), "{done}");
}

#[tokio::test(start_paused = true)]
async fn a_question_that_timed_out_is_taken_back() {
    let (server, _) = server();
    let (mut wire, _) = Wire::legacy(server, Declares::Elicitation).await;
    let id = call(&mut wire, "hasty").await;
    let asked = wire.incoming("elicitation/create").await;
    let done = wire.receive(id).await.unwrap();
    assert_eq!(text(&done), "too late");
    let taken_back = wire.incoming("notifications/cancelled").await;
    assert_eq!(taken_back["params"]["requestId"], asked["id"]);
}

/// A client of the SDK whose person answers everything with 4 or `Ada`.
struct Person;

impl ClientHandler for Person {
    fn get_info(&self) -> ClientConfig {
        let capabilities = ClientCapabilities::builder().enable_elicitation().build();
        ClientConfig::new(capabilities, Implementation::new("person", "1.0.0"))
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> std::result::Result<ElicitResult, ErrorData> {
        let asked = serde_json::to_value(request).unwrap();
        let field = &asked["requestedSchema"]["properties"]["value"];
        let content = match field["type"].as_str() {
            Some("string") => json!({ "value": "Ada" }),
            Some("boolean") => json!({}),
            _ => json!({ "value": 4 }),
        };
        Ok(ElicitResult::new(ElicitationAction::Accept).with_content(content))
    }
}

#[tokio::test]
async fn u10_a_session_over_http_is_asked_on_the_stream_of_its_call() {
    let (server, effects) = server();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let serving = tokio::spawn(server.serve_listener(listener));
    let transport = StreamableHttpClientTransport::from_uri(format!("http://{address}/mcp"));
    let lifecycle = ClientLifecycleMode::Initialize;
    let client = Person
        .serve_with_lifecycle(transport, lifecycle)
        .await
        .unwrap();
    let called = client.call_tool(CallToolRequestParams::new("book")).await;
    let told = serde_json::to_value(called.unwrap()).unwrap();
    assert_eq!(text(&told), "Ada, 4, None");
    assert_eq!(effects.load(Relaxed), 1);
    client.cancel().await.unwrap();
    serving.abort();
}
