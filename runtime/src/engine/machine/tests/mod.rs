#![expect(
    clippy::needless_pass_by_value,
    reason = "an event is written where it happens"
)]

mod cleanup;
mod deaths;
mod property;
mod rounds;

use serde_json::json;

use super::*;
use crate::{
    input::form::{Ask, Form},
    record::{Client, Pinned, Sleep, TaskId},
};

const START: Timestamp = Timestamp::from_millis(1_000_000);

fn at(millis: u64) -> Timestamp {
    Timestamp::from_millis(START.as_millis() + millis)
}

fn lease(worker: &str) -> Lease {
    Lease {
        worker: worker.into(),
        trial: None,
    }
}

fn claim() -> Event {
    Event::Claimed(lease("b"))
}

/// The worker `worker` died, alone with the task or beside others.
fn death(worker: &str, alone: bool) -> Event {
    let worker = worker.into();
    Event::Lost(Lost { worker, alone })
}

/// A task that the worker `a` just made; it lives for 10 s.
fn created() -> Record {
    delivered(Delivery::Task)
}

fn delivered(delivery: Delivery) -> Record {
    let origin = Origin {
        format: 1,
        id: TaskId::from("t"),
        pool: "pool".into(),
        tool: "tool".into(),
        fingerprint: "old".into(),
        server_version: String::new(),
        seed: "seed".into(),
        arguments: Map::new(),
        arguments_digest: String::new(),
        owner: Some("alice".into()),
        client: Client::default(),
        created_at: START,
        poll_ms: 1_000,
        cleans_up: false,
    };
    Record::created(origin, delivery, Some(10_000), lease("a"))
}

fn pinned(key: &str) -> Pinned {
    Pinned {
        key: key.into(),
        ask: Ask::form(format!("{key}?"), crate::input::plain::<bool>()),
        deadline: None,
    }
}

fn on_parking(parking: Parking) -> LegEvent {
    LegEvent::Parked {
        parking,
        round: None,
        told: Told::default(),
        cut_off: false,
    }
}

