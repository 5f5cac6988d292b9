//! Journals: appended to, cleared, and apart from each other.

use super::{commit, insert, keys, opened, works};
use crate::{
    engine::machine::LegEvent,
    journal::{Entry, Kind},
    record::Record,
    store::{Change, Creation, Insertion, JournalChange, Store},
    testing::sample::{in_leg, record, step},
};

/// A record that comes with a journal has it at once; one that is refused leaves nothing of it.
pub async fn writes_a_record_with_its_journal<S: Store>(open: &impl AsyncFn(&str) -> S) {
    let store = opened(open, "writes_a_record_with_its_journal").await;
    let entries = |key: &str| match step(&record("a"), key, &1).journal {
        JournalChange::Append(entries) => entries,
        JournalChange::Clear => Vec::new(),
    };
    let creation = |key: &str, limit: u64| Creation {
        journal: [entries(key), entries("last")].concat(),
        limit,
        ..Creation::new(record("a"))
    };
    assert_eq!(
        works(store.insert(creation("full", 0)).await),
        Insertion::Full
    );
    assert_eq!(
        works(store.insert(creation("first", 1)).await),
        Insertion::Done
    );
    assert!(store.insert(creation("again", 2)).await.is_err());
    assert_eq!(keys(&*store, "a").await, ["first", "last"]);
}

/// Entries come back in the order of their commits, and in their order within one.
pub async fn keeps_entries_in_their_order<S: Store>(open: &impl AsyncFn(&str) -> S) {
    let store = opened(open, "keeps_entries_in_their_order").await;
    let mut last = insert(&*store, record("a")).await;
    let mut written = Vec::new();
    for round in 0..20 {
        // Neither in the order of the alphabet nor of anything else.
        let group: Vec<_> = (0..round % 4)
            .map(|n| format!("{}-{n}", 7 * round % 20))
            .collect();
        last = commit(&*store, steps(&last, &group)).await;
        written.extend(group);
    }
    // One key may stand there twice.
    last = commit(&*store, step(&last, "7-0", &"again")).await;
    written.push("7-0".into());
    assert_eq!(keys(&*store, "a").await, written);
    commit(&*store, steps(&last, &[])).await;
    assert_eq!(keys(&*store, "a").await, written);
}

/// A commit can forget the journal; what comes after begins a new one.
pub async fn clears_journals<S: Store>(open: &impl AsyncFn(&str) -> S) {
    let store = opened(open, "clears_journals").await;
    let first = insert(&*store, record("a")).await;
    let second = commit(&*store, step(&first, "one", &1)).await;
    let cleared = Change {
        journal: JournalChange::Clear,
        ..step(&second, "unused", &2)
    };
    let third = commit(&*store, cleared).await;
    assert_eq!(keys(&*store, "a").await, [""; 0]);
    commit(&*store, step(&third, "two", &3)).await;
    assert_eq!(keys(&*store, "a").await, ["two"]);
}

/// What is written to one journal, or cleared from it, does nothing to another.
pub async fn keeps_journals_apart<S: Store>(open: &impl AsyncFn(&str) -> S) {
    let store = opened(open, "keeps_journals_apart").await;
    let mut a = insert(&*store, record("a")).await;
    let mut b = insert(&*store, record("b")).await;
    for key in ["one", "two"] {
        a = commit(&*store, step(&a, key, &"a")).await;
        b = commit(&*store, step(&b, key, &"b")).await;
    }
    let cleared = Change {
        journal: JournalChange::Clear,
        ..step(&a, "unused", &0)
    };
    commit(&*store, cleared).await;
    assert_eq!(keys(&*store, "a").await, [""; 0]);
    assert_eq!(keys(&*store, "b").await, ["one", "two"]);
}

/// The ends of several steps in one commit.
fn steps(record: &Record, keys: &[String]) -> Change {
    let entry = |key: &String| {
        let (entry, _) = Entry::ended(Kind::Step, key, Ok(key.clone()), usize::MAX);
        entry
    };
    in_leg(
        record,
        LegEvent::Progressed(keys.iter().map(entry).collect()),
    )
}
