//! A file that is deleted, moved or replaced under its server.

use std::{fs, path::Path};

use serde_json::{Value, json};
use siding::{host::SystemHost, prelude::*};

use super::{App, server};
use crate::support::Wire;

async fn refused(wire: &mut Wire) -> Value {
    let error = wire.call("work", json!({ "seconds": 0 })).await;
    error.unwrap_err()["data"]["reason"].clone()
}

async fn when(change: impl FnOnce(&Path)) -> (Wire, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tasks.db");
    let store = SqliteStore::open(&path).await.unwrap();
    let mut wire = Wire::with_host(server(&App::default(), store), SystemHost);
    let id = wire.task("work", json!({ "seconds": 0 })).await;
    wire.end(&id).await;
    change(&path);
    (wire, folder)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_whose_file_was_deleted_acknowledges_nothing() {
    let (mut wire, _folder) = when(|path| fs::remove_file(path).unwrap()).await;
    assert_eq!(refused(&mut wire).await, "store");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_whose_log_was_deleted_acknowledges_nothing() {
    let (mut wire, _folder) = when(|path| {
        fs::remove_file(path.with_file_name("tasks.db-wal")).unwrap();
    })
    .await;
    assert_eq!(refused(&mut wire).await, "store");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_whose_file_was_replaced_acknowledges_nothing_until_it_is_back() {
    let (mut wire, folder) = when(|path| {
        fs::rename(path, path.with_file_name("moved.db")).unwrap();
        fs::write(path, "").unwrap();
    })
    .await;
    assert_eq!(refused(&mut wire).await, "store");
    let path = folder.path().join("tasks.db");
    fs::rename(path.with_file_name("moved.db"), &path).unwrap();
    let id = wire.task("work", json!({ "seconds": 0 })).await;
    assert_eq!(wire.end(&id).await["status"], "completed");
}

#[tokio::test]
async fn a_store_says_what_to_do_if_the_disk_fails_when_it_is_opened() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tasks.db");
    // A shared memory that is a folder is what SQLite cannot use.
    drop(SqliteStore::open(&path).await.unwrap());
    fs::create_dir(path.with_file_name("tasks.db-wal")).unwrap();
    let error = SqliteStore::open(&path).await.unwrap_err().to_string();
    assert!(
        error.contains("tasks.db`")
            && (error.contains("see whether") || error.contains("give this process")),
        "{error}"
    );
}
