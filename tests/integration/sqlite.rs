//! SQLite files as operators meet them.

use std::{fs, path::Path};

use rusqlite::Connection;
use siding::{
    Store,
    prelude::*,
    record::{Status, TaskId},
    store::{Creation, Listing},
    testing::{record, step},
};

/// What opening says about a file.
async fn refusal(path: impl AsRef<Path>) -> String {
    SqliteStore::open(path).await.unwrap_err().to_string()
}

/// A file of format 1, as it was checked in with it.
fn fixture() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/format-2.db");
    fs::copy(kept, folder.path().join("tasks.db")).unwrap();
    folder
}

#[tokio::test]
async fn a_file_of_format_2_opens_and_goes_on() {
    let folder = fixture();
    let store = SqliteStore::open(folder.path().join("tasks.db"))
        .await
        .unwrap();
    let all = store.list(Listing {
        status: None,
        after: None,
        limit: 10,
    });
    let all = all.await.unwrap();
    let seen: Vec<_> = all
        .iter()
        .map(|record| (record.id().as_str(), record.version()))
        .collect();
    assert_eq!(seen, [("fresh", 1), ("grown", 3)]);
    assert!(all.iter().all(|record| record.status() == Status::Working));
    let journal = store.journal(&TaskId::from("grown")).await.unwrap();
    let journal: Vec<_> = journal
        .iter()
        .map(|entry| serde_json::to_value(entry).unwrap())
        .collect();
    let entry =
        |key, value| serde_json::json!({"kind": "step", "key": key, "value": {"ok": value}});
    assert_eq!(
        journal,
        [entry("plan", "three hosts"), entry("apply", "r-1")]
    );
    assert_eq!(store.position().await.unwrap(), 4);
    let next = step(&all[1], "later", &"now");
    store.commit(next).await.unwrap();
    assert_eq!(
        store.journal(&TaskId::from("grown")).await.unwrap().len(),
        3
    );
}

#[tokio::test]
#[ignore = "writes the fixture; a format that was released keeps the one it has"]
async fn write_a_file_of_format_2() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tasks.db");
    let store = SqliteStore::open(&path).await.unwrap();
    store.insert(Creation::new(record("fresh"))).await.unwrap();
    let grown = record("grown");
    store.insert(Creation::new(grown.clone())).await.unwrap();
    let planned = step(&grown, "plan", &"three hosts");
    store.commit(planned.clone()).await.unwrap();
    let applied = step(&planned.record, "apply", &"r-1");
    store.commit(applied).await.unwrap();
    // As an operator makes a backup.
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/format-2.db");
    let backup = Connection::open(path).unwrap();
    backup
        .execute("VACUUM INTO ?1", [fixture.to_str()])
        .unwrap();
}

#[test]
fn the_file_alone_is_whole_after_a_server_that_ended_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tasks.db");
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let store = SqliteStore::open(&path).await.unwrap();
        store.insert(Creation::new(record("a"))).await.unwrap();
        store.load(&"a".into()).await.unwrap();
    });
    drop(runtime);
    let left = fs::read_dir(folder.path()).unwrap();
    let left: Vec<_> = left.map(|file| file.unwrap().file_name()).collect();
    assert_eq!(left, ["tasks.db"]);
}

#[tokio::test]
async fn a_format_before_the_first_release_is_refused_and_says_what_to_do() {
    let folder = fixture();
    let path = folder.path().join("tasks.db");
    let older = Connection::open(&path).unwrap();
    older.pragma_update(None, "user_version", 1).unwrap();
    drop(older);
    let said = SqliteStore::open(&path).await.unwrap_err().to_string();
    assert!(
        said.contains("has the format 1") && said.contains("name another file"),
        "{said}"
    );
}

#[tokio::test]
async fn a_store_that_can_keep_no_locks_says_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tasks.db");
    let store = SqliteStore::open(&path).await.unwrap();
    fs::write(folder.path().join("tasks.db-workers"), "in the way").unwrap();
    let said = store.enlist("worker").await.unwrap_err().to_string();
    assert!(said.contains("no lock can be kept"), "{said}");
}

#[tokio::test]
async fn a_newer_format_is_refused_and_left_as_it_is() {
    let folder = fixture();
    let path = folder.path().join("tasks.db");
    let newer = Connection::open(&path).unwrap();
    newer.pragma_update(None, "user_version", 7).unwrap();
    drop(newer);
    let before = fs::read(&path).unwrap();
    let said = refusal(&path).await;
    assert!(
        said.contains("has the format 7 of a newer siding"),
        "{said}"
    );
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[tokio::test]
async fn a_database_of_another_program_is_refused_and_left_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("other.db");
    let other = Connection::open(&path).unwrap();
    other
        .execute_batch("CREATE TABLE songs (name TEXT)")
        .unwrap();
    drop(other);
    let before = fs::read(&path).unwrap();
    let said = refusal(&path).await;
    assert!(said.contains("is a database of another program"), "{said}");
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[tokio::test]
async fn what_is_no_database_is_refused_and_left_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes.txt");
    let notes = "milk and bread, and whatever else is missing. ".repeat(20);
    fs::write(&path, &notes).unwrap();
    let said = refusal(&path).await;
    assert!(said.contains("is not a SQLite database"), "{said}");
    assert_eq!(fs::read_to_string(&path).unwrap(), notes);
}

