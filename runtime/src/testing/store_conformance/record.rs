//! Records: written, read, swapped and removed.

use std::sync::Arc;

use serde_json::json;
use tokio::task::JoinSet;

use super::{commit, insert, keys, load, opened, works};
use crate::{
    engine::machine::{self, Event, Refusal, Verdict},
    host::Timestamp,
    record::{Lease, Record, Status, TaskId},
    store::{Creation, Insertion, Store, Swap},
    testing::sample::{at, change, record, step},
};

/// What was inserted comes back as it was, from every handle; what was not is not there.
pub async fn keeps_what_is_inserted<S: Store>(open: &impl AsyncFn(&str) -> S) {
    let name = "keeps_what_is_inserted";
    let (store, other) = (opened(open, name).await, opened(open, name).await);
    assert_eq!(load(&*store, "a").await, None);
    assert_eq!(keys(&*store, "a").await, [""; 0]);
    let a = insert(&*store, record("a")).await;
    let b = insert(&*other, record("b")).await;
    for handle in [&store, &other] {
        assert_eq!(load(&**handle, "a").await.as_ref(), Some(&a));
        assert_eq!(load(&**handle, "b").await.as_ref(), Some(&b));
        assert_eq!(keys(&**handle, "a").await, [""; 0]);
    }
}

/// An id that is there is not written over.
pub async fn refuses_an_id_that_is_there<S: Store>(open: &impl AsyncFn(&str) -> S) {
    let store = opened(open, "refuses_an_id_that_is_there").await;
    let first = insert(&*store, record("a")).await;
    let second = record("a").of("elsewhere", "tool").parked();
    assert!(store.insert(Creation::new(second)).await.is_err());
    assert_eq!(load(&*store, "a").await, Some(first));
}

/// No more records than the limit are live, however many come at once; one that has ended is not.
pub async fn keeps_to_the_limit_of_live_records<S: Store>(open: &impl AsyncFn(&str) -> S) {
    let name = "keeps_to_the_limit_of_live_records";
    let handles = [opened(open, name).await, opened(open, name).await];
    let mut racing = JoinSet::new();
    for racer in 0..32 {
        let store = handles[racer % handles.len()].clone();
        let record = Arc::new(record(&racer.to_string()));
        racing.spawn(async move {
            let inserted = works(store.insert(one_of_five(record.clone())).await);
            (inserted == Insertion::Done).then_some(record)
        });
    }
    let inserted: Vec<_> = racing.join_all().await.into_iter().flatten().collect();
    assert_eq!(inserted.len(), 5);
    for handle in &handles {
        assert_eq!(works(handle.live().await), 5);
    }
    let store = &handles[0];
    let one_more = || store.insert(one_of_five(record("one more")));
    assert_eq!(works(one_more().await), Insertion::Full);
    assert_eq!(load(&**store, "one more").await, None);
    let cancelled = Event::Cancelled { reason: None };
    commit(&**store, change(&inserted[0], cancelled, at(1))).await;
    assert_eq!(works(one_more().await), Insertion::Done);
    works(store.remove(inserted[1].id()).await);
    let another = one_of_five(record("another"));
    assert_eq!(works(store.insert(another).await), Insertion::Done);
    let last = one_of_five(record("last"));
    assert_eq!(works(store.insert(last).await), Insertion::Full);
    assert_eq!(works(store.live().await), 5);
}

fn one_of_five(record: impl Into<Arc<Record>>) -> Creation {
    Creation {
        limit: 5,
        ..Creation::new(record)
    }
}

/// Of many commits over one version, exactly one is taken, with its record and its entries.
pub async fn lets_one_of_many_commits_win<S: Store>(open: &impl AsyncFn(&str) -> S) {
    let name = "lets_one_of_many_commits_win";
    let handles = [opened(open, name).await, opened(open, name).await];
    let mut last = insert(&*handles[0], record("a")).await;
    for round in 0..10 {
        let mut racing = JoinSet::new();
        for racer in 0..16 {
            let store = handles[racer % handles.len()].clone();
            let key = format!("{round}.{racer}");
            let change = step(&last, &key, &racer);
            racing.spawn(async move { (key, works(store.commit(change).await)) });
        }
        let ends = racing.join_all().await;
        let won = ends.iter().filter(|(_, swap)| *swap == Swap::Done);
        let won: Vec<_> = won.map(|(key, _)| key).collect();
        assert_eq!(won.len(), 1, "one commit of a version is taken");
        assert_eq!(keys(&*handles[0], "a").await.last(), Some(won[0]));
        let next = load(&*handles[1], "a").await.expect("it is there");
        assert_eq!(next.version(), last.version() + 1);
        last = next;
    }
    assert_eq!(keys(&*handles[0], "a").await.len(), 10);
}

