//! What must be undone is undone by the code that can, or the operator is told.

use std::sync::{
    Arc,
    atomic::{AtomicI32, Ordering::Relaxed},
};

use serde_json::json;
use siding::{Store, prelude::*};
use tokio::time::{Duration, sleep};

use crate::support::{VirtualHost, Wire};

type Seats = Arc<AtomicI32>;

mod first {
    use super::*;

    /// Reserves a seat, and gives it back if nobody takes it.
    #[mcp_tool(task = "required", name = "reserve", ttl = "90d")]
    pub(super) async fn reserve(ctx: &mut Ctx<Seats>) -> Result<String> {
        let seats = ctx.state();
        let seat = ctx
            .step("reserve", async { Ok(seats.fetch_add(1, Relaxed)) })
            .await?;
        let sure: Result<bool> = ctx.input("Take it?").key("sure").await;
        if let Ok(true) = sure {
            return Ok("taken".into());
        }
        let seats = ctx.state();
        ctx.cleanup(format!("give back {seat}"), async {
            seats.fetch_sub(1, Relaxed);
            Ok(())
        })
        .await?;
        Err(ToolError::new("not taken"))
    }
}

mod second {
    use super::*;

    /// Reserves otherwise.
    #[mcp_tool(task = "required", name = "reserve", ttl = "90d")]
    pub(super) async fn reserve(ctx: &mut Ctx<Seats>) -> Result<String> {
        let seats = ctx.state();
        ctx.step("book", async { Ok(seats.fetch_add(1, Relaxed)) })
            .await?;
        let sure: bool = ctx.input("Take it?").await?;
        let seats = ctx.state();
        ctx.cleanup("cancel booking", async {
            seats.fetch_sub(1, Relaxed);
            Ok(())
        })
        .await?;
        Ok(sure.to_string())
    }
}

/// Does nothing, as a task.
#[mcp_tool(task = "required")]
async fn idle() -> Result<String> {
    Ok("done".into())
}

fn shop(version: &str, seats: &Seats, store: &MemoryStore) -> Server<Seats> {
    let server = Server::new("shop", version).state(seats.clone());
    server.store(store.clone())
}

/// A server with the old code made a task that is parked, and is gone.
async fn parked(seats: &Seats, store: &MemoryStore, host: VirtualHost) -> String {
    let server = shop("1.0.0", seats, store).tool::<first::reserve>();
    let mut wire = Wire::with_host(server, host);
    let id = wire.parked("reserve", json!({})).await;
    wire.close().await;
    id
}

#[tokio::test(start_paused = true)]
async fn a_cleanup_waits_for_the_code_that_fits() {
    let (seats, store, host) = (Seats::default(), MemoryStore::new(), VirtualHost::new());
    let id = parked(&seats, &store, host).await;
    let server = shop("2.0.0", &seats, &store).tool::<second::reserve>();
    let mut new = Wire::with_host(server, host);
    new.cancel(&id).await.unwrap();
    sleep(Duration::from_mins(1)).await;
    assert_eq!(
        seats.load(Relaxed),
        1,
        "the new code undoes nothing that it did not do"
    );
    let server = shop("1.0.0", &seats, &store).tool::<first::reserve>();
    let _old = Wire::with_host(server, host);
    sleep(Duration::from_secs(1)).await;
    assert_eq!(seats.load(Relaxed), 0);
    assert_eq!(new.get(&id).await["statusMessage"], "cancelled");
}

