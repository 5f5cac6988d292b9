use super::*;
use crate::{
    host::{SystemHost, Timestamp},
    record::{Client, TaskId},
};

fn leg(journal: Vec<Entry>) -> Arc<Leg> {
    limited(journal, Limits::default())
}

fn limited(journal: Vec<Entry>, limits: Limits) -> Arc<Leg> {
    let origin = Origin {
        format: 1,
        id: TaskId::from("t"),
        pool: String::new(),
        tool: String::new(),
        fingerprint: String::new(),
        server_version: String::new(),
        seed: String::new(),
        arguments: serde_json::Map::new(),
        arguments_digest: String::new(),
        owner: None,
        client: Client::default(),
        created_at: Timestamp::from_millis(0),
        poll_ms: 1_000,
        cleans_up: false,
    };
    Leg::new(Parts {
        origin: origin.into(),
        cancelled: CancellationToken::new(),
        host: Arc::new(SystemHost),
        limits,
        journal,
        reach: Reach {
            way: Way::Task,
            elicits: Client::default().elicits(),
            listens: None,
        },
        hold: None,
        closing: false,
        interrupted: false,
        span: Span::none(),
    })
}

fn moment(key: &str) -> Waiting {
    Waiting::Moment {
        key: key.into(),
        until: Timestamp::from_millis(1),
        begins: true,
    }
}

const fn step(name: &str) -> Operation<'_> {
    Operation {
        kind: Kind::Step,
        name,
        was: &[],
        place: None,
    }
}

fn done(name: &str) -> Entry {
    let (entry, _) = Entry::ended(Kind::Step, name, Ok(1), 100);
    entry
}

#[test]
fn a_leg_does_not_park_while_a_step_is_in_flight() {
    let leg = leg(Vec::new());
    let _mark = leg.mark(moment("a"));
    let step = leg.step_started();
    assert!(leg.parking().is_none());
    drop(step);
    assert_eq!(leg.parking().unwrap().waits, ["a"]);
}

#[test]
fn a_question_whose_future_is_dropped_is_not_put() {
    let leg = leg(Vec::new());
    let mark = leg.mark(moment("a"));
    let other = leg.mark(moment("b"));
    drop(mark);
    assert_eq!(leg.parking().unwrap().waits, ["b"]);
    drop(other);
    assert!(leg.parking().is_none());
}

#[test]
fn operations_meet_their_entries_in_order_and_then_go_live() {
    let leg = leg(vec![done("a"), Entry::began("x"), done("a#2")]);
    assert!(matches!(leg.enter(step("a")), Entered::Replayed(entry) if entry.key() == "a"));
    assert!(matches!(leg.enter(step("a")), Entered::Replayed(entry) if entry.key() == "a#2"));
    assert!(matches!(leg.enter(step("a")), Entered::Live(key) if key == "a#3"));
    assert!(leg.take_fault().is_none());
}

#[test]
fn an_operation_that_the_journal_does_not_know_stops_the_leg_before_it_runs() {
    let leg = leg(vec![done("a")]);
    assert!(matches!(leg.enter(step("b")), Entered::Stopped));
    assert!(matches!(leg.enter(step("a")), Entered::Stopped));
    let Some(Fault::Drift(message)) = leg.take_fault() else {
        panic!("no drift");
    };
    assert!(
        message.contains("the step `a` here") && message.contains("the step `b`"),
        "{message}"
    );
}

#[test]
fn what_is_left_of_the_journal_at_the_end_is_drift() {
    let leg = leg(vec![done("a"), done("b")]);
    assert!(matches!(leg.enter(step("a")), Entered::Replayed(_)));
    assert!(matches!(leg.unread(), Some(Fault::Drift(message)) if message.contains("`b`")));
}

#[test]
fn names_that_the_runtime_keeps_for_itself_are_refused() {
    for name in ["", "a#2", "a/b"] {
        let leg = leg(Vec::new());
        assert!(matches!(leg.enter(step(name)), Entered::Stopped));
        assert!(matches!(leg.take_fault(), Some(Fault::Misuse(_))), "{name}");
    }
}

#[test]
fn the_next_step_of_a_name_is_another_one_when_that_is_reached() {
    for journal in [Vec::new(), vec![done("a"), done("p/a")]] {
        let leg = leg(journal);
        assert_eq!([leg.next_step("a"), leg.next_step("a")], ["a", "a"]);
        leg.enter(step("a"));
        assert_eq!([leg.next_step("a"), leg.next_step("b")], ["a#2", "b"]);
        leg.go_to(Some("p"));
        assert_eq!(leg.next_step("a"), "p/a");
        leg.enter(step("a"));
        assert_eq!(leg.next_step("a"), "p/a#2");
    }
}

#[test]
fn a_journal_that_grows_beyond_its_limits_fails_the_task() {
    let entries = limited(
        vec![done("a")],
        Limits {
            journal_entries: 2,
            ..Limits::default()
        },
    );
    entries.note(done("b"));
    assert!(entries.take_fault().is_none());
    entries.note(done("c"));
    assert!(
        matches!(entries.take_fault(), Some(Fault::OverLimit(why)) if why.contains("2 entries"))
    );
    let bytes = limited(
        Vec::new(),
        Limits {
            journal_bytes: 5,
            ..Limits::default()
        },
    );
    bytes.note(done("a"));
    assert!(matches!(bytes.take_fault(), Some(Fault::OverLimit(_))));
}

#[test]
fn the_first_fault_is_the_one_that_counts() {
    let leg = leg(Vec::new());
    leg.stop(Fault::Superseded);
    leg.stop(Fault::Misuse("later".into()));
    assert!(matches!(leg.take_fault(), Some(Fault::Superseded)));
}
