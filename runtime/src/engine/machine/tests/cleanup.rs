//! What is cleaned up after a cancel or an expiry, by whom, and when it is given up.

use super::*;
use crate::record::Closing;

#[test]
fn what_a_leg_did_is_kept_when_the_time_is_over_until_it_lets_go() {
    let kept = after(&created(), leg(1, progressed()), at(10_001));
    assert_eq!(kept.version, 2);
    let mut running = created();
    Arc::make_mut(&mut running.origin).cleans_up = true;
    let expired = after(&running, Event::Alarm, at(10_000));
    let kept = after(&expired, leg(1, progressed()), at(10_001));
    assert_eq!(refusal(&kept, claim(), at(10_002)), Refusal::Fenced);
    let cut = after(
        &kept,
        leg(1, LegEvent::Released(Release::Interrupted)),
        at(10_003),
    );
    let cleaning = after(&cut, claim(), at(10_004));
    assert!(cleaning.interrupted, "the cleanup leg is told");
}

/// A task that cleans up when it is cancelled, parked on `a`.
fn parked_with_cleanup() -> Record {
    let mut record = created();
    let mut origin = (*record.origin).clone();
    origin.cleans_up = true;
    record.origin = origin.into();
    after(&record, leg(1, parked_on(&["a"])), at(5))
}

#[test]
fn a_cancelled_task_is_closed_by_one_more_leg_if_it_has_something_to_clean_up() {
    let parked = parked_with_cleanup();
    let cancelled = after(&parked, cancel(), at(6));
    assert_eq!(cancelled.status, Status::Cancelled);
    assert_eq!(cancelled.closing, Some(due(6)));
    assert_eq!(cancelled.index().due_at, Some(at(6)));
    let closing = after(&cancelled, claim(), at(7));
    assert_eq!(closing.closing, Some(cleaning(2, 6)));
    let cleaned = after(&closing, leg(2, progressed()), at(8));
    let closed = after(&cleaned, leg(2, finished()), at(9));
    assert_eq!((closed.closing, closed.lease.clone()), (None, None));
    assert_eq!(
        (closed.status, closed.end),
        (Status::Cancelled, Some(End::Cancelled))
    );
}

#[test]
fn a_closing_leg_begins_when_the_leg_that_ran_has_let_go() {
    let mut running = parked_with_cleanup();
    running = after(&running, answers(&[("a", yes())]), at(6));
    running = after(&running, claim(), at(7));
    let cancelled = after(&running, cancel(), at(8));
    assert_eq!(refusal(&cancelled, claim(), at(9)), Refusal::Fenced);
    // What it had begun is still journaled, for whoever cleans up; its end is not the end.
    let told = after(&cancelled, leg(2, progressed()), at(10));
    let let_go = after(&told, leg(2, finished()), at(11));
    assert_eq!(let_go.closing, Some(due(8)));
    assert_eq!(let_go.end, Some(End::Cancelled));
    assert!(!let_go.interrupted);
    assert_eq!(
        after(&let_go, claim(), at(12)).closing,
        Some(cleaning(3, 8))
    );
}

const DAY: u64 = 24 * 60 * 60 * 1_000;

/// It has to be cleaned up, since this time.
fn due(since: u64) -> Closing {
    Closing::Due(at(since + DAY))
}

fn cleaning(fence: u64, since: u64) -> Closing {
    let until = at(since + DAY);
    Closing::Running { fence, until }
}

#[test]
fn a_cleanup_that_runs_out_of_its_time_again_and_again_is_given_up_and_told() {
    let mut record = after(&parked_with_cleanup(), cancel(), at(6));
    for round in 1..=3 {
        record = after(&record, claim(), at(round * 1_000));
        let out_of_time = LegEvent::Released(Release::OutOfTime);
        record = after(&record, leg(record.fence, out_of_time), at(round * 1_000));
    }
    assert_eq!((record.closing, record.index().due_at), (None, None));
    assert!(record.not_cleaned().unwrap().contains("longer"));
    let message = record.status_message.unwrap();
    assert_eq!(
        message,
        "cancelled; not cleaned up: it took longer than it may"
    );
}

