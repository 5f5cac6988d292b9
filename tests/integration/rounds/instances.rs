//! Rounds across servers, attempts and versions of the code.

use std::sync::atomic::Ordering::Relaxed;

use futures::future::join_all;
use serde_json::json;
use siding::prelude::*;
use tokio::time::{Duration, Instant, sleep};

use super::{item, open, shop, size, sure};
use crate::support::{Declares, Wire, retry, text};

#[tokio::test(start_paused = true)]
async fn any_instance_on_the_same_store_serves_the_retry() {
    let store = MemoryStore::new();
    let (server, world) = shop();
    let mut wire = Wire::modern(server.store(store.clone()), Declares::Elicitation);
    let first = wire.call("order", item()).await.unwrap();
    wire.kill().await;
    let server = open(&world).store(store.clone());
    let mut wire = Wire::modern(server, Declares::Elicitation);
    let second = wire.go_on("order", item(), &first, size(json!(4))).await;
    wire.kill().await;
    let server = open(&world).store(store);
    let mut wire = Wire::modern(server, Declares::Elicitation);
    let done = wire.go_on("order", item(), &second, sure(true)).await;
    assert_eq!(text(&done), "tea of size 4, charge 1, parcel 1");
}

/// The order's rounds, each served by another handle of one file.
#[tokio::test(start_paused = true)]
async fn handles_of_one_sqlite_file_serve_the_rounds_between_them() {
    let folder = tempfile::tempdir().unwrap();
    let store = async || {
        SqliteStore::open(folder.path().join("tasks.db"))
            .await
            .unwrap()
    };
    let (server, world) = shop();
    let mut one = Wire::modern(server.store(store().await), Declares::Elicitation);
    let mut other = Wire::modern(open(&world).store(store().await), Declares::Elicitation);
    let first = one.call("order", item()).await.unwrap();
    let second = other.again("order", item(), &first, size(json!(4)));
    let second = second.await.unwrap();
    let done = one.again("order", item(), &second, sure(true)).await;
    assert_eq!(text(&done.unwrap()), "tea of size 4, charge 1, parcel 1");
    // The last answers again, where they did not go: what came of them is in the file.
    let repeated = other.again("order", item(), &second, sure(true)).await;
    assert_eq!(
        text(&repeated.unwrap()),
        "tea of size 4, charge 1, parcel 1"
    );
    assert_eq!(world.shipped.load(Relaxed), 1);
}

#[tokio::test(start_paused = true)]
async fn a_step_in_flight_ends_when_its_client_left_and_the_retry_goes_on_behind_it() {
    let (server, world) = shop();
    let mut wire = Wire::modern(server, Declares::Elicitation);
    let asked = wire.call("slow", json!({})).await.unwrap();
    let params = retry(
        json!({ "name": "slow", "arguments": {} }),
        &asked,
        sure(true),
    );
    let abandoned = wire.send("tools/call", params.clone()).await;
    sleep(Duration::from_millis(10)).await;
    wire.take_back(abandoned).await;
    sleep(Duration::from_millis(10)).await;
    world.gate.notify_one();
    sleep(Duration::from_millis(10)).await;
    assert_eq!(world.charged.load(Relaxed), 1);
    assert_eq!(world.shipped.load(Relaxed), 0, "it stopped behind the step");
    let done = wire.request("tools/call", params).await.unwrap();
    assert_eq!(text(&done), "true");
    assert_eq!(world.charged.load(Relaxed), 1);
    assert_eq!(world.shipped.load(Relaxed), 1);
}

#[tokio::test(start_paused = true)]
async fn code_that_changed_between_two_rounds_uses_no_answer() {
    let store = MemoryStore::new();
    let (server, world) = shop();
    let mut wire = Wire::modern(server.store(store.clone()), Declares::Elicitation);
    let first = wire.call("order", item()).await.unwrap();
    wire.close().await;
    let changed = changed::server(&world).store(store);
    let mut wire = Wire::modern(changed, Declares::Elicitation);
    let answer = wire.again("order", item(), &first, size(json!(4))).await;
    let error = answer.unwrap_err();
    assert_eq!(error["data"]["reason"], "drift", "{error}");
    // Again, and at once: the code here does not change.
    let answer = wire.again("order", item(), &first, size(json!(4))).await;
    assert_eq!(answer.unwrap_err()["data"]["reason"], "drift");
    assert_eq!(world.shipped.load(Relaxed), 0);
}

#[tokio::test(start_paused = true)]
async fn retries_on_eight_instances_at_once_run_one_leg() {
    let (server, world) = shop();
    let store = MemoryStore::new();
    let mut wire = Wire::modern(server.store(store.clone()), Declares::Elicitation);
    let first = wire.call("order", item()).await.unwrap();
    let retries = (0..8).map(|_| {
        let server = open(&world).store(store.clone());
        let first = first.clone();
        async move {
            let mut wire = Wire::modern(server, Declares::Elicitation);
            let answer = wire.again("order", item(), &first, size(json!(4))).await;
            answer.unwrap()["requestState"].clone()
        }
    });
    let states = join_all(retries).await;
    assert!(states.iter().all(|state| *state == states[0]));
    assert_eq!(world.runs.load(Relaxed), 2);
}

#[tokio::test(start_paused = true)]
async fn u24_a_retry_joins_the_leg_that_its_first_attempt_began() {
    let (server, world) = shop();
    let mut wire = Wire::modern(server, Declares::Elicitation);
    let asked = wire.call("slow", json!({})).await.unwrap();
    let params = retry(
        json!({ "name": "slow", "arguments": {} }),
        &asked,
        sure(true),
    );
    let mut attempts = Vec::new();
    for _ in 0..5 {
        attempts.push(wire.send("tools/call", params.clone()).await);
        sleep(Duration::from_millis(10)).await;
    }
    world.gate.notify_one();
    for attempt in attempts {
        assert_eq!(text(&wire.receive(attempt).await.unwrap()), "true");
    }
    assert_eq!(world.runs.load(Relaxed), 2);
    assert_eq!(world.charged.load(Relaxed), 1);
}

#[tokio::test(start_paused = true)]
async fn a_sleep_that_is_over_is_over_where_the_clock_is_behind() {
    let store = MemoryStore::new();
    let (server, world) = shop();
    let mut wire = Wire::modern(server.store(store.clone()), Declares::Elicitation);
    let asked = wire.call("nap", json!({})).await.unwrap();
    wire.close().await;
    // Its clock begins now, as the other's did a minute ago.
    let mut wire = Wire::modern(open(&world).store(store), Declares::Elicitation);
    let began = Instant::now();
    let done = wire.again("nap", json!({}), &asked, sure(true)).await;
    assert!(text(&done.unwrap()).starts_with("true"));
    assert_eq!(began.elapsed().as_secs(), 0);
}

mod changed {
    use siding::prelude::*;

    use crate::rounds::Shop;

    /// Asks for something else.
    #[mcp_tool(task = "optional")]
    async fn order(ctx: &mut Ctx<Shop>, item: String) -> Result<String> {
        let world = ctx.state();
        ctx.step("charge", world.charge()).await?;
        let colour: String = ctx.input(format!("Which colour of {item}?")).await?;
        ctx.step("ship", world.ship()).await?;
        Ok(colour)
    }

    pub(super) fn server(world: &Shop) -> Server<Shop> {
        Server::new("shop", "2.0.0")
            .state(world.clone())
            .tool::<order>()
    }
}
