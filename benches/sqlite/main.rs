//! Commits per second through the `Store` trait, against bare rusqlite in the same groups; and how long
//! it takes until a store of another process would hear of a commit.
//!
//! `cargo run --release -p siding-bench-sqlite [FOLDER]`: the folder is on the disk to be measured.
//!
//! A commit reads the version of a task, writes its record over it and appends a journal entry of
//! about 300 bytes. The bare loop writes the same texts on one thread, in transactions of as many
//! commits as there are clients, into a table without further indexes. Both run in turns, so that
//! both meet what the disk has to do besides.

#![expect(
    clippy::unwrap_used,
    reason = "a benchmark that cannot go on has failed"
)]

use std::{
    env,
    path::Path,
    time::{Duration, Instant},
};

use rusqlite::{Connection, TransactionBehavior, params};
use siding::{
    SqliteStore, Store,
    record::Record,
    store::{Creation, Swap},
    testing::{record, step},
};

const CLIENTS: [usize; 4] = [1, 4, 16, 64];
const TURNS: usize = 5;
/// How many commits another handle hears of.
const HEARD: usize = 50;
/// How often a store looks whether another process has written.
const LOOK: Duration = Duration::from_millis(100);
/// How many commits each turn has for one client, and how many more for each further one.
const COMMITS: (usize, usize) = (500, 250);

#[tokio::main]
async fn main() {
    let folder = match env::args_os().nth(1) {
        Some(folder) => tempfile::tempdir_in(folder),
        None => tempfile::tempdir(),
    };
    let folder = folder.unwrap();
    println!("clients  siding commits/s  bare commits/s  ratio  (medians of {TURNS} turns)");
    for clients in CLIENTS {
        let commits = (COMMITS.0 + COMMITS.1 * (clients - 1)) / clients;
        let (mut ours, mut bare) = (Vec::new(), Vec::new());
        for turn in 0..TURNS {
            let path = folder.path().join(format!("bare-{clients}-{turn}.db"));
            bare.push(bare_rate(&path, clients, commits));
            let path = folder.path().join(format!("siding-{clients}-{turn}.db"));
            ours.push(store_rate(&path, clients, commits).await);
        }
        let (ours, bare) = (median(ours), median(bare));
        println!(
            "{clients:>7}  {ours:>16.0}  {bare:>14.0}  {:>5.2}",
            ours / bare
        );
    }
    let (median, slowest) = latency(&folder.path().join("heard.db")).await;
    println!(
        "\nheard by another handle on the file, as part of the {} ms between two looks: median \
         {median:.2}, slowest of {HEARD} {slowest:.2}",
        LOOK.as_millis()
    );
}

/// How long after a commit another handle on the file, with connections of its own as another
/// process has them, hears of it: the median and the longest, as parts of the time between two
/// looks at the file.
async fn latency(path: &Path) -> (f64, f64) {
    let (here, there) = (
        SqliteStore::open(path).await.unwrap(),
        SqliteStore::open(path).await.unwrap(),
    );
    let mut task = record("heard");
    here.insert(Creation::new(task.clone())).await.unwrap();
    let mut waits = Vec::new();
    for _ in 0..HEARD {
        let seen = there.position().await.unwrap();
        let change = step(&task, "step", &value());
        task = (*change.record).clone();
        let waiting = tokio::spawn({
            let there = there.clone();
            async move { there.changes(seen).await.map(|_| Instant::now()) }
        });
        let started = Instant::now();
        assert_eq!(here.commit(change).await.unwrap(), Swap::Done);
        let heard = waiting.await.unwrap().unwrap();
        waits.push(heard.duration_since(started).as_secs_f64() / LOOK.as_secs_f64());
    }
    let slowest = waits.iter().copied().fold(0.0, f64::max);
    (median(waits), slowest)
}

fn median(mut rates: Vec<f64>) -> f64 {
    rates.sort_by(f64::total_cmp);
    rates[rates.len() / 2]
}

/// What a step of a tool returned.
fn value() -> String {
    "x".repeat(260)
}

async fn store_rate(path: &Path, clients: usize, commits: usize) -> f64 {
    let store = SqliteStore::open(path).await.unwrap();
    let mut tasks = Vec::new();
    for client in 0..clients {
        let task = record(&format!("{client}"));
        store.insert(Creation::new(task.clone())).await.unwrap();
        tasks.push(task);
    }
    let started = Instant::now();
    let clients: Vec<_> = tasks
        .into_iter()
        .map(|task| tokio::spawn(run(store.clone(), task, commits)))
        .collect();
    let all = clients.len() * commits;
    for client in clients {
        client.await.unwrap();
    }
    rate(all, started)
}

async fn run(store: SqliteStore, mut task: Record, commits: usize) {
    for _ in 0..commits {
        let change = step(&task, "step", &value());
        task = (*change.record).clone();
        assert_eq!(store.commit(change).await.unwrap(), Swap::Done);
    }
}

fn bare_rate(path: &Path, clients: usize, commits: usize) -> f64 {
    let mut connection = Connection::open(path).unwrap();
    connection
        .pragma_update(None, "journal_mode", "wal")
        .unwrap();
    connection
        .pragma_update(None, "synchronous", "full")
        .unwrap();
    connection
        .execute_batch(
            "CREATE TABLE task (id TEXT PRIMARY KEY, version INTEGER, record TEXT);
             CREATE TABLE journal (task TEXT, number INTEGER, entry TEXT,
                                   PRIMARY KEY (task, number)) WITHOUT ROWID;",
        )
        .unwrap();
    // As long as those of the store.
    let record = "x".repeat(490);
    let entry = "x".repeat(300);
    for client in 0..clients {
        let insert = "INSERT INTO task VALUES (?1, 1, ?2)";
        connection
            .execute(insert, params![client.to_string(), record])
            .unwrap();
    }
    let started = Instant::now();
    for _ in 0..commits {
        let group = connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .unwrap();
        for client in 0..clients {
            let id = client.to_string();
            let version: i64 = group
                .prepare_cached("SELECT version FROM task WHERE id = ?1")
                .unwrap()
                .query_row([&id], |row| row.get(0))
                .unwrap();
            group
                .prepare_cached("UPDATE task SET version = ?2, record = ?3 WHERE id = ?1")
                .unwrap()
                .execute(params![id, version + 1, record])
                .unwrap();
            group
                .prepare_cached("INSERT INTO journal VALUES (?1, ?2, ?3)")
                .unwrap()
                .execute(params![id, version, entry])
                .unwrap();
        }
        group.commit().unwrap();
    }
    rate(clients * commits, started)
}

#[expect(clippy::cast_precision_loss, reason = "a rate needs no more digits")]
fn rate(commits: usize, started: Instant) -> f64 {
    commits as f64 / started.elapsed().as_secs_f64()
}
