use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::{
    input::form::{Ask, Form},
    record::{Client, TaskId},
};

const START: Timestamp = Timestamp::from_millis(1_000_000);

fn at(millis: u64) -> Timestamp {
    Timestamp::from_millis(START.as_millis() + millis)
}

fn lease(worker: &str, until: u64) -> Lease {
    Lease {
        worker: worker.into(),
        until: at(until),
    }
}

/// A task that the worker `a` just made; it lives for 10 s, the lease for 1 s.
fn created() -> Record {
    let origin = Origin {
        format: 1,
        id: Some(TaskId::from("t")),
        pool: "pool".into(),
        tool: "tool".into(),
        fingerprint: String::new(),
        arguments: serde_json::Map::new(),
        client: Client::default(),
        created_at: START,
        ttl_ms: Some(10_000),
        poll_ms: 1_000,
    };
    Record::created(origin, lease("a", 1_000))
}

fn pinned(key: &str) -> Pinned {
    Pinned {
        key: key.into(),
        ask: Ask::form(format!("{key}?"), crate::input::plain::<bool>()),
    }
}

fn parked_on(keys: &[&str]) -> LegEvent {
    LegEvent::Parked(Parking {
        asked: keys.iter().map(|key| pinned(key)).collect(),
        waits: keys.iter().map(|key| (*key).into()).collect(),
    })
}

fn yes() -> Value {
    json!({ "action": "accept", "content": { "value": true } })
}

fn answers(answers: &[(&str, Value)]) -> Event {
    Event::Answered(
        answers
            .iter()
            .map(|(key, value)| ((*key).into(), value.clone()))
            .collect(),
    )
}

fn cancel() -> Event {
    Event::Cancelled { reason: None }
}

fn leg(fence: u64, event: LegEvent) -> Event {
    Event::Leg { fence, event }
}

/// The record after `event`, which has to be a change.
fn after(record: &Record, event: Event, now: Timestamp) -> Record {
    match apply(record, event.clone(), now) {
        Verdict::Change(transition, _) => transition.record,
        other => panic!("{event:?}: {other:?}"),
    }
}

fn refusal(record: &Record, event: Event, now: Timestamp) -> Refusal {
    match apply(record, event.clone(), now) {
        Verdict::Refused(refusal) => refusal,
        other => panic!("{event:?}: {other:?}"),
    }
}

fn report(record: &Record, event: Event, now: Timestamp) -> Report {
    match apply(record, event.clone(), now) {
        Verdict::Change(_, report) | Verdict::Unchanged(report) => report,
        Verdict::Refused(refusal) => panic!("{event:?}: {refusal:?}"),
    }
}

fn finished() -> LegEvent {
    LegEvent::Finished(End::Result(serde_json::Map::new()))
}

#[test]
fn a_park_puts_its_questions_and_lets_the_leg_go() {
    let record = after(&created(), leg(1, parked_on(&["a", "b"])), at(5));
    assert_eq!(record.status, Status::InputRequired);
    assert_eq!(record.questions, [pinned("a"), pinned("b")]);
    assert_eq!(record.lease, None);
    assert_eq!(record.updated_at, at(5));
    assert_eq!(record.index().runnable_at, None);
}

#[test]
fn the_last_answer_makes_it_runnable_and_no_earlier_one_does() {
    let parked = after(&created(), leg(1, parked_on(&["a", "b"])), at(5));
    let half = after(&parked, answers(&[("b", yes())]), at(6));
    assert_eq!(half.status, Status::InputRequired);
    assert_eq!(half.index().runnable_at, None);
    let full = after(&half, answers(&[("a", yes())]), at(7));
    assert_eq!(full.status, Status::Working);
    assert_eq!(full.index().runnable_at, Some(at(7)));
    let claimed = after(&full, Event::Claimed(lease("b", 2_000)), at(8));
    assert_eq!((claimed.fence, claimed.legs), (2, 2));
    assert_eq!(claimed.index().runnable_at, Some(at(2_000)));
}

#[test]
fn a_park_on_answered_questions_stays_runnable() {
    // The answer came in while the leg decided to park.
    let mut record = created();
    record.spent = vec!["a".into()];
    let parking = Parking {
        asked: Vec::new(),
        waits: vec!["a".into()],
    };
    let record = after(&record, leg(1, LegEvent::Parked(parking)), at(5));
    assert_eq!(record.status, Status::Working);
    assert_eq!(record.index().runnable_at, Some(START));
}

#[test]
fn answers_are_sorted_into_accepted_and_ignored() {
    let parked = after(&created(), leg(1, parked_on(&["a", "b"])), at(5));
    let event = answers(&[("a", yes()), ("never", json!(42))]);
    let told = report(&parked, event, at(6));
    assert_eq!(told.accepted, ["a"]);
    assert_eq!(told.ignored, ["never"]);
    let none = answers(&[("never", json!(null))]);
    assert!(matches!(apply(&parked, none, at(6)), Verdict::Unchanged(_)));
}