fn parked_on(keys: &[&str]) -> LegEvent {
    on_parking(Parking {
        asked: keys.iter().map(|key| pinned(key)).collect(),
        waits: keys.iter().map(|key| (*key).into()).collect(),
        ..Parking::default()
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
    Event::Leg {
        fence,
        number: 0,
        event,
    }
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

fn progressed() -> LegEvent {
    LegEvent::Progressed(vec![Entry::began("s")])
}

fn status(text: &str) -> LegEvent {
    LegEvent::Told(Told {
        status: Some(text.into()),
        ..Told::default()
    })
}

fn finished() -> LegEvent {
    ending(End::Result(Map::new()))
}

fn drifted() -> LegEvent {
    LegEvent::Drifted(Drift {
        fingerprint: "new".into(),
        message: "the journal has this, the code has that".into(),
        until: at(4_000),
    })
}

const fn released() -> LegEvent {
    LegEvent::Released(Release::AtRest)
}

fn ending(end: End) -> LegEvent {
    let told = Told::default();
    LegEvent::Finished {
        end,
        told,
        cut_off: false,
    }
}

#[test]
fn a_park_puts_its_questions_and_lets_the_leg_go() {
    let record = after(&created(), leg(1, parked_on(&["a", "b"])), at(5));
    assert_eq!(record.status, Status::InputRequired);
    assert_eq!(record.questions, [pinned("a"), pinned("b")]);
    assert_eq!(record.lease, None);
    assert_eq!(record.updated_at, at(5));
    assert_eq!(record.index().due_at, None);
}

#[test]
fn a_clock_that_goes_back_holds_nothing_up() {
    let parked = after(&created(), leg(1, parked_on(&["a"])), at(500));
    let answered = after(&parked, answers(&[("a", yes())]), at(5));
    assert_eq!(answered.updated_at, at(500));
    assert!(answered.index().due_at <= Some(at(5)));
    let ahead = after(&created(), leg(1, status("ahead")), at(500));
    let released = after(&ahead, leg(1, released()), at(5));
    assert_eq!(released.index().due_at, Some(at(5)));
}

#[test]
fn the_last_answer_makes_it_runnable_and_no_earlier_one_does() {
    let parked = after(&created(), leg(1, parked_on(&["a", "b"])), at(5));
    let half = after(&parked, answers(&[("b", yes())]), at(6));
    assert_eq!(half.status, Status::InputRequired);
    assert_eq!(half.index().due_at, None);
    let full = after(&half, answers(&[("a", yes())]), at(7));
    assert_eq!(full.status, Status::Working);
    assert!(full.index().due_at <= Some(at(7)));
    let claimed = after(&full, claim(), at(8));
    assert_eq!((claimed.fence, claimed.legs), (2, 2));
    assert_eq!(claimed.index().due_at, None);
}

#[test]
fn a_park_on_answered_questions_stays_runnable() {
    // The answer came in while the leg decided to park.
    let mut record = created();
    record.spent = vec!["a".into()];
    let parking = Parking {
        waits: vec!["a".into()],
        ..Parking::default()
    };
    let record = after(&record, leg(1, on_parking(parking)), at(5));
    assert_eq!(record.status, Status::Working);
    assert_eq!(record.index().due_at, Some(START));
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
    let claimed = after(&answered, claim(), at(7));
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
            leg(1, ending(End::Error(ProtocolError::internal("x")))),
            Status::Failed,
        ),
        (cancel(), Status::Cancelled),
    ];
    for (end, status) in ends {
        let record = after(&created(), end, at(5));
        assert_eq!(record.status, status);
        assert_eq!(record.lease, None);
        for late in [leg(1, finished()), leg(1, parked_on(&["a"]))] {
            assert_eq!(refusal(&record, late, at(6)), Refusal::Fenced);
        }
        assert_eq!(refusal(&record, claim(), at(6)), Refusal::Over);
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
    let released = after(&created(), leg(1, released()), at(5));
    assert_eq!(refusal(&released, claim(), at(10_000)), Refusal::Over);
}

#[test]
fn a_write_that_is_tried_again_happens_once() {
    let write = |number| Event::Leg {
        fence: 1,
        number,
        event: progressed(),
    };
    let first = after(&created(), write(1), at(5));
    assert!(matches!(
        apply(&first, write(1), at(6)),
        Verdict::Unchanged(_)
    ));
    let second = after(&first, write(2), at(7));
    assert_eq!(second.writes, 2);
    // The numbers of the next leg begin anew.
    let lost = after(&second, death("a", false), at(8));
    let claimed = after(&lost, claim(), at(9));
    assert_eq!(claimed.writes, 0);
    let end = Event::Leg {
        fence: 2,
        number: 1,
        event: finished(),
    };
    let ended = after(&claimed, end.clone(), at(10));
    assert!(matches!(apply(&ended, end, at(11)), Verdict::Unchanged(_)));
}

#[test]
fn an_endless_ttl_never_ends() {
    for ttl_ms in [None, Some(u64::MAX)] {
        let mut record = created();
        record.ttl_ms = ttl_ms;
        assert!(
            !record.is_expired(Timestamp::from_millis(u64::MAX)),
            "{ttl_ms:?}"
        );
        assert_eq!(record.index().alarm_at, None);
    }
}

#[test]
fn only_the_holder_of_the_fence_may_write() {
    assert_eq!(refusal(&created(), claim(), at(999)), Refusal::Fenced);
    let lost = after(&created(), death("a", false), at(1_000));
    assert_eq!(
        refusal(&lost, leg(1, finished()), at(1_000)),
        Refusal::Fenced
    );
    let taken = after(&lost, claim(), at(1_000));
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
fn what_was_just_answered_goes_before_a_backlog() {
    let parked = after(&created(), leg(1, parked_on(&["a"])), at(5));
    let answered = after(&parked, answers(&[("a", yes())]), at(6));
    assert_eq!(answered.index().due_at, Some(Timestamp::from_millis(0)));
    let claimed = after(&answered, claim(), at(7));
    let released = after(&claimed, leg(2, released()), at(8));
    assert!(released.index().due_at > Some(Timestamp::from_millis(0)));
}

#[test]
fn the_time_of_the_last_update_moves_with_what_a_client_sees_and_only_then() {
    let record = created();
    let progressed = after(&record, leg(1, progressed()), at(6));
    assert_eq!(progressed.updated_at, START);
    let told = after(&progressed, leg(1, status("on it")), at(7));
    assert_eq!(told.updated_at, at(7));
    let same = after(&told, leg(1, status("on it")), at(8));
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

#[test]
fn a_sleep_is_due_when_its_time_has_come_and_ends_by_the_claim() {
    let sleep = Sleep {
        key: "sleep".into(),
        until: at(3_000),
    };
    let parking = Parking {
        waits: vec!["sleep".into()],
        asleep: Some(sleep),
        ..Parking::default()
    };
    let asleep = after(&created(), leg(1, on_parking(parking)), at(5));
    assert_eq!(asleep.status, Status::Working);
    assert_eq!(asleep.index().due_at, Some(at(3_000)));
    assert_eq!(refusal(&asleep, claim(), at(2_999)), Refusal::NotRunnable);
    let awake = after(&asleep, claim(), at(3_000));
    assert_eq!((awake.asleep, awake.legs), (None, 2));
}

#[test]
fn a_question_whose_time_is_over_is_taken_back_and_the_task_goes_on() {
    let mut asked = pinned("a");
    asked.deadline = Some(at(3_000));
    let parking = Parking {
        asked: vec![asked],
        waits: vec!["a".into()],
        ..Parking::default()
    };
    let parked = after(&created(), leg(1, on_parking(parking)), at(5));
    assert_eq!(parked.index().due_at, Some(at(3_000)));
    // An answer that comes too late is none, whether or not the timer fired yet.
    assert_eq!(
        report(&parked, answers(&[("a", yes())]), at(3_000)).ignored,
        ["a"]
    );
    let late = after(&parked, claim(), at(3_000));
    assert_eq!((late.status, late.legs), (Status::Working, 2));
    assert_eq!(late.questions, []);
}

#[test]
fn what_expired_leaves_a_tombstone_with_nothing_but_its_owner() {
    let parked = after(&created(), leg(1, parked_on(&["a"])), at(5));
    assert!(matches!(
        apply(&parked, Event::Alarm, at(9_999)),
        Verdict::Unchanged(_)
    ));
    let buried = after(&parked, Event::Alarm, at(10_000));
    assert_eq!(buried.origin.owner.as_deref(), Some("alice"));
    assert_eq!((buried.questions.len(), buried.spent.len()), (0, 0));
    assert!(buried.is_expired(at(10_000)));
    assert_eq!(buried.index().due_at, None);
    assert!(buried.index().alarm_at > Some(at(10_000)));
}

#[test]
fn a_ttl_in_the_past_expires_the_task_and_a_longer_one_keeps_it() {
    let record = created();
    let shorter = after(&record, Event::TtlSet(Ttl(Some(100))), at(500));
    assert!(shorter.is_expired(at(500)));
    let longer = after(&record, Event::TtlSet(Ttl(Some(20_000))), at(500));
    assert!(!longer.is_expired(at(19_999)));
    assert_eq!(
        refusal(&record, Event::TtlSet(Ttl(None)), at(10_000)),
        Refusal::Over
    );
}

#[test]
fn drift_waits_for_other_code_and_then_fails_with_both_sides() {
    let drifted = after(&created(), leg(1, drifted()), at(5));
    assert_eq!(drifted.status, Status::Working);
    assert_eq!(drifted.index().avoid, Some("new"));
    assert_eq!(drifted.index().due_at, Some(at(5)));
    let taken = after(&drifted, Event::Claimed(lease("old")), at(6));
    assert_eq!((taken.index().avoid, taken.legs), (None, 2));
    assert_eq!(taken.status_message, None, "the old code goes on");
    let failed = after(&drifted, Event::Alarm, at(4_000));
    assert_eq!(failed.status, Status::Failed);
    assert!(failed.status_message.unwrap().contains("the code has that"));
}

#[test]
fn a_leg_that_is_released_is_due_at_once() {
    let released = after(&created(), leg(1, released()), at(5));
    assert_eq!(released.index().due_at, Some(START));
    assert_eq!(released.stalled, 0);
}
