use tempfile::TempDir;
use tokio::runtime::Runtime;

use super::*;
use crate::testing::{record, step};

async fn store() -> (TempDir, SqliteStore) {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path().join("tasks.db"))
        .await
        .unwrap();
    (folder, store)
}

fn pragma<T: rusqlite::types::FromSql>(store: &SqliteStore, name: &str) -> T {
    store.shared.writer.with_connection(|connection| {
        connection
            .pragma_query_value(None, name, |row| row.get(0))
            .unwrap()
    })
}

/// Lets no file grow beyond what it has.
fn fill(store: &SqliteStore) {
    let pages: i64 = pragma(store, "page_count");
    store.shared.writer.with_connection(|connection| {
        connection
            .pragma_update(None, "max_page_count", pages)
            .unwrap();
    });
}

#[tokio::test]
async fn s18_a_commit_waits_for_the_disk() {
    let (_folder, store) = store().await;
    assert_eq!(pragma::<String>(&store, "journal_mode"), "wal");
    assert_eq!(pragma::<i64>(&store, "synchronous"), 2);
    assert!(store.is_durable());
}

#[tokio::test]
async fn a_full_disk_is_told_and_nothing_is_written() {
    let (_folder, store) = store().await;
    let first = record("a");
    store.insert(Creation::new(first.clone())).await.unwrap();
    fill(&store);
    let huge = step(&first, "huge", &"x".repeat(100_000));
    let said = store.commit(huge).await.unwrap_err().to_string();
    assert!(said.contains("there is no space left for"), "{said}");
    assert_eq!(*store.load(first.id()).await.unwrap().unwrap(), first);
    assert!(store.journal(first.id()).await.unwrap().is_empty());
    // What still fits goes on.
    let small = step(&first, "small", &"x");
    assert_eq!(store.commit(small).await.unwrap(), Swap::Done);
}

#[tokio::test]
async fn a_file_that_another_program_holds_is_told_and_works_again_after_it() {
    let (_folder, store) = store().await;
    store.shared.writer.with_connection(|connection| {
        connection.busy_timeout(Duration::from_millis(10)).unwrap();
    });
    let holder = rusqlite::Connection::open(&store.shared.path).unwrap();
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    let insert = store.insert(Creation::new(record("a"))).await;
    let said = insert.unwrap_err().to_string();
    assert!(said.contains("was locked by another program"), "{said}");
    holder.execute_batch("ROLLBACK").unwrap();
    store.insert(Creation::new(record("a"))).await.unwrap();
}

#[test]
fn a_store_goes_on_after_the_runtime_that_used_it() {
    let first = Runtime::new().unwrap();
    let (_folder, store) = first.block_on(store());
    // Asked for and not waited for: the runtime may end before, while or after it writes.
    for number in 0..100 {
        let (store, id) = (store.clone(), format!("{number}"));
        first.spawn(async move { store.insert(Creation::new(record(&id))).await });
    }
    first.shutdown_background();
    let second = Runtime::new().unwrap();
    second.block_on(async {
        store.insert(Creation::new(record("a"))).await.unwrap();
        assert!(store.load(&"a".into()).await.unwrap().is_some());
    });
}

/// Another process that holds the lock of the worker of the samples, and beat once.
fn other_process(store: &SqliteStore) -> std::fs::File {
    let mut folder = store.shared.path.clone().into_os_string();
    folder.push("-workers");
    std::fs::create_dir_all(&folder).unwrap();
    let lock = std::fs::File::create(Path::new(&folder).join("worker")).unwrap();
    lock.lock().unwrap();
    beat(store);
    lock
}

fn beat(store: &SqliteStore) {
    store.shared.writer.with_connection(|connection| {
        connection.execute(statement::BEAT, ["worker"]).unwrap();
    });
}

/// Waits until the worker of the samples is told to be dead, this way.
#[expect(
    clippy::disallowed_methods,
    reason = "other processes have no virtual clock"
)]
async fn dead(store: &SqliteStore, certain: bool) {
    let mut upto = 0;
    loop {
        let deaths = store.deaths(upto);
        let deaths = tokio::time::timeout(Duration::from_secs(20), deaths);
        let deaths = deaths.await.expect("it is dead").unwrap();
        upto = deaths.upto;
        let mut workers = deaths.workers.iter();
        if workers.any(|dead| dead.name == "worker" && dead.certain == certain) {
            return;
        }
    }
}

#[tokio::test]
async fn a_worker_that_was_only_silent_is_known_until_its_process_is_gone() {
    let (_folder, store) = store().await;
    store.beat_every(Duration::from_millis(10));
    let _life = store.enlist("observer").await.unwrap();
    let lock = other_process(&store);
    dead(&store, false).await;
    // All was taken from it. Then it wakes up and claims again, and dies before its next beat.
    store.dismiss("worker").await.unwrap();
    store.insert(Creation::new(record("a"))).await.unwrap();
    drop(lock);
    dead(&store, true).await;
    assert_eq!(store.held("worker", 9).await.unwrap().len(), 1);
}

#[tokio::test]
async fn what_a_silent_worker_takes_while_it_is_dismissed_is_taken_from_it_again() {
    let (_folder, store) = store().await;
    store.beat_every(Duration::from_millis(10));
    let _life = store.enlist("observer").await.unwrap();
    let lock = other_process(&store);
    dead(&store, false).await;
    // It woke up and claimed after all was taken from it and before it is dismissed.
    store.insert(Creation::new(record("a"))).await.unwrap();
    store.dismiss("worker").await.unwrap();
    beat(&store);
    drop(lock);
    dead(&store, true).await;
    assert_eq!(store.held("worker", 9).await.unwrap().len(), 1);
}

#[tokio::test]
async fn what_a_worker_holds_that_nobody_knows_of_is_found() {
    let (_folder, store) = store().await;
    store.beat_every(Duration::from_millis(10));
    let _life = store.enlist("observer").await.unwrap();
    // Its claim was queued when it left, and written behind its name's removal.
    store.insert(Creation::new(record("a"))).await.unwrap();
    dead(&store, false).await;
    assert_eq!(store.held("worker", 9).await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_worker_that_holds_something_when_it_is_dismissed_is_told_of_again() {
    let (_folder, store) = store().await;
    let _life = store.enlist("observer").await.unwrap();
    drop(other_process(&store));
    dead(&store, true).await;
    let before = store.deaths(0).await.unwrap().upto;
    // It was claimed between the last look at what it holds and its dismissal.
    store.insert(Creation::new(record("a"))).await.unwrap();
    store.dismiss("worker").await.unwrap();
    let again = store.deaths(before).await.unwrap();
    assert!(again.workers.iter().any(|dead| dead.name == "worker"));
}