#[test]
fn one_wrong_answer_refuses_the_whole_update() {
    let parked = after(&created(), leg(1, parked_on(&["a", "b"])), at(5));
    let event = answers(&[("a", yes()), ("b", json!(42))]);
    let Refusal::WrongAnswer { key, violation } = refusal(&parked, event, at(6)) else {
        panic!("not refused for its answer");
    };
    assert_eq!(key, "b");
    assert!(violation.contains("must be an object"), "{violation}");
}

#[test]
fn a_key_names_one_question_for_ever() {
    let parked = after(&created(), leg(1, parked_on(&["a"])), at(5));
    let answered = after(&parked, answers(&[("a", yes())]), at(6));
    let claimed = after(&answered, Event::Claimed(lease("b", 2_000)), at(7));
    let again = leg(2, parked_on(&["a"]));
    assert_eq!(
        refusal(&claimed, again, at(8)),
        Refusal::KeyReused("a".into())
    );
}

#[test]
fn what_is_terminal_stays_as_it_is() {
    let ends: [(Event, Status); 3] = [
        (leg(1, finished()), Status::Completed),
        (
            leg(
                1,
                LegEvent::Finished(End::Error(ProtocolError::internal("x"))),
            ),
            Status::Failed,
        ),
        (cancel(), Status::Cancelled),
    ];
    for (end, status) in ends {
        let record = after(&created(), end, at(5));
        assert_eq!(record.status, status);
        assert_eq!(record.lease, None);
        for late in [
            leg(1, finished()),
            leg(1, parked_on(&["a"])),
            Event::Claimed(lease("b", 9)),
        ] {
            assert_eq!(refusal(&record, late, at(6)), Refusal::Over);
        }
        assert_eq!(
            report(&record, answers(&[("a", yes())]), at(6)).ignored,
            ["a"]
        );
        assert!(matches!(
            apply(&record, cancel(), at(6)),
            Verdict::Unchanged(_)
        ));
    }
}

#[test]
fn a_cancel_takes_the_questions_away_and_says_why() {
    let parked = after(&created(), leg(1, parked_on(&["a"])), at(5));
    let reason = Some("the shop burned down".into());
    let record = after(&parked, Event::Cancelled { reason }, at(6));
    assert_eq!(record.questions, []);
    assert_eq!(
        record.status_message.as_deref(),
        Some("the shop burned down")
    );
}

#[test]
fn what_is_over_in_time_takes_nothing() {
    let parked = after(&created(), leg(1, parked_on(&["a"])), at(5));
    assert!(!parked.is_expired(at(9_999)));
    assert!(parked.is_expired(at(10_000)));
    assert_eq!(
        report(&parked, answers(&[("a", yes())]), at(10_000)).ignored,
        ["a"]
    );
    let claimed = Event::Claimed(lease("b", 20_000));
    assert_eq!(refusal(&created(), claimed, at(10_000)), Refusal::Over);
    assert_eq!(
        refusal(&created(), leg(1, finished()), at(10_000)),
        Refusal::Over
    );
}

#[test]
fn an_endless_ttl_never_ends() {
    for ttl_ms in [None, Some(u64::MAX)] {
        let mut record = created();
        let mut origin = (*record.origin).clone();
        origin.ttl_ms = ttl_ms;
        record.origin = origin.into();
        assert!(
            !record.is_expired(Timestamp::from_millis(u64::MAX)),
            "{ttl_ms:?}"
        );
        assert_eq!(record.index().expires_at, None);
    }
}

#[test]
fn only_the_holder_of_the_fence_may_write() {
    let claim = Event::Claimed(lease("b", 3_000));
    assert_eq!(refusal(&created(), claim.clone(), at(999)), Refusal::Fenced);
    let taken = after(&created(), claim, at(1_000));
    assert_eq!(
        refusal(&taken, leg(1, finished()), at(1_001)),
        Refusal::Fenced
    );
    assert_eq!(
        refusal(&taken, leg(3, finished()), at(1_001)),
        Refusal::Fenced
    );
    assert_eq!(
        after(&taken, leg(2, finished()), at(1_001)).status,
        Status::Completed
    );
}

#[test]
fn a_leg_that_let_go_writes_nothing_more() {
    let parked = after(&created(), leg(1, parked_on(&["a"])), at(5));
    assert_eq!(refusal(&parked, leg(1, finished()), at(6)), Refusal::Fenced);
}

#[test]
fn three_legs_that_get_nowhere_fail_the_task() {
    let mut record = created();
    for claim in 1..3 {
        let lease = lease("b", claim * 1_000 + 1_000);
        record = after(&record, Event::Claimed(lease), at(claim * 1_000));
        assert_eq!(record.status, Status::Working);
    }
    let failed = after(&record, Event::Claimed(lease("b", 9_000)), at(3_000));
    assert_eq!(failed.status, Status::Failed);
    let Some(End::Error(error)) = failed.end else {
        panic!("no error");
    };
    assert_eq!(error.data, Some(json!({ "reason": "stalled" })));
}