#[tokio::test(start_paused = true)]
async fn a_cleanup_that_no_code_fits_is_given_up_and_the_operator_is_told() {
    let (seats, store, host) = (Seats::default(), MemoryStore::new(), VirtualHost::new());
    let id = parked(&seats, &store, host).await;
    let server = shop("2.0.0", &seats, &store).tool::<second::reserve>();
    let tasks = server.tasks();
    let mut new = Wire::with_host(server, host);
    new.cancel(&id).await.unwrap();
    sleep(Duration::from_mins(9)).await;
    assert!(tasks.not_cleaned().await.unwrap().is_empty());
    sleep(Duration::from_mins(2)).await;
    let not_cleaned = tasks.not_cleaned().await.unwrap();
    assert_eq!(not_cleaned[0].id().as_str(), id);
    let why = not_cleaned[0].not_cleaned().unwrap();
    assert!(why.contains("`reserve`") && why.contains("`book`"), "{why}");
    let message = new.get(&id).await["statusMessage"].to_string();
    assert!(message.contains("cancelled; not cleaned up:"), "{message}");
    // Nothing tries for ever.
    sleep(Duration::from_hours(1)).await;
    assert_eq!(
        tasks.get(&id.as_str().into()).await.unwrap().legs(),
        not_cleaned[0].legs()
    );
}

#[tokio::test(start_paused = true)]
async fn the_record_of_a_tool_that_nobody_has_goes_and_the_operator_is_told() {
    let (seats, store, host) = (Seats::default(), MemoryStore::new(), VirtualHost::new());
    let id = parked(&seats, &store, host).await;
    let server = shop("2.0.0", &seats, &store).tool::<idle>();
    let tasks = server.tasks();
    let mut new = Wire::with_host(server, host);
    new.cancel(&id).await.unwrap();
    let ttl = Some(Duration::from_secs(1));
    tasks.set_ttl(&id.as_str().into(), ttl).await.unwrap();
    sleep(Duration::from_hours(23)).await;
    assert!(tasks.not_cleaned().await.unwrap().is_empty());
    sleep(Duration::from_hours(2)).await;
    let not_cleaned = tasks.not_cleaned().await.unwrap();
    let why = not_cleaned[0].not_cleaned().unwrap();
    assert_eq!(why, "no worker had the tool `reserve`");
    sleep(Duration::from_hours(8 * 24)).await;
    assert!(tasks.not_cleaned().await.unwrap().is_empty());
    assert!(store.load(&id.as_str().into()).await.unwrap().is_none());
}

#[tokio::test(start_paused = true)]
async fn a_cleanup_by_a_computed_name_runs_after_an_expiry_too() {
    let (seats, store, host) = (Seats::default(), MemoryStore::new(), VirtualHost::new());
    let server = shop("1.0.0", &seats, &store).tool::<first::reserve>();
    let tasks = server.tasks();
    let mut wire = Wire::with_host(server, host);
    let id = wire.parked("reserve", json!({})).await;
    let ttl = Some(Duration::from_secs(100));
    tasks.set_ttl(&id.as_str().into(), ttl).await.unwrap();
    sleep(Duration::from_mins(2)).await;
    assert_eq!(seats.load(Relaxed), 0);
}

/// Cleans up by code that panics.
#[mcp_tool(task = "required")]
async fn panics(ctx: &mut Ctx<Seats>) -> Result<String> {
    let sure: Result<bool> = ctx.input("Sure?").key("sure").await;
    assert!(sure.is_ok(), "nobody thought of a cancel");
    ctx.cleanup("undo", async { Ok(()) }).await?;
    Ok("done".into())
}

#[tokio::test(start_paused = true)]
async fn a_cleanup_whose_code_panics_is_told_to_the_operator() {
    let (seats, store, host) = (Seats::default(), MemoryStore::new(), VirtualHost::new());
    let server = shop("1.0.0", &seats, &store).tool::<panics>();
    let tasks = server.tasks();
    let mut wire = Wire::with_host(server, host);
    let id = wire.parked("panics", json!({})).await;
    wire.cancel(&id).await.unwrap();
    sleep(Duration::from_secs(1)).await;
    let not_cleaned = tasks.not_cleaned().await.unwrap();
    assert_eq!(not_cleaned[0].not_cleaned(), Some("its code panicked"));
}
