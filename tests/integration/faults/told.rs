//! What is only told never ends or delays a leg.

use std::sync::atomic::Ordering::Relaxed;

use serde_json::json;
use siding::{
    Store,
    prelude::*,
    testing::{Fault, FaultyStore},
};
use tokio::time::{Duration, sleep};

use super::App;
use crate::support::Wire;

/// Tells how it goes, then charges.
#[mcp_tool(task = "required")]
async fn tells(ctx: &mut Ctx<App>, times: u32) -> Result<String> {
    let (world, handle) = (ctx.state(), ctx.handle());
    ctx.set_meta("shop", json!("open"));
    ctx.step("charge", async {
        world.begun.fetch_add(1, Relaxed);
        for time in 1..=times {
            handle.status(format!("{time} of {times}"));
            sleep(Duration::from_millis(10)).await;
        }
        sleep(Duration::from_secs(10)).await;
        Ok(())
    })
    .await?;
    Ok("charged".into())
}

fn server(world: &App, store: impl Store) -> Server<App> {
    let server = Server::new("shop", "1.0.0").state(world.clone());
    server.tool::<tells>().store(store)
}

#[tokio::test(start_paused = true)]
async fn a_status_that_cannot_be_written_ends_no_leg_and_is_told_later() {
    let world = App::default();
    // The create is the first write, the status the second and the third.
    let store = FaultyStore::new(MemoryStore::new())
        .on(2, Fault::Lost)
        .on(3, Fault::Lost);
    let mut wire = Wire::tasks(server(&world, store));
    let id = wire.task("tells", json!({ "times": 1 })).await;
    sleep(Duration::from_secs(5)).await;
    let task = wire.get(&id).await;
    assert_eq!(task["status"], "working");
    assert_eq!(task["statusMessage"], "1 of 1");
    assert_eq!(task["_meta"]["shop"], "open");
    assert_eq!(wire.end(&id).await["status"], "completed");
    assert_eq!(world.begun(), 1);
}

#[tokio::test(start_paused = true)]
async fn what_could_not_be_told_is_in_the_end() {
    let world = App::default();
    let store = (2..12).fold(FaultyStore::new(MemoryStore::new()), |store, write| {
        store.on(write, Fault::Lost)
    });
    let mut wire = Wire::tasks(server(&world, store));
    let id = wire.task("tells", json!({ "times": 1 })).await;
    let task = wire.end(&id).await;
    assert_eq!(task["status"], "completed");
    assert_eq!(task["_meta"]["shop"], "open", "{task}");
}

#[tokio::test(start_paused = true)]
async fn a_flood_of_statuses_is_told_at_a_bounded_rate_and_the_last_one_is() {
    let world = App::default();
    let store = FaultyStore::new(MemoryStore::new());
    let mut wire = Wire::tasks(server(&world, store.clone()));
    let id = wire.task("tells", json!({ "times": 1_000 })).await;
    sleep(Duration::from_secs(15)).await;
    assert_eq!(wire.get(&id).await["statusMessage"], "1000 of 1000");
    // Ten seconds: eight at once, then four in a second.
    assert!(store.writes() < 60, "{} writes", store.writes());
}
