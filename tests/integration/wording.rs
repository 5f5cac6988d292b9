//! What a person agreed to is what the code goes on with: texts of questions in later legs.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
};

use serde_json::{Value, json};
use siding::{journal::Kind, prelude::*, record::TaskId, store::Store};
use tokio::time::sleep;

use crate::support::{Declares, VirtualHost, Wire, questions, retry, text};

#[derive(Default)]
struct App {
    /// How often a body began.
    runs: AtomicU32,
    refunded: Mutex<Vec<String>>,
}

type Shop = Arc<App>;

impl App {
    /// Another number in each leg.
    fn next(&self) -> u32 {
        self.runs.fetch_add(1, Relaxed)
    }

    fn refunded(&self) -> Vec<String> {
        std::mem::take(&mut self.refunded.lock().unwrap())
    }
}

/// The effect that a person has to agree to.
async fn pay(app: Arc<Shop>, what: String) -> Result<()> {
    app.refunded.lock().unwrap().push(what);
    Ok(())
}

/// Asks about each order, in the order of the map.
#[mcp_tool(task = "required", allow(unordered_loop))]
async fn refund(ctx: &mut Ctx<Shop>, orders: HashMap<String, u32>) -> Result<()> {
    for name in orders.keys() {
        let sure: bool = ctx.input(format!("Refund {name}?")).await?;
        if sure {
            let app = ctx.state();
            ctx.step("pay", pay(app, name.clone())).await?;
        }
    }
    Ok(())
}

/// Asks about another thing in each leg.
#[mcp_tool(task = "optional")]
async fn ask(ctx: &mut Ctx<Shop>, how: String) -> Result<String> {
    let n = ctx.state().next();
    match how.as_str() {
        "key" => {
            let key = "computed".to_owned();
            ctx.input::<bool>(format!("Refund {n}?")).key(key).await?;
        }
        "choose" => {
            let options = ["a", "b"];
            let choice = ctx.choose(format!("Which of {n}?"), options).await?;
            assert_eq!(choice, "a");
        }
        "url" => {
            let url = "https://example.com";
            ctx.input_url(format!("Pay {n}"), url).key("page").await?;
        }
        "all" => {
            let (one, two): (bool, bool) = ctx.input_all(("Sure?", format!("Refund {n}?"))).await?;
            assert!(one && two);
        }
        "form and text" => {
            let options = [n];
            let form = ctx.choose(format!("Is it {n}?"), options).await?;
            assert_eq!(form, n);
        }
        "allowed" => {
            let may: bool = ctx.input(format!("Refund {n}?")).text_may_differ().await?;
            assert!(may);
        }
        "all allowed" => {
            let (this, that): (bool, bool) = ctx
                .input_all((format!("This of {n}?"), format!("That of {n}?")))
                .text_may_differ()
                .await?;
            assert!(this && that);
        }
        "elsewhere" => {
            let prompt = format!("Refund {n}?");
            let elsewhere: bool = ctx.input(prompt).await?;
            assert!(elsewhere);
        }
        "reworded" => {
            let key = "reworded".to_owned();
            let sure: bool = if n == 0 {
                ctx.input(format!("Refund {n}?")).key(key).await?
            } else {
                ctx.input(format!("Shall {n} be refunded?"))
                    .key(key)
                    .await?
            };
            assert!(sure);
        }
        "kind" => {
            let key = "kind".to_owned();
            let sure: bool = if n == 0 {
                ctx.input(format!("Refund {n}?")).key(key).await?
            } else {
                ctx.input("Refund {n}?").key(key).await?
            };
            assert!(sure);
        }
        other => {
            let sure: bool = ctx.input(format!("{other} {n}?")).await?;
            assert!(sure);
        }
    }
    let app = ctx.state();
    ctx.step("pay", pay(app, n.to_string())).await?;
    Ok("paid".into())
}

fn server(app: &Shop) -> Server<Shop> {
    Server::new("shop", "1.0.0")
        .state(app.clone())
        .tools(tools![refund, ask])
}

/// Accepts all that the task asks for.
async fn accept_all(wire: &mut Wire, id: &str) {
    let task = wire.get(id).await;
    let accept = |(key, question): (&String, &Value)| {
        let schema = &question["params"]["requestedSchema"]["properties"]["value"];
        let content = match schema["enum"].as_array() {
            Some(options) => json!({ "value": options[0] }),
            None if question["params"]["mode"] == "url" => Value::Null,
            None => json!({ "value": true }),
        };
        let mut response = json!({ "action": "accept" });
        if !content.is_null() {
            response["content"] = content;
        }
        (key.clone(), response)
    };
    let responses = questions(&task).iter().map(accept).collect();
    wire.update(id, Value::Object(responses)).await.unwrap();
}

/// How a task ends whose one question is answered, and what was refunded.
async fn asked(how: &str) -> (Value, Vec<String>) {
    let app = Shop::default();
    let mut wire = Wire::modern(server(&app), Declares::Urls);
    let id = wire.parked("ask", json!({ "how": how })).await;
    accept_all(&mut wire, &id).await;
    (wire.end(&id).await, app.refunded())
}