#[test]
fn a_cleanup_waits_for_the_old_code_and_is_given_up_with_both_sides_told() {
    let cancelled = after(&parked_with_cleanup(), cancel(), at(6));
    let claimed = after(&cancelled, claim(), at(7));
    let drifted = after(&claimed, leg(2, drifted()), at(8));
    assert_eq!(drifted.index().avoid, Some("new"));
    assert_eq!(after(&drifted, claim(), at(9)).index().avoid, None);
    let given_up = after(&drifted, Event::Alarm, at(4_000));
    assert!(
        given_up
            .not_cleaned()
            .unwrap()
            .contains("the code has that")
    );
    assert_eq!((given_up.closing, given_up.index().avoid), (None, None));
}

#[test]
fn a_cleanup_without_a_worker_that_has_the_tool_is_given_up_after_a_day() {
    let cancelled = after(&parked_with_cleanup(), cancel(), at(6));
    let endless = after(&cancelled, Event::TtlSet(Ttl(None)), at(7));
    assert_eq!(endless.index().alarm_at, Some(at(6 + DAY)));
    let given_up = after(&endless, Event::Alarm, at(6 + DAY));
    assert!(given_up.not_cleaned().unwrap().contains("`tool`"));
    // What expired goes, and the operator can still see it.
    let expired = after(&parked_with_cleanup(), Event::Alarm, at(10_000));
    let buried = after(&expired, Event::Alarm, at(10_000 + DAY));
    assert!(matches!(buried.life, Life::Tombstone(until) if until > at(10_000 + 7 * DAY)));
    assert!(buried.not_cleaned().is_some());
}

#[test]
fn what_expired_cleans_up_before_it_is_buried() {
    let expired = after(&parked_with_cleanup(), Event::Alarm, at(10_000));
    assert_eq!(expired.closing, Some(due(10_000)));
    assert_eq!(expired.index().alarm_at, Some(at(10_000 + DAY)));
    let closing = after(&expired, claim(), at(10_001));
    let closed = after(&closing, leg(2, finished()), at(10_002));
    assert!(matches!(closed.life, Life::Tombstone(_)));
}

#[test]
fn the_death_of_a_leg_leaves_its_step_in_doubt() {
    let cancelled = after(
        &after(&created_with_cleanup(), cancel(), at(5)),
        death("a", false),
        at(6),
    );
    assert!(cancelled.interrupted);
    let cleaning = after(&cancelled, claim(), at(7));
    let lost = after(&cleaning, death("b", false), at(8));
    assert!(lost.interrupted, "nobody has found out meanwhile");
}

#[test]
fn the_death_of_a_cleanup_leg_puts_no_step_in_doubt() {
    let cancelled = after(&parked_with_cleanup(), cancel(), at(5));
    let cleaning = after(&cancelled, claim(), at(6));
    let lost = after(&cleaning, death("b", false), at(7));
    assert!(!lost.interrupted, "a cleanup leg begins no step");
}

fn created_with_cleanup() -> Record {
    let mut record = created();
    let mut origin = (*record.origin).clone();
    origin.cleans_up = true;
    record.origin = origin.into();
    record
}

#[test]
fn what_was_cut_off_before_a_leg_came_to_rest_is_in_doubt_to_the_cleanup() {
    for cut_off in [false, true] {
        let mut running = created();
        Arc::make_mut(&mut running.origin).cleans_up = true;
        let cancelled = after(&running, cancel(), at(6));
        let end = LegEvent::Finished {
            end: End::Result(Map::new()),
            told: Told::default(),
            cut_off,
        };
        let let_go = after(&cancelled, leg(1, end), at(7));
        assert_eq!(let_go.interrupted, cut_off);
    }
}

#[test]
fn a_task_that_expires_while_its_code_drifts_is_cleaned_up_by_the_code_that_is_there() {
    let mut running = created();
    Arc::make_mut(&mut running.origin).cleans_up = true;
    let drifted = after(&running, leg(1, drifted()), at(5));
    let expired = after(&drifted, Event::Alarm, at(10_000));
    assert_eq!(expired.index().avoid, None);
    assert!(after(&expired, claim(), at(10_001)).lease.is_some());
}
