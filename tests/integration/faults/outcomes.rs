//! The outcome of a step is kept until the store takes it.

use serde_json::json;
use siding::{
    Store,
    prelude::*,
    store::Creation,
    testing::{Fault, FaultyStore},
};
use tokio::time::{Duration, sleep};

use super::{App, server};
use crate::support::{Log, VirtualHost, Wire};

/// The writes of this number, and all up to that one, fail.
fn failing(store: MemoryStore, from: u64, to: u64) -> FaultyStore {
    (from..=to).fold(FaultyStore::new(store), |store, write| {
        store.on(write, Fault::Lost)
    })
}

#[tokio::test(start_paused = true)]
async fn an_outcome_is_written_again_until_the_store_takes_it() {
    let world = App::default();
    let store = failing(MemoryStore::new(), 2, 20);
    let mut wire = Wire::tasks(server(&world, store.clone()));
    let id = wire.task("work", json!({ "seconds": 1 })).await;
    sleep(Duration::from_secs(2)).await;
    assert_eq!(wire.get(&id).await["status"], "working");
    let task = wire.end(&id).await;
    assert_eq!(task["status"], "completed", "{task}");
    assert_eq!((world.begun(), world.ended()), (1, 1));
    assert!(store.writes() > 20);
}

#[tokio::test(start_paused = true)]
async fn an_outcome_whose_acknowledgement_was_lost_is_journaled_once() {
    for write in 2..5 {
        let (world, kept) = (App::default(), MemoryStore::new());
        let store = FaultyStore::new(kept.clone()).on(write, Fault::Unheard);
        let mut wire = Wire::tasks(server(&world, store));
        let id = wire.task("work", json!({ "seconds": 1 })).await;
        let task = wire.end(&id).await;
        assert_eq!(task["status"], "completed", "{task}");
        assert_eq!(world.begun(), 1);
        let journal = kept.journal(&id.as_str().into()).await.unwrap();
        assert_eq!(journal.len(), 1, "{journal:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_store_that_fails_before_an_effect_refuses_the_call() {
    let world = App::default();
    let store = FaultyStore::new(MemoryStore::new()).on(1, Fault::Lost);
    let mut wire = Wire::tasks(server(&world, store));
    let error = wire.call("work", json!({ "seconds": 1 })).await;
    assert_eq!(error.unwrap_err()["data"]["reason"], "store");
    sleep(Duration::from_mins(1)).await;
    assert_eq!(world.begun(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_ends_tries_once_more_and_says_which_step_is_lost() {
    let (world, log) = (App::default(), Log::default());
    let written = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_writer(move || written.clone())
        .with_ansi(false)
        .finish();
    let guard = tracing::subscriber::set_default(subscriber);
    {
        let store = failing(MemoryStore::new(), 2, 10_000);
        let server = server(&world, store).patience(Duration::from_secs(3));
        let server = server.shutdown_on(async { sleep(Duration::from_secs(10)).await });
        let mut wire = Wire::with_host(server, VirtualHost::new());
        wire.task("work", json!({ "seconds": 1 })).await;
        sleep(Duration::from_secs(20)).await;
        wire.close().await;
    }
    drop(guard);
    let log = log.text();
    let last = log
        .lines()
        .find(|line| line.contains("lost as the process ends"));
    assert!(
        last.is_some_and(|line| line.contains("step `charge`")),
        "{log}"
    );
    assert_eq!(world.begun(), 1);
}

/// Charges, while another program takes the lock of the file and keeps it.
#[mcp_tool(task = "required")]
async fn charges_under_lock(ctx: &mut Ctx<(App, std::path::PathBuf)>) -> Result<String> {
    let state = ctx.state();
    ctx.step("charge", async {
        state
            .0
            .begun
            .fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let path = state.1.clone();
        let other = rusqlite::Connection::open(path)?;
        other.execute_batch("BEGIN IMMEDIATE")?;
        std::thread::spawn(move || {
            // Longer than a write waits.
            std::thread::sleep(Duration::from_secs(6));
            other.execute_batch("ROLLBACK").unwrap();
        });
        Ok(())
    })
    .await?;
    Ok("charged".into())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_another_program_locks_when_a_step_ends_costs_no_outcome() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tasks.db");
    let world = App::default();
    let store = SqliteStore::open(&path).await.unwrap();
    let server = Server::new("shop", "1.0.0").state((world.clone(), path));
    let server = server.tool::<charges_under_lock>().store(store);
    let mut wire = Wire::with_host(server, siding::host::SystemHost);
    let id = wire.task("charges_under_lock", json!({})).await;
    let task = wire.end(&id).await;
    assert_eq!(task["status"], "completed", "{task}");
    assert_eq!(world.begun(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a figure: run by `.ci/run figures`"]
async fn figure_a_write_waits_for_a_lock_as_long_as_it_says() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tasks.db");
    let store = SqliteStore::open(&path).await.unwrap();
    let other = rusqlite::Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let begun = std::time::Instant::now();
    let created = Creation::new(siding::testing::record("a"));
    let error = store.insert(created).await.unwrap_err().to_string();
    let waited = begun.elapsed();
    assert!(error.contains("for 5 s"), "{error}");
    println!("waited {waited:?} for the lock");
    assert!(waited < Duration::from_secs(6));
}
