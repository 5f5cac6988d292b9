//! Changes: every write is told to everyone who waits for it.

use std::{collections::BTreeSet, sync::Arc};

use super::{commit, in_time, insert, opened, works};
use crate::{
    record::TaskId,
    store::{Changes, Store},
    testing::sample::{record, step},
};

/// Every write has a number of its own, higher than those before it, and is told once to whoever asks
/// from before it.
pub async fn tells_every_write<S: Store>(open: &impl AsyncFn(&str) -> S) {
    let store = opened(open, "tells_every_write").await;
    let start = works(store.position().await);
    let a = insert(&*store, record("a")).await;
    let after_a = works(store.position().await);
    insert(&*store, record("b")).await;
    let after_b = works(store.position().await);
    assert!(start < after_a && after_a < after_b, "numbers rise");
    assert_eq!(
        told(&*store, start).await,
        (after_b, vec!["a".into(), "b".into()])
    );
    assert_eq!(told(&*store, after_a).await, (after_b, vec!["b".into()]));
    let a = commit(&*store, step(&a, "one", &1)).await;
    commit(&*store, step(&a, "two", &2)).await;
    let (upto, ids) = told(&*store, after_b).await;
    assert_eq!(ids, ["a"], "a record is named once");
    assert_eq!(upto, works(store.position().await));
    // From the start: the records that are there, each once.
    assert_eq!(
        told(&*store, start).await,
        (upto, vec!["a".into(), "b".into()])
    );
}

/// What is written after the position was read is told at once, however late the question comes: to
/// the handle that wrote it, and to another.
pub async fn tells_a_write_between_position_and_changes<S: Store>(open: &impl AsyncFn(&str) -> S) {
    let name = "tells_a_write_between_position_and_changes";
    let (store, other) = (opened(open, name).await, opened(open, name).await);
    for number in 0..10 {
        let (of_store, of_other) = (works(store.position().await), works(other.position().await));
        let id = format!("{number}");
        insert(&*store, record(&id)).await;
        assert_eq!(told(&*store, of_store).await.1, [id.as_str()]);
        assert_eq!(told(&*other, of_other).await.1, [id.as_str()]);
    }
}

/// Who waits is woken by the next write through any handle, and not before.
pub async fn wakes_those_who_wait<S: Store>(open: &impl AsyncFn(&str) -> S) {
    let name = "wakes_those_who_wait";
    let (store, other) = (opened(open, name).await, opened(open, name).await);
    for (number, writer) in [&store, &other].into_iter().enumerate() {
        let mut waiting = Vec::new();
        for store in [&store, &other] {
            let (store, position) = (store.clone(), works(store.position().await));
            waiting.push(tokio::spawn(async move { told(&*store, position).await }));
        }
        // Both wait by then, on any machine that is not overloaded; on such a one this shows less.
        settle(&*store).await;
        assert!(
            waiting.iter().all(|wait| !wait.is_finished()),
            "nothing was written"
        );
        let id = format!("{number}");
        insert(&**writer, record(&id)).await;
        for wait in waiting {
            let (_, ids) = wait.await.unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(ids, [id.as_str()]);
        }
    }
}

/// Of many writes in parallel with those who listen, each is told, whatever lies between two calls.
pub async fn loses_no_write_of_many<S: Store>(open: &impl AsyncFn(&str) -> S) {
    const WRITERS: usize = 8;
    const WRITES: usize = 25;
    let name = "loses_no_write_of_many";
    let (store, other) = (opened(open, name).await, opened(open, name).await);
    let mut listening = Vec::new();
    for store in [&store, &other] {
        let from = works(store.position().await);
        listening.push(tokio::spawn(listen(store.clone(), from, WRITERS * WRITES)));
    }
    for writer in 0..WRITERS {
        let store = if writer % 2 == 0 {
            store.clone()
        } else {
            other.clone()
        };
        tokio::spawn(async move {
            for number in 0..WRITES {
                insert(&*store, record(&format!("{writer}.{number}"))).await;
            }
        });
    }
    for listener in listening {
        let heard = in_time("hearing of all writes", listener).await;
        let heard = heard.unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(heard.len(), WRITERS * WRITES);
    }
}

/// Listens after `position` until it has heard of `many` records.
async fn listen(store: Arc<dyn Store>, mut position: u64, many: usize) -> BTreeSet<TaskId> {
    let mut heard = BTreeSet::new();
    while heard.len() < many {
        let Changes { upto, ids } = works(store.changes(position).await);
        assert!(upto > position, "changes without a write");
        position = upto;
        heard.extend(ids);
    }
    heard
}

/// What is told after the number `after`: up to which number, and of which records by name.
async fn told(store: &dyn Store, after: u64) -> (u64, Vec<String>) {
    let changes = in_time("hearing of a write", store.changes(after)).await;
    let Changes { upto, ids } = works(changes);
    assert!(upto > after, "changes without a write");
    let mut names: Vec<_> = ids.iter().map(ToString::to_string).collect();
    names.sort_unstable();
    (upto, names)
}

/// Gives everything that runs beside this the time to come to rest.
async fn settle(store: &dyn Store) {
    for _ in 0..100 {
        works(store.position().await);
        tokio::task::yield_now().await;
    }
}
