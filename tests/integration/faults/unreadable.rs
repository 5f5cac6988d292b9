//! What a worker cannot read it leaves alone; the rest goes on.

use std::path::Path;

use serde_json::json;
use siding::{Store, host::SystemHost, prelude::*};

use crate::support::{Log, Wire};

/// Asks.
#[mcp_tool(task = "required")]
async fn ask(ctx: &mut Ctx) -> Result<String> {
    ctx.step("plan", async { Ok("three hosts".to_owned()) })
        .await?;
    let sure: bool = ctx.input("Sure?").await?;
    Ok(sure.to_string())
}

async fn server(path: &Path) -> Server {
    let store = SqliteStore::open(path).await.unwrap();
    Server::new("shop", "1.0.0").tool::<ask>().store(store)
}

fn change(path: &Path, sql: &str, id: &str) {
    let people = rusqlite::Connection::open(path).unwrap();
    people
        .busy_timeout(std::time::Duration::from_secs(5))
        .unwrap();
    assert!(people.execute(sql, [id]).unwrap() > 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_record_of_a_newer_format_does_not_hide_the_others_from_the_operator() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tasks.db");
    let server = server(&path).await;
    let tasks = server.tasks();
    let mut wire = Wire::with_host(server, SystemHost);
    let (newer, other) = (
        wire.parked("ask", json!({})).await,
        wire.parked("ask", json!({})).await,
    );
    let set = "UPDATE execution SET record = json_set(record, '$.origin.format', 9) WHERE id = ?1";
    change(&path, set, &newer);
    let listed = tasks.list(None).await.unwrap();
    let ids: Vec<_> = listed.iter().map(|task| task.id().as_str()).collect();
    assert_eq!(ids, [other]);
}

#[tokio::test]
async fn a_journal_that_cannot_be_read_is_left_alone_and_the_rest_goes_on() {
    let log = Log::default();
    let written = log.clone();
    let subscriber = tracing_subscriber::fmt().with_writer(move || written.clone());
    let _guard = tracing::subscriber::set_default(subscriber.with_ansi(false).finish());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tasks.db");
    let mut wire = Wire::with_host(server(&path).await, SystemHost);
    let (newer, other) = (
        wire.parked("ask", json!({})).await,
        wire.parked("ask", json!({})).await,
    );
    let set = "UPDATE journal SET entry = json_set(entry, '$.kind', 'of tomorrow')
        WHERE execution = (SELECT number FROM execution WHERE id = ?1) AND entry ->> '$.kind' = 'step'";
    change(&path, set, &newer);
    for id in [&newer, &other] {
        wire.accept(id, "sure", json!({ "value": true })).await;
    }
    assert_eq!(wire.end(&other).await["status"], "completed");
    let task = wire.get(&newer).await;
    assert_eq!(task["status"], "working", "{task}");
    let store = SqliteStore::open(&path).await.unwrap();
    let record = store.load(&newer.as_str().into()).await.unwrap().unwrap();
    assert_eq!((record.legs(), record.index().worker), (1, None));
    let log = log.text();
    assert_eq!(log.matches("left a task to others").count(), 1, "{log}");
    assert!(!log.contains("the task store failed"), "{log}");
    // Whoever can read it goes on.
    let back = "UPDATE journal SET entry = json_set(entry, '$.kind', 'step')
        WHERE execution = (SELECT number FROM execution WHERE id = ?1) AND entry ->> '$.kind' = 'of tomorrow'";
    change(&path, back, &newer);
    let mut wire = Wire::with_host(server(&path).await, SystemHost);
    assert_eq!(wire.end(&newer).await["status"], "completed");
}