#[tokio::test(start_paused = true)]
async fn p14_an_answer_is_not_used_for_a_question_with_another_text() {
    let cases = [
        ("Refund", "`sure`", "Refund 0?", "Refund 1?"),
        ("key", "`computed`", "Refund 0?", "Refund 1?"),
        ("choose", "`choice`", "Which of 0?", "Which of 1?"),
        ("url", "`page`", "Pay 0", "Pay 1"),
        ("all", "`two`", "Refund 0?", "Refund 1?"),
        ("form and text", "`form`", "Is it 0?", "Is it 1?"),
    ];
    for (how, key, before, after) in cases {
        let (task, refunded) = asked(how).await;
        assert_eq!(task["status"], "failed", "{how}: {task}");
        assert_eq!(task["error"]["data"]["reason"], "nondeterministic", "{how}");
        let message = task["error"]["message"].as_str().unwrap();
        for part in [key, before, after] {
            assert!(message.contains(part), "{how}: {message}");
        }
        assert_eq!(refunded, [""; 0], "{how}");
    }
}

#[tokio::test(start_paused = true)]
async fn p14_the_answer_to_another_text_stays_in_the_journal() {
    let (app, store) = (Shop::default(), MemoryStore::new());
    let mut wire = Wire::tasks(server(&app).store(store.clone()));
    let id = wire.parked("ask", json!({ "how": "Refund" })).await;
    accept_all(&mut wire, &id).await;
    assert_eq!(wire.end(&id).await["status"], "failed");
    let journal = store.journal(&TaskId::from(id.as_str())).await.unwrap();
    let kinds: Vec<Kind> = journal.iter().map(siding::journal::Entry::kind).collect();
    assert_eq!(kinds, [Kind::Asked, Kind::Answered]);
}

#[tokio::test(start_paused = true)]
async fn p14_an_answer_counts_where_the_text_may_differ_or_the_words_are_others() {
    for how in ["allowed", "all allowed", "elsewhere", "reworded", "kind"] {
        let (task, refunded) = asked(how).await;
        assert_eq!(task["status"], "completed", "{how}: {task}");
        assert_eq!(text(&task["result"]), "paid", "{how}");
        assert_eq!(refunded, ["1"], "{how}");
    }
}

#[tokio::test(start_paused = true)]
async fn p14_another_text_ends_a_call_by_rounds_too() {
    let app = Shop::default();
    let mut wire = Wire::modern(server(&app), Declares::Elicitation);
    let call = json!({ "name": "ask", "arguments": { "how": "Refund" } });
    let asked = wire.request("tools/call", call.clone()).await.unwrap();
    let responses = json!({ "sure": { "action": "accept", "content": { "value": true } } });
    let error = wire
        .request("tools/call", retry(call, &asked, responses))
        .await
        .unwrap_err();
    assert_eq!(error["data"]["reason"], "nondeterministic", "{error}");
    assert_eq!(app.refunded(), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn p13_a_loop_over_a_map_refunds_nothing_that_nobody_agreed_to() {
    let app = Shop::default();
    let mut wire = Wire::tasks(server(&app));
    let orders: HashMap<String, u32> = (0..20).map(|n| (format!("order {n}"), n)).collect();
    let id = wire.parked("refund", json!({ "orders": orders })).await;
    let mut agreed = Vec::new();
    let task = loop {
        let task = wire.get(&id).await;
        match task["status"].as_str().unwrap() {
            "input_required" => {
                let (_, question) = questions(&task).iter().next().unwrap();
                agreed.push(question["params"]["message"].clone());
                accept_all(&mut wire, &id).await;
            }
            "working" => sleep(std::time::Duration::from_millis(20)).await,
            _ => break task,
        }
    };
    assert_eq!(
        task["error"]["data"]["reason"], "nondeterministic",
        "{task}"
    );
    for what in app.refunded() {
        assert!(agreed.contains(&json!(format!("Refund {what}?"))), "{what}");
    }
}

mod first {
    use super::*;

    /// Asks.
    #[mcp_tool(task = "required", name = "deploy")]
    pub(super) async fn deploy(ctx: &mut Ctx<Shop>, service: String) -> Result<bool> {
        let sure: bool = ctx.input(format!("Deploy {service}?")).await?;
        Ok(sure)
    }
}

mod second {
    use super::*;

    /// Asks in other words.
    #[mcp_tool(task = "required", name = "deploy")]
    pub(super) async fn deploy(ctx: &mut Ctx<Shop>, service: String) -> Result<bool> {
        let sure: bool = ctx.input(format!("Shall {service} be deployed?")).await?;
        Ok(sure)
    }
}

#[tokio::test(start_paused = true)]
async fn p14_a_reworded_question_counts_without_a_new_version_too() {
    let (app, store) = (Shop::default(), MemoryStore::new());
    let server = |store: &MemoryStore| {
        let server = Server::new("shop", "1.0.0").state(app.clone());
        server.store(store.clone())
    };
    let mut wire = Wire::tasks(server(&store).tool::<first::deploy>());
    let id = wire.parked("deploy", json!({ "service": "billing" })).await;
    let host: VirtualHost = wire.host();
    wire.close().await;
    let mut wire = Wire::with_host(server(&store).tool::<second::deploy>(), host);
    let task = wire.get(&id).await;
    let message = &task["inputRequests"]["sure"]["params"]["message"];
    assert_eq!(message, "Deploy billing?");
    wire.accept(&id, "sure", json!({ "value": true })).await;
    assert_eq!(wire.end(&id).await["result"]["structuredContent"], true);
}
