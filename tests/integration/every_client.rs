//! One tool, every kind of client: the same questions, the same answer, the same effects.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use siding::prelude::*;

use crate::support::{Declares, VirtualHost, Wire, accepted, questions, retry, text};

/// What the tool did to the world, in its order.
type Effects = Arc<Mutex<Vec<String>>>;

#[derive(Input)]
struct Address {
    street: String,
    /// Where it is not the ground floor.
    floor: Option<u8>,
}

/// Charges, asks in several ways, ships.
#[mcp_tool(task = "optional", poll = "1s")]
async fn order(ctx: &mut Ctx<Effects>, item: String) -> Result<String> {
    let effects = ctx.state();
    let happens = |what: &str| {
        let what = what.to_owned();
        let effects = effects.clone();
        async move {
            effects.lock().unwrap().push(what.clone());
            siding::Ok(what)
        }
    };
    let once = ctx.uuid("order");
    ctx.step("charge", happens("charge")).await?;
    let address: Address = ctx.input(format!("Where does the {item} go?")).await?;
    let (size, gift): (u8, bool) = ctx.input_all(("Which size?", "A gift?")).await?;
    ctx.step("pack", happens("pack")).await?;
    let note: Option<String> = ctx.input("A note?").optional().await?;
    ctx.step("ship", happens("ship")).await?;
    assert_eq!(once.get_version_num(), 4);
    Ok(format!(
        "{item}: {} {:?}, size {size}, gift {gift}, note {note:?}",
        address.street, address.floor
    ))
}

/// What everybody answers.
fn answer(key: &str) -> Value {
    match key {
        "address" => accepted(json!({ "street": "High Street" })),
        "size" => accepted(json!({ "value": 4 })),
        "gift" => accepted(json!({ "value": true })),
        "note" => json!({ "action": "decline" }),
        other => panic!("nobody asks for `{other}`"),
    }
}

fn answers(asked: &Value) -> Value {
    let keys = questions(asked).keys();
    keys.map(|key| (key.clone(), answer(key))).collect()
}

fn item() -> Value {
    json!({ "item": "kettle" })
}

/// A world with a store and a clock of its own, in which servers come and go.
struct World {
    effects: Effects,
    store: MemoryStore,
    host: VirtualHost,
}

impl World {
    fn new() -> Self {
        Self {
            effects: Effects::default(),
            store: MemoryStore::new(),
            host: VirtualHost::new(),
        }
    }

    fn server(&self) -> Server<Effects> {
        Server::new("orders", "1.0.0")
            .state(self.effects.clone())
            .store(self.store.clone())
            .tool::<order>()
    }

    fn effects(&self) -> Vec<String> {
        self.effects.lock().unwrap().clone()
    }
}

/// How a client is asked.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Task,
    Rounds,
    Live,
}

/// A client whose server may die after every message.
struct Client<'a> {
    world: &'a World,
    declares: Declares,
    wire: Option<Wire>,
    crashes: bool,
    messages: u32,
}

impl<'a> Client<'a> {
    const fn new(world: &'a World, declares: Declares, crashes: bool) -> Self {
        Self {
            world,
            declares,
            wire: None,
            crashes,
            messages: 0,
        }
    }

    async fn request(&mut self, method: &str, params: Value) -> Value {
        let mut wire = self
            .wire
            .take()
            .unwrap_or_else(|| Wire::on(self.world.server(), self.declares, self.world.host));
        self.messages += 1;
        let answered = wire.request(method, params).await.unwrap();
        if self.crashes {
            wire.kill().await;
        } else {
            self.wire = Some(wire);
        }
        answered
    }
}

