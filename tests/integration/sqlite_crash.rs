//! A process that writes to a SQLite store is killed, again and again.

use std::{
    collections::BTreeMap,
    env,
    io::{BufRead, BufReader},
    path::Path,
    process::{Command, Stdio},
};

use rusqlite::Connection;
use siding::{
    SqliteStore, Store,
    record::TaskId,
    store::{Creation, Listing, Swap},
    testing::{record, step},
};

const KILLS: usize = 40;
/// As many write at the same time, so that most kills meet a group on its way to the disk.
const WRITERS: usize = 8;
/// How often each task is changed.
const STEPS: u64 = 5;

/// The file that the child writes to, and the prefix of the ids that it makes.
const FILE: &str = "SIDING_CRASH_FILE";
const PREFIX: &str = "SIDING_CRASH_PREFIX";

/// What was acknowledged: the last version of each task.
type Acknowledged = BTreeMap<String, u64>;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s18_nothing_that_was_acknowledged_is_lost_in_40_kills() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tasks.db");
    let mut acknowledged = Acknowledged::new();
    for kill in 0..KILLS {
        // Somewhere between the first write and a few checkpoints of the log.
        let after = 1 + kill * 89 % 701;
        let now = acknowledged_until_killed(&path, &format!("{kill:02}"), after);
        assert!(now.values().sum::<u64>() >= 1);
        acknowledged.extend(now);
        sound(&path);
    }
    let store = SqliteStore::open(&path).await.unwrap();
    for (id, version) in &acknowledged {
        let left = store.load(&id.as_str().into()).await.unwrap();
        let left = left.unwrap_or_else(|| panic!("{id} was acknowledged and is gone"));
        assert!(
            left.version() >= *version,
            "{id}: {} < {version}",
            left.version()
        );
    }
    let all = store.list(Listing {
        status: None,
        after: None,
        limit: usize::MAX,
    });
    let all = all.await.unwrap();
    assert!(all.len() >= acknowledged.len());
    for record in all {
        let journal = store.journal(record.id()).await.unwrap();
        let keys: Vec<_> = journal.iter().map(|entry| entry.key().to_owned()).collect();
        // The insert is version 1, and each step writes one entry: with its record, or not at all.
        let steps: Vec<_> = (2..=record.version())
            .map(|version| version.to_string())
            .collect();
        assert_eq!(keys, steps, "{}", record.id());
    }
}

/// Starts a child, kills it after so many acknowledgements, and gives all that it acknowledged.
fn acknowledged_until_killed(path: &Path, prefix: &str, after: usize) -> Acknowledged {
    let mut child = Command::new(env::current_exe().unwrap())
        .args([
            "--ignored",
            "--exact",
            "--nocapture",
            "sqlite_crash::the_child_that_is_killed",
        ])
        .env(FILE, path)
        .env(PREFIX, prefix)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut acknowledged = Acknowledged::new();
    let mut heard = 0;
    for line in lines.map_while(Result::ok) {
        // The test runner writes to the same line.
        let Some((id, version)) = line
            .split_once("ack ")
            .and_then(|(_, ack)| ack.split_once(' '))
        else {
            continue;
        };
        acknowledged.insert(id.into(), version.parse().unwrap());
        heard += 1;
        if heard == after {
            child.kill().unwrap();
        }
    }
    assert!(!child.wait().unwrap().success(), "it was killed");
    assert!(heard >= after, "it ended by itself");
    acknowledged
}

fn sound(path: &Path) {
    let file = Connection::open(path).unwrap();
    let check = file.query_row("PRAGMA integrity_check", [], |row| row.get::<_, String>(0));
    assert_eq!(check.unwrap(), "ok");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "it writes until it is killed"]
async fn the_child_that_is_killed() {
    let (Ok(file), Ok(prefix)) = (env::var(FILE), env::var(PREFIX)) else {
        return;
    };
    let store = SqliteStore::open(file).await.unwrap();
    let writing = (0..WRITERS).map(|writer| {
        let (store, prefix) = (store.clone(), prefix.clone());
        tokio::spawn(async move {
            for number in 0_u64.. {
                work(&store, &format!("{prefix}.{writer}.{number}")).await;
            }
        })
    });
    for writer in writing.collect::<Vec<_>>() {
        writer.await.unwrap();
    }
}

/// Makes a task and changes it, and says so after each acknowledgement.
async fn work(store: &SqliteStore, id: &str) {
    let mut last = record(id);
    store.insert(Creation::new(last.clone())).await.unwrap();
    acknowledge(last.id(), last.version());
    for _ in 0..STEPS {
        let key = (last.version() + 1).to_string();
        let next = step(&last, &key, &"x".repeat(300));
        last = (*next.record).clone();
        assert_eq!(store.commit(next).await.unwrap(), Swap::Done);
        acknowledge(last.id(), last.version());
    }
}

fn acknowledge(id: &TaskId, version: u64) {
    // The pipe has it when this returns.
    println!("ack {id} {version}");
}