/// A refused commit leaves the record, the journal and the indexes as they were.
pub async fn writes_nothing_of_a_refused_commit<S: Store>(open: &impl AsyncFn(&str) -> S) {
    let store = opened(open, "writes_nothing_of_a_refused_commit").await;
    let first = insert(&*store, record("a")).await;
    let second = commit(&*store, step(&first, "one", &1)).await;
    let mut late = step(&first, "late", &2);
    late.record = Arc::new((*late.record).clone().due(at(1)));
    assert_eq!(works(store.commit(late).await), Swap::Refused);
    let third = commit(&*store, step(&second, "two", &2)).await;
    let unwritten = step(&third, "unwritten", &3);
    let ahead = step(&unwritten.record, "ahead", &4);
    assert_eq!(works(store.commit(ahead).await), Swap::Refused);
    assert_eq!(
        works(store.commit(step(&record("b"), "b", &1)).await),
        Swap::Refused
    );
    assert_eq!(load(&*store, "b").await, None);
    assert_eq!(keys(&*store, "b").await, [""; 0]);
    assert_eq!(keys(&*store, "a").await, ["one", "two"]);
    assert_eq!(load(&*store, "a").await.as_ref(), Some(&third));
    assert_eq!(
        works(store.next_due("pool", at(0)).await),
        third.index().due_at
    );
}

/// A leg that lost its claim finds out by its next commit, and writes nothing any more.
pub async fn fences_off_an_older_leg<S: Store>(open: &impl AsyncFn(&str) -> S) {
    let store = opened(open, "fences_off_an_older_leg").await;
    let of_first = insert(&*store, record("a").due(at(10))).await;
    let lease = Lease {
        worker: "second".into(),
        trial: None,
    };
    let claimed = change(&of_first, Event::Claimed(lease), at(10));
    let of_second = commit(&*store, claimed).await;
    let late = step(&of_first, "first", &1);
    assert_eq!(works(store.commit(late.clone()).await), Swap::Refused);
    // It reads again what is there, and the machine knows the fence.
    let now_there = load(&*store, "a").await.expect("it is there");
    let event = Event::Leg {
        fence: of_first.fence,
        number: 0,
        event: machine::LegEvent::Released(machine::Release::AtRest),
    };
    let verdict = machine::apply(&now_there, event, at(11));
    assert!(matches!(verdict, Verdict::Refused(Refusal::Fenced)));
    commit(&*store, step(&of_second, "second", &2)).await;
    assert_eq!(keys(&*store, "a").await, ["sleep", "second"]);
}

/// What was removed is gone with its journal, for every handle; removing it again is no failure; and
/// its id is free.
pub async fn forgets_what_is_removed<S: Store>(open: &impl AsyncFn(&str) -> S) {
    let name = "forgets_what_is_removed";
    let (store, other) = (opened(open, name).await, opened(open, name).await);
    let a = insert(&*store, record("a").due(at(0)).alarm(at(0))).await;
    let b = insert(&*store, record("b")).await;
    let swap = store.commit(step(&b, "kept", &1)).await;
    assert_eq!(works(swap), Swap::Done);
    let a_id = TaskId::from("a");
    works(store.remove(&a_id).await);
    works(store.remove(&a_id).await);
    assert_eq!(load(&*other, "a").await, None);
    assert_eq!(works(other.alarmed(at(1), 10).await), []);
    assert_eq!(works(other.next_due("pool", at(0)).await), b.index().due_at);
    let gone = works(store.commit(step(&record("a"), "x", &1)).await);
    assert_eq!(gone, Swap::Refused);
    insert(&*other, record("a")).await;
    assert_ne!(load(&*store, "a").await, Some(a));
    assert_eq!(keys(&*store, "a").await, [""; 0]);
    assert_eq!(keys(&*store, "b").await, ["kept"]);
}

/// Each of a thousand tasks that are made in parallel can be read through another handle as soon as
/// its insert was acknowledged.
pub async fn shows_a_thousand_parallel_creates_at_once<S: Store>(open: &impl AsyncFn(&str) -> S) {
    let name = "shows_a_thousand_parallel_creates_at_once";
    let (store, other) = (opened(open, name).await, opened(open, name).await);
    let mut creating = JoinSet::new();
    for number in 0..1_000 {
        let (store, other) = (store.clone(), other.clone());
        creating.spawn(async move {
            let id = format!("{number:04}");
            insert(&*store, record(&id)).await;
            assert!(load(&*other, &id).await.is_some(), "{id} is not there yet");
        });
    }
    creating.join_all().await;
}