#[tokio::test]
async fn a_path_that_cannot_be_a_store_is_refused_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let said = refusal(folder.path().join("missing/tasks.db")).await;
    assert!(
        said.contains("the folder of") && said.contains("create it"),
        "{said}"
    );
    let said = refusal(folder.path()).await;
    assert!(said.contains("is a folder"), "{said}");
    for path in ["", ":memory:"] {
        let said = refusal(path).await;
        assert!(said.contains("`MemoryStore`"), "{said}");
    }
}

#[cfg(unix)]
#[tokio::test]
async fn a_file_that_cannot_be_written_is_refused() {
    use std::os::unix::fs::PermissionsExt;

    let folder = fixture();
    let path = folder.path().join("tasks.db");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o400)).unwrap();
    if fs::OpenOptions::new().append(true).open(&path).is_ok() {
        return; // This user may write everything.
    }
    let said = refusal(&path).await;
    assert!(said.contains("cannot be written"), "{said}");
}

#[cfg(unix)]
#[tokio::test]
async fn files_that_it_makes_are_for_their_user_only() {
    use std::os::unix::fs::PermissionsExt;

    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path().join("tasks.db"))
        .await
        .unwrap();
    store.insert(Creation::new(record("a"))).await.unwrap();
    for file in fs::read_dir(folder.path()).unwrap() {
        let file = file.unwrap();
        let mode = file.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{:?}", file.file_name());
    }
    // Whoever lets others read it goes on doing so.
    let path = folder.path().join("tasks.db");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    drop(store);
    SqliteStore::open(&path).await.unwrap();
    assert_eq!(
        fs::metadata(&path).unwrap().permissions().mode() & 0o777,
        0o640
    );
}

#[tokio::test]
async fn an_empty_file_becomes_a_store() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let store = SqliteStore::open(file.path()).await.unwrap();
    store.insert(Creation::new(record("a"))).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_can_create_one_file_at_the_same_time() {
    let folder = tempfile::tempdir().unwrap();
    let opening = (0..8).map(|number| {
        let path = folder.path().join("tasks.db");
        tokio::spawn(async move {
            let store = SqliteStore::open(path).await.unwrap();
            store
                .insert(Creation::new(record(&format!("{number}"))))
                .await
                .unwrap();
            store
        })
    });
    let opening: Vec<_> = opening.collect();
    let mut last = None;
    for store in opening {
        last = Some(store.await.unwrap());
    }
    let all = Listing {
        status: None,
        after: None,
        limit: 10,
    };
    assert_eq!(last.unwrap().list(all).await.unwrap().len(), 8);
}

#[tokio::test]
async fn people_can_read_it_with_sqlite() {
    let folder = fixture();
    let people = Connection::open(folder.path().join("tasks.db")).unwrap();
    let found = people.query_row(
        "SELECT record ->> '$.origin.arguments.service', entry ->> '$.value.ok'
         FROM execution JOIN journal ON execution = execution.number
         WHERE id = 'grown' ORDER BY journal.number LIMIT 1",
        [],
        |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?)),
    );
    assert_eq!(found.unwrap(), ("shop".into(), "three hosts".into()));
}

#[tokio::test]
async fn a_record_of_a_newer_format_is_named_and_does_not_keep_the_others_from_running() {
    let folder = fixture();
    let path = folder.path().join("tasks.db");
    let newer = Connection::open(&path).unwrap();
    let set =
        "UPDATE execution SET record = json_set(record, '$.origin.format', 9) WHERE id = 'grown'";
    assert_eq!(newer.execute(set, []).unwrap(), 1);
    let due = "UPDATE execution SET due_at = 1";
    assert_eq!(newer.execute(due, []).unwrap(), 2);
    let store = SqliteStore::open(&path).await.unwrap();
    let said = store
        .load(&TaskId::from("grown"))
        .await
        .unwrap_err()
        .to_string();
    assert!(
        said.contains("`grown`") && said.contains("the format 9 of a newer siding"),
        "{said}"
    );
    let runnable = store.runnable(siding::store::Runnable {
        pool: "pool",
        tools: &[("tool", "fingerprint")],
        now: siding::host::Timestamp::from_millis(u64::MAX),
        limit: 1,
    });
    assert_eq!(runnable.await.unwrap()[0].id().as_str(), "fresh");
}

