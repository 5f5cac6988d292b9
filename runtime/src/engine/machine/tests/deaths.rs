//! Workers that die, and tasks that may have killed them.

use super::*;

#[test]
fn only_the_death_of_the_worker_that_holds_it_frees_a_task() {
    assert_eq!(created().index().due_at, None);
    assert_eq!(
        refusal(&created(), death("b", true), at(5)),
        Refusal::Fenced
    );
    let lost = after(&created(), death("a", true), at(5));
    assert_eq!(lost.index().worker, None);
    assert!(lost.index().due_at.is_some());
}

/// What becomes of a task whose workers die one after the other, after `before` in each leg.
fn dying(alone: bool, before: Option<LegEvent>) -> Record {
    let mut record = created();
    for round in 1..=3 {
        let now = at(round * 1_000);
        if let Some(event) = &before {
            record = after(&record, leg(record.fence, event.clone()), now);
        }
        let worker = record.worker().unwrap().to_owned();
        record = after(&record, death(&worker, alone), now);
        if round < 3 {
            record = after(&record, claim(), now);
        }
    }
    record
}

#[test]
fn a_task_that_kills_three_workers_alone_fails() {
    let failed = dying(true, None);
    assert_eq!(failed.status, Status::Failed);
    let Some(End::Error(error)) = failed.end else {
        panic!("no error");
    };
    assert_eq!(error.data, Some(json!({ "reason": "stalled" })));
}

#[test]
fn a_death_beside_others_never_counts() {
    let record = dying(false, None);
    assert_eq!((record.status, record.stalled), (Status::Working, 0));
    assert_eq!(record.suspect.map(|suspect| suspect.deaths), Some(3));
}

#[test]
fn an_entry_starts_the_count_of_deaths_again() {
    let record = dying(true, Some(progressed()));
    assert_eq!((record.status, record.stalled), (Status::Working, 1));
    assert_eq!(record.suspect.map(|suspect| suspect.deaths), Some(1));
}

#[test]
fn a_group_in_which_a_worker_died_is_halved() {
    for (trial, group) in [(None, 0), (Some(1), 1), (Some(4), 2), (Some(5), 2)] {
        let mut record = created();
        record.lease = Some(Lease {
            trial,
            ..lease("a")
        });
        let lost = after(&record, death("a", false), at(5));
        assert_eq!(lost.suspect.map(|suspect| suspect.group), Some(group));
    }
}