/// A megabyte comes back byte by byte, from a record and from a journal.
pub async fn keeps_huge_values<S: Store>(open: &impl AsyncFn(&str) -> S) {
    let store = opened(open, "keeps_huge_values").await;
    let huge = "ä\u{1f4be}\"\\\n".repeat(100_000);
    let mut a = record("a");
    Arc::make_mut(&mut a.origin)
        .arguments
        .insert("huge".into(), json!(huge));
    let a = insert(&*store, a).await;
    commit(&*store, step(&a, "huge", &huge)).await;
    let left = load(&*store, "a").await.expect("it is there");
    assert!(
        left.origin.arguments["huge"] == json!(huge),
        "the record changed"
    );
    let entries = works(store.journal(a.id()).await);
    let value = entries[0].outcome::<String>();
    let value = value.expect("it can be read").expect("the step ended well");
    assert!(value == huge, "the journal changed");
}

/// No character is special: not in ids, pools, tools and keys, and not in values.
pub async fn keeps_every_character<S: Store>(open: &impl AsyncFn(&str) -> S) {
    let store = opened(open, "keeps_every_character").await;
    // No normal form, no case folding, no trimming, no patterns, no quotes, no end at a zero.
    let words = [
        "é",
        "e\u{301}",
        "E",
        "e",
        " e ",
        "e%_",
        "'\"`--",
        "\u{1f6e4}\u{feff}",
        "e\0e",
    ];
    for word in words {
        let a = insert(&*store, record(word).of(word, word).due(at(0))).await;
        commit(&*store, step(&a, word, &word)).await;
    }
    for word in words {
        assert_eq!(keys(&*store, word).await, [word]);
        let tools = [(word, "fingerprint")];
        let query = crate::store::Runnable {
            pool: word,
            tools: &tools,
            now: at(0),
            limit: 10,
        };
        assert_eq!(super::ids(&works(store.runnable(query).await)), [word]);
    }
}

/// Times and lives may be as long as their numbers go.
pub async fn keeps_times_up_to_the_end_of_time<S: Store>(open: &impl AsyncFn(&str) -> S) {
    let store = opened(open, "keeps_times_up_to_the_end_of_time").await;
    let end = Timestamp::from_millis(u64::MAX);
    let a = insert(&*store, record("a").due(end).alarm(end)).await;
    assert_eq!(
        (a.index().due_at, a.index().alarm_at),
        (Some(end), Some(end))
    );
    let mut endless = record("b").parked();
    endless.ttl_ms = Some(u64::MAX);
    let endless = insert(&*store, endless).await;
    assert_eq!(load(&*store, "a").await, Some(a));
    assert_eq!(load(&*store, "b").await, Some(endless));
    assert_eq!(works(store.alarmed(at(u32::MAX.into()), 10).await), []);
    assert_eq!(works(store.next_due("pool", at(0)).await), Some(end));
    assert_eq!(super::ids(&works(store.alarmed(end, 10).await)), ["a"]);
}

/// What a durable store acknowledged is there after all its handles are gone. (Nothing is asked of
/// one that is not.)
pub async fn keeps_everything_over_a_reopening<S: Store>(open: &impl AsyncFn(&str) -> S) {
    let name = "keeps_everything_over_a_reopening";
    let store = opened(open, name).await;
    if !store.is_durable() {
        return;
    }
    let mut last = insert(&*store, record("a").alarm(at(10))).await;
    for key in ["one", "two", "three"] {
        last = commit(&*store, step(&last, key, &key)).await;
    }
    let failed = insert(&*store, record("b").parked().standing(Status::Failed)).await;
    let position = works(store.position().await);
    drop(store);
    let store = opened(open, name).await;
    assert_eq!(load(&*store, "a").await, Some(last));
    assert_eq!(load(&*store, "b").await, Some(failed));
    assert_eq!(keys(&*store, "a").await, ["one", "two", "three"]);
    assert_eq!(super::ids(&works(store.alarmed(at(10), 10).await)), ["a"]);
    assert_eq!(works(store.position().await), position);
    insert(&*store, record("c")).await;
    assert!(
        works(store.position().await) > position,
        "numbers rise for ever"
    );
}
