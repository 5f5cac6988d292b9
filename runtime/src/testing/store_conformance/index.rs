//! Indexes: what can run, what is alarmed, what is next, and lists.

use std::sync::Arc;

use super::{commit, ids, in_time, insert, opened, works};
use crate::{
    engine::machine::{Event, Lost},
    host::Timestamp,
    record::{Record, Status, TaskId},
    store::{Listing, Runnable, Store},
    testing::sample::{at, change, record, step},
};

/// What can run is what is due, of the pool and the tools, and does not avoid this version.
pub async fn finds_what_can_run<S: Store>(open: &impl AsyncFn(&str) -> S) {
    let store = opened(open, "finds_what_can_run").await;
    insert(&*store, record("due").due(at(10))).await;
    insert(&*store, record("later").due(at(11))).await;
    insert(&*store, record("never").parked()).await;
    insert(&*store, record("pool").of("elsewhere", "tool").due(at(0))).await;
    insert(&*store, record("tool").of("pool", "another").due(at(0))).await;
    insert(&*store, record("new").due(at(0)).avoiding("new")).await;
    insert(&*store, record("old").due(at(0)).avoiding("old")).await;
    let new = runnable(&*store, "pool", &[("tool", "new")], at(10)).await;
    assert_eq!(new, ["old", "due"]);
    let both = [("another", "new"), ("tool", "old")];
    let old = runnable(&*store, "pool", &both, at(11)).await;
    assert_eq!(old, ["new", "tool", "due", "later"]);
    assert_eq!(runnable(&*store, "pool", &[], at(11)).await, [""; 0]);
    let elsewhere = runnable(&*store, "elsewhere", &both, at(11)).await;
    assert_eq!(elsewhere, ["pool"]);
    assert_eq!(runnable(&*store, "nowhere", &both, at(11)).await, [""; 0]);
}

/// What a worker holds is due for nobody, and is found by its name, in whatever pool. A worker is dead
/// when its life is dropped, and forgotten when it holds nothing.
pub async fn finds_what_the_dead_hold<S: Store>(open: &impl AsyncFn(&str) -> S) {
    let name = "finds_what_the_dead_hold";
    let (store, other) = (opened(open, name).await, opened(open, name).await);
    let _watching = works(other.enlist("watching").await);
    let life = works(store.enlist("mortal").await);
    let held = insert(&*store, record("a").held_by("mortal")).await;
    let elsewhere = record("b").of("elsewhere", "tool").held_by("mortal");
    let elsewhere = insert(&*store, elsewhere).await;
    insert(&*store, record("c").held_by("watching")).await;
    assert_eq!(
        runnable(&*store, "pool", &[("tool", "new")], at(u64::from(u32::MAX))).await,
        [""; 0]
    );
    assert_eq!(ids(&works(other.held("mortal", 9).await)), ["a", "b"]);
    assert_eq!(ids(&works(other.held("mortal", 1).await)), ["a"]);
    let before = works(other.deaths(0).await);
    assert!(before.workers.iter().all(|dead| dead.name != "mortal"));
    drop(life);
    let mut upto = before.upto;
    loop {
        let deaths = works(in_time("hearing of a death", other.deaths(upto)).await);
        upto = deaths.upto;
        if deaths.workers.iter().any(|dead| dead.name == "mortal") {
            break;
        }
    }
    works(other.dismiss("mortal").await);
    for record in [held, elsewhere] {
        let lost = Lost {
            worker: "mortal".into(),
            alone: false,
        };
        commit(&*other, change(&record, Event::Lost(lost), at(1))).await;
    }
    assert_eq!(works(other.held("mortal", 9).await), []);
    works(other.dismiss("mortal").await);
    let last = works(other.deaths(0).await);
    assert!(last.workers.iter().all(|dead| dead.name != "mortal"));
}

/// What is longest due comes first, and no more than was asked for; what cannot run does not count.
pub async fn finds_what_can_run_in_the_order_of_its_time<S: Store>(open: &impl AsyncFn(&str) -> S) {
    let store = opened(open, "finds_what_can_run_in_the_order_of_its_time").await;
    for number in 0..10_u64 {
        let id = format!("{number}");
        insert(&*store, record(&id).due(at(7 * number % 10))).await;
        let id = format!("not {number}");
        insert(&*store, record(&id).of("pool", "another").due(at(0))).await;
    }
    let tools = [("tool", "fingerprint")];
    let query = |limit| Runnable {
        pool: "pool",
        tools: &tools,
        now: at(9),
        limit,
    };
    assert_eq!(
        ids(&works(store.runnable(query(4)).await)),
        ["0", "3", "6", "9"]
    );
    assert_eq!(works(store.runnable(query(usize::MAX)).await).len(), 10);
    assert_eq!(works(store.runnable(query(0)).await), []);
}

/// What is alarmed is so in every pool, longest due first; expiry is an alarm.
pub async fn finds_what_is_alarmed<S: Store>(open: &impl AsyncFn(&str) -> S) {
    let store = opened(open, "finds_what_is_alarmed").await;
    insert(&*store, record("c").alarm(at(1))).await;
    insert(&*store, record("b").parked().alarm(at(2))).await;
    insert(&*store, record("a").of("elsewhere", "another").alarm(at(3))).await;
    insert(&*store, record("endless")).await;
    let ended = record("ended").parked().standing(Status::Completed);
    insert(&*store, ended.alarm(at(4))).await;
    assert_eq!(works(store.alarmed(at(0), 10).await), []);
    assert_eq!(ids(&works(store.alarmed(at(2), 10).await)), ["c", "b"]);
    assert_eq!(
        ids(&works(store.alarmed(at(9), 10).await)),
        ["c", "b", "a", "ended"]
    );
    assert_eq!(ids(&works(store.alarmed(at(9), 1).await)), ["c"]);
}

