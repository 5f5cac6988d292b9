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