async fn by_task(world: &World, crashes: bool) -> String {
    let mut client = Client::new(world, Declares::Tasks, crashes);
    let call = json!({ "name": "order", "arguments": item() });
    let created = client.request("tools/call", call).await;
    assert_eq!(created["resultType"], "task");
    let id = json!({ "taskId": created["taskId"] });
    loop {
        let task = client.request("tasks/get", id.clone()).await;
        match task["status"].as_str().unwrap() {
            "input_required" => {
                let mut update = id.clone();
                update["inputResponses"] = answers(&task);
                client.request("tasks/update", update).await;
            }
            "completed" => {
                assert!(client.messages >= 8);
                return text(&task["result"]).to_owned();
            }
            // Nothing runs between two servers; with one, it runs while the client waits.
            _ => tokio::time::sleep(tokio::time::Duration::from_secs(1)).await,
        }
    }
}

async fn by_rounds(world: &World, crashes: bool) -> String {
    let mut client = Client::new(world, Declares::Elicitation, crashes);
    let mut call = json!({ "name": "order", "arguments": item() });
    loop {
        let answered = client.request("tools/call", call.clone()).await;
        if answered["resultType"] == "complete" {
            assert_eq!(client.messages, 4);
            return text(&answered).to_owned();
        }
        call = retry(call, &answered, answers(&answered));
    }
}

async fn live(world: &World) -> String {
    let (mut wire, _) = Wire::legacy(world.server(), Declares::Elicitation).await;
    let call = json!({ "name": "order", "arguments": item() });
    let call = wire.send("tools/call", call).await;
    for key in ["address", "size", "gift", "note"] {
        let asked = wire.incoming("elicitation/create").await;
        wire.respond(&asked, answer(key)).await;
    }
    text(&wire.receive(call).await.unwrap()).to_owned()
}

#[tokio::test(start_paused = true)]
async fn u10_every_client_reaches_the_same_answer_with_the_same_effects() {
    let wanted = "kettle: High Street None, size 4, gift true, note None";
    for kind in [Kind::Task, Kind::Rounds, Kind::Live] {
        // Nothing of a call that an older client waits for outlives its server.
        let crashes: &[bool] = match kind {
            Kind::Task | Kind::Rounds => &[false, true],
            Kind::Live => &[false],
        };
        for crashes in crashes.iter().copied() {
            let world = World::new();
            let reached = match kind {
                Kind::Task => by_task(&world, crashes).await,
                Kind::Rounds => by_rounds(&world, crashes).await,
                Kind::Live => live(&world).await,
            };
            assert_eq!(reached, wanted, "{kind:?}, crashes: {crashes}");
            let effects = world.effects();
            assert_eq!(effects, ["charge", "pack", "ship"], "{kind:?}, {crashes}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn u09_nothing_behind_the_question_runs_for_a_client_that_cannot_be_asked() {
    let call = json!({ "name": "order", "arguments": item() });
    for era in ["2026-07-28", "2025-11-25"] {
        let world = World::new();
        let mut wire = if era == "2026-07-28" {
            Wire::modern(world.server(), Declares::Nothing)
        } else {
            Wire::legacy(world.server(), Declares::Nothing).await.0
        };
        let told = wire.request("tools/call", call.clone()).await.unwrap();
        assert_eq!(told["isError"], true, "{era}");
        let why = text(&told);
        assert!(
            why.contains("did not declare form elicitation"),
            "{era}: {why}"
        );
        assert_eq!(world.effects(), ["charge"], "{era}");
    }
}

#[tokio::test(start_paused = true)]
async fn two_clients_of_one_server_are_decided_by_their_own_requests() {
    let world = World::new();
    let mut wire = Wire::modern(world.server(), Declares::Nothing);
    let call = |declares: Declares| json!({ "name": "order", "arguments": item(), "_meta": declares.meta() });
    for _ in 0..2 {
        let created = wire
            .request("tools/call", call(Declares::Tasks))
            .await
            .unwrap();
        assert_eq!(created["resultType"], "task");
        let asked = wire
            .request("tools/call", call(Declares::Elicitation))
            .await
            .unwrap();
        assert_eq!(asked["resultType"], "input_required");
        let told = wire
            .request("tools/call", call(Declares::Nothing))
            .await
            .unwrap();
        assert_eq!(told["isError"], true);
    }
}