/// A commit moves a record in every index.
pub async fn moves_records_in_its_indexes<S: Store>(open: &impl AsyncFn(&str) -> S) {
    let store = opened(open, "moves_records_in_its_indexes").await;
    let tools = [("tool", "fingerprint")];
    let first = insert(&*store, record("a").due(at(1)).alarm(at(1))).await;
    let mut parked = step(&first, "one", &1);
    parked.record = changed(&parked.record, |record| record.parked().alarm(at(5)));
    let second = commit(&*store, parked).await;
    assert_eq!(runnable(&*store, "pool", &tools, at(4)).await, [""; 0]);
    assert_eq!(works(store.alarmed(at(4), 10).await), []);
    assert_eq!(
        listed(&*store, Some(Status::Working), None, 10).await,
        [""; 0]
    );
    assert_eq!(
        listed(&*store, Some(Status::InputRequired), None, 10).await,
        ["a"]
    );
    assert_eq!(works(store.next_due("pool", at(0)).await), Some(at(5)));
    let again = changed(&second, |mut record| {
        record.version += 1;
        record
            .standing(Status::Working)
            .due(at(2))
            .avoiding("fingerprint")
    });
    let swap = store.commit(crate::store::Change {
        expected: second.version(),
        record: again,
        journal: crate::store::JournalChange::Append(Vec::new()),
    });
    assert_eq!(works(swap.await), crate::store::Swap::Done);
    assert_eq!(runnable(&*store, "pool", &tools, at(4)).await, [""; 0]);
    let newer = [("tool", "newer")];
    assert_eq!(runnable(&*store, "pool", &newer, at(4)).await, ["a"]);
    assert_eq!(
        listed(&*store, Some(Status::Working), None, 10).await,
        ["a"]
    );
}

/// The next moment is the first after now: of this pool where it is due, of any where it is alarmed.
pub async fn tells_the_next_due_moment<S: Store>(open: &impl AsyncFn(&str) -> S) {
    let store = opened(open, "tells_the_next_due_moment").await;
    assert_eq!(works(store.next_due("pool", at(0)).await), None);
    insert(&*store, record("a").due(at(10))).await;
    insert(&*store, record("b").due(at(30))).await;
    insert(&*store, record("c").of("elsewhere", "tool").due(at(5))).await;
    insert(
        &*store,
        record("d").of("elsewhere", "tool").parked().alarm(at(20)),
    )
    .await;
    for (now, next) in [
        (0, Some(10)),
        (9, Some(10)),
        (10, Some(20)),
        (20, Some(30)),
        (30, None),
    ] {
        let told = works(store.next_due("pool", at(now)).await);
        assert_eq!(told, next.map(at), "after {now}");
    }
    assert_eq!(works(store.next_due("elsewhere", at(0)).await), Some(at(5)));
    assert_eq!(works(store.next_due("nowhere", at(0)).await), Some(at(20)));
}

/// Lists go by id, of one status or of all, page by page.
pub async fn lists_by_status_in_pages<S: Store>(open: &impl AsyncFn(&str) -> S) {
    let store = opened(open, "lists_by_status_in_pages").await;
    let statuses = [
        Status::Working,
        Status::InputRequired,
        Status::Completed,
        Status::Failed,
        Status::Cancelled,
    ];
    for number in (0..15).rev() {
        let status = statuses[number % statuses.len()];
        insert(&*store, record(&format!("{number:02}")).standing(status)).await;
    }
    for (number, status) in statuses.into_iter().enumerate() {
        let own = [number, number + 5, number + 10].map(|number| format!("{number:02}"));
        let mut seen: Vec<String> = Vec::new();
        loop {
            let page = listed(&*store, Some(status), seen.last(), 2).await;
            if page.is_empty() {
                break;
            }
            assert!(page.len() <= 2, "{page:?}");
            seen.extend(page);
        }
        assert_eq!(seen, own, "{status:?}");
    }
    assert_eq!(listed(&*store, None, None, usize::MAX).await.len(), 15);
    assert_eq!(
        listed(&*store, None, Some(&"04".into()), 3).await,
        ["05", "06", "07"]
    );
    assert_eq!(listed(&*store, None, Some(&"14".into()), 3).await, [""; 0]);
}

async fn runnable(
    store: &dyn Store,
    pool: &str,
    tools: &[(&str, &str)],
    now: Timestamp,
) -> Vec<String> {
    let query = Runnable {
        pool,
        tools,
        now,
        limit: 10,
    };
    names(&works(store.runnable(query).await))
}

async fn listed(
    store: &dyn Store,
    status: Option<Status>,
    after: Option<&String>,
    limit: usize,
) -> Vec<String> {
    let after = after.map(|id| TaskId::from(id.as_str()));
    let query = Listing {
        status,
        after: after.as_ref(),
        limit,
    };
    names(&works(store.list(query).await))
}

fn names(records: &[Arc<Record>]) -> Vec<String> {
    ids(records).into_iter().map(Into::into).collect()
}

fn changed(record: &Record, change: impl FnOnce(Record) -> Record) -> Arc<Record> {
    Arc::new(change(record.clone()))
}