#[tokio::test(start_paused = true)]
async fn a_virtual_clock_stands_still_while_the_store_works() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path().join("tasks.db"))
        .await
        .unwrap();
    let alarm = tokio::spawn(tokio::time::sleep(tokio::time::Duration::from_hours(1)));
    for number in 0..100 {
        let id = format!("{number}");
        store.insert(Creation::new(record(&id))).await.unwrap();
        assert!(store.load(&id.as_str().into()).await.unwrap().is_some());
    }
    assert!(!alarm.is_finished());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_busy_process_does_not_shut_out_another() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tasks.db");
    let busy = SqliteStore::open(&path).await.unwrap();
    let working: Vec<_> = (0..32)
        .map(|number| {
            let store = busy.clone();
            tokio::spawn(async move {
                let mut last = record(&format!("busy {number}"));
                store.insert(Creation::new(last.clone())).await.unwrap();
                loop {
                    let next = step(&last, "step", &"x".repeat(300));
                    last = (*next.record).clone();
                    store.commit(next).await.unwrap();
                }
            })
        })
        .collect();
    let other = SqliteStore::open(&path).await.unwrap();
    for number in 0..50 {
        other
            .insert(Creation::new(record(&format!("{number}"))))
            .await
            .unwrap();
    }
    for work in working {
        assert!(!work.is_finished());
        work.abort();
    }
}

#[tokio::test]
async fn records_of_a_newer_format_take_no_place_among_those_that_are_looked_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tasks.db");
    let store = SqliteStore::open(&path).await.unwrap();
    for id in ["a", "b"] {
        store.insert(Creation::new(record(id))).await.unwrap();
    }
    let newer = Connection::open(&path).unwrap();
    newer
        .execute("UPDATE execution SET alarm_at = 1, due_at = 1", [])
        .unwrap();
    let set = "UPDATE execution SET record = json_set(record, '$.origin.format', 9) WHERE id = 'a'";
    assert_eq!(newer.execute(set, []).unwrap(), 1);
    let now = siding::host::Timestamp::from_millis(u64::MAX);
    let runnable = store.runnable(siding::store::Runnable {
        pool: "pool",
        tools: &[("tool", "fingerprint")],
        now,
        limit: 1,
    });
    let ids = |records: Vec<std::sync::Arc<siding::record::Record>>| -> Vec<String> {
        records
            .iter()
            .map(|record| record.id().to_string())
            .collect()
    };
    assert_eq!(ids(runnable.await.unwrap()), ["b"]);
    assert_eq!(ids(store.alarmed(now, 1).await.unwrap()), ["b"]);
}

/// Does something for each of many, all at the same time.
#[mcp_tool(task = "required")]
async fn fans_out(ctx: &mut Ctx, members: u64) -> Result<u64> {
    let done = ctx
        .step_all("each", 0..members, async |member| {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
            siding::Ok(member)
        })
        .await?;
    Ok(done.iter().sum())
}

#[tokio::test]
async fn members_that_end_together_are_written_together() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path().join("tasks.db"))
        .await
        .unwrap();
    let store = siding::testing::FaultyStore::new(store);
    let server = Server::new("fans", "1.0.0").store(store.clone());
    let mut wire = crate::support::Wire::tasks(server.tool::<fans_out>());
    let id = wire
        .task("fans_out", serde_json::json!({ "members": 200 }))
        .await;
    assert_eq!(wire.end(&id).await["status"], "completed");
    assert!(store.writes() < 200, "{} writes", store.writes());
}

/// Gives back what it gets, in so many lists.
#[mcp_tool(task = "required")]
async fn wraps(ctx: &mut Ctx, tree: Vec<serde_json::Value>, lists: u32) -> serde_json::Value {
    ctx.status("wrapping");
    (0..lists).fold(tree.into(), |tree, _| serde_json::json!([tree]))
}

#[tokio::test]
async fn nothing_is_kept_that_is_nested_too_deep_to_be_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path().join("tasks.db"))
        .await
        .unwrap();
    let server = Server::new("wraps", "1.0.0").store(store.clone());
    let mut wire = crate::support::Wire::tasks(server.tool::<wraps>());
    // A text that stands for a list may be as deep as a whole request.
    let text = format!("{}{}", "[".repeat(127), "]".repeat(127));
    let arguments = serde_json::json!({ "tree": text, "lists": 0 });
    let refused = wire.call("wraps", arguments).await.unwrap();
    assert_eq!(refused["isError"], true, "{refused}");
    let arguments = serde_json::json!({ "tree": [], "lists": 200 });
    let id = wire.task("wraps", arguments).await;
    let task = wire.end(&id).await;
    assert_eq!(task["error"]["data"]["reason"], "over_limit", "{task}");
    let listed = store.list(Listing {
        status: None,
        after: None,
        limit: 10,
    });
    assert_eq!(listed.await.unwrap().len(), 1);
}