#[test]
fn progress_starts_the_count_of_lost_legs_again() {
    let mut record = created();
    for round in 1..8 {
        let now = at(round * 1_000);
        record = after(
            &record,
            Event::Claimed(lease("b", round * 1_000 + 1_000)),
            now,
        );
        let entry = Entry::step(&format!("step-{round}"), Ok(round));
        record = after(&record, leg(record.fence, LegEvent::Progressed(entry)), now);
        assert_eq!(record.status, Status::Working);
    }
}

#[test]
fn the_time_of_the_last_update_moves_with_what_a_client_sees_and_only_then() {
    let record = created();
    let renewed = after(
        &record,
        leg(1, LegEvent::Renewed { until: at(2_000) }),
        at(5),
    );
    let progressed = after(
        &renewed,
        leg(1, LegEvent::Progressed(Entry::step("s", Ok(1)))),
        at(6),
    );
    assert_eq!(progressed.updated_at, START);
    let told = after(&progressed, leg(1, LegEvent::Status("on it".into())), at(7));
    assert_eq!(told.updated_at, at(7));
    let same = after(&told, leg(1, LegEvent::Status("on it".into())), at(8));
    assert_eq!(same.updated_at, at(7));
    // A clock that went back does not take the time back.
    let parked = after(&same, leg(1, parked_on(&["a"])), at(1));
    assert_eq!(parked.updated_at, at(7));
}

#[test]
fn the_form_of_a_question_is_kept_as_it_was_put() {
    let parked = after(&created(), leg(1, parked_on(&["a"])), at(5));
    let text = serde_json::to_string(&parked).unwrap();
    let read: Record = serde_json::from_str(&text).unwrap();
    assert_eq!(read, parked);
    assert_ne!(read.questions[0].ask.form, Form::default());
}

/// Something that happens to a task, with the time that passed before it.
fn happenings() -> impl Strategy<Value = (u64, Event)> {
    let key = prop::sample::select(vec!["a", "b", "c"]);
    let keys = prop::collection::btree_set(key.clone(), 1..3);
    let response = prop_oneof![
        Just(yes()),
        Just(json!({ "action": "decline" })),
        Just(json!(42))
    ];
    let leg_event = prop_oneof![
        (1_u64..5_000).prop_map(|until| LegEvent::Renewed { until: at(until) }),
        Just(LegEvent::Progressed(Entry::step("s", Ok(1)))),
        Just(LegEvent::Status("busy".into())),
        keys.prop_map(|keys| parked_on(&keys.into_iter().collect::<Vec<_>>())),
        Just(finished()),
    ];
    let event = prop_oneof![
        2 => (0_u64..3_000).prop_map(|until| Event::Claimed(lease("w", until))),
        4 => (0_u64..4, leg_event).prop_map(|(fence, event)| leg(fence, event)),
        4 => prop::collection::btree_map(key.prop_map(String::from), response, 0..3)
            .prop_map(Event::Answered),
        1 => Just(cancel()),
    ];
    (0_u64..400, event)
}

proptest! {
    #[test]
    fn no_sequence_of_events_breaks_the_rules(
        happenings in prop::collection::vec(happenings(), 0..40),
    ) {
        let mut record = created();
        let mut now = START;
        let mut accepted: Vec<String> = Vec::new();
        for (pause, event) in happenings {
            now = Timestamp::from_millis(now.as_millis() + pause);
            let claims = matches!(event, Event::Claimed(_));
            let over = record.status.is_terminal() || record.is_expired(now);
            let Verdict::Change(transition, report) = apply(&record, event, now) else {
                continue;
            };
            let Transition { record: next, entries } = *transition;
            // Nothing changes after the end.
            prop_assert!(!over);
            prop_assert_eq!(next.version, record.version + 1);
            // Only a claim takes the fence, and never one that is held.
            let fenced = next.fence != record.fence;
            prop_assert!(!fenced || claims);
            prop_assert!(!fenced || record.lease.as_ref().is_none_or(|lease| lease.until <= now));
            // Questions are shown where, and only where, the task waits for them.
            prop_assert_eq!(next.status == Status::InputRequired, !next.questions.is_empty());
            prop_assert_eq!(next.status.is_terminal(), next.end.is_some());
            // No key is used twice, and every question has one of its own.
            let mut spent = next.spent.clone();
            spent.sort();
            spent.dedup();
            prop_assert_eq!(spent.len(), next.spent.len());
            prop_assert!(next.questions.iter().all(|pinned| next.spent.contains(&pinned.key)));
            // An answer is accepted once, and stands in the journal when it is.
            for key in &report.accepted {
                prop_assert!(!accepted.contains(key), "{} answered twice", key);
                prop_assert!(entries.iter().any(|entry| entry.key() == key));
                prop_assert!(next.questions.iter().all(|pinned| pinned.key != *key));
            }
            accepted.extend(report.accepted);
            prop_assert!(next.updated_at >= record.updated_at);
            record = next;
        }
    }
}
