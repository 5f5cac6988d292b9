//! Legs: who may run one, and what they may write.

use super::{
    LegEvent, Lost, Refusal, Release, STALLED_LEGS, Told, Verdict, change, change_with, closing,
    detached, ended, rounds, stalled,
};
use crate::{
    engine::leg::Parking,
    host::Timestamp,
    journal::Entry,
    record::{Closing, Lease, Pinned, Record, Status, Suspect, Ttl},
};

/// Gives the next leg to a worker, if there is one to run.
pub(super) fn claim(record: &Record, lease: Lease, now: Timestamp) -> Verdict {
    let mut next = record.clone();
    let entries = fire_timers(&mut next, now);
    if next.status != Status::Working || next.asleep.is_some() {
        return if entries.is_empty() {
            Verdict::Refused(Refusal::NotRunnable)
        } else {
            change_with(record, next, entries, now)
        };
    }
    take(&mut next, lease);
    change_with(record, next, entries, now)
}

/// Lets `lease` hold `next`, under a new fence.
pub(super) fn take(next: &mut Record, lease: Lease) {
    // The code that did not fit is not the code that goes on.
    if let Some(drift) = next.drift.take()
        && next.status_message.as_ref() == Some(&drift.message)
    {
        next.status_message = None;
    }
    next.lease = Some(lease);
    next.fence += 1;
    next.writes = 0;
    next.legs += 1;
    next.answered = false;
}

/// Takes the execution from a worker that is dead.
///
/// A death counts only for an execution that was alone with its worker: beside others, any of them
/// may have been the cause.
pub(super) fn lost(record: &Record, lost: &Lost, now: Timestamp) -> Verdict {
    let Some(lease) = record
        .lease
        .as_ref()
        .filter(|lease| lease.worker == lost.worker)
    else {
        return Verdict::Refused(Refusal::Fenced);
    };
    let mut next = record.clone();
    next.lease = None;
    // A cleanup leg begins no step that could be in doubt.
    next.interrupted |= !matches!(record.closing, Some(Closing::Running { .. }));
    next.stalled += u32::from(lost.alone);
    next.suspect = Some(Suspect {
        deaths: record.suspect.map_or(0, |suspect| suspect.deaths) + 1,
        group: lease.trial.map_or(0, |group| (group / 2).max(1)),
    });
    match (next.stalled >= STALLED_LEGS, next.closing) {
        (false, None) => change(record, next, now),
        (false, Some(closing)) => {
            next.closing = Some(Closing::Due(closing.until()));
            change(record, next, now)
        }
        (true, None) => change(record, stalled(&next), now),
        (true, Some(_)) => closing::give_up(&next, "it ended its process again and again", now),
    }
}

/// What the leg that holds the fence wrote.
pub(super) fn event(record: &Record, event: LegEvent, now: Timestamp) -> Verdict {
    let mut next = record.clone();
    match event {
        LegEvent::Progressed(entries) => {
            got_somewhere(&mut next);
            return change_with(record, next, entries, now);
        }
        LegEvent::Told(told) => tell(&mut next, told),
        LegEvent::Parked {
            parking,
            round,
            told,
            cut_off,
        } => {
            tell(&mut next, told);
            got_somewhere(&mut next);
            next.interrupted = cut_off;
            return park(record, next, parking, round, now);
        }
        LegEvent::Detached => next = detached(record),
        LegEvent::Finished { end, mut told, .. } => {
            // The end takes the place of the message.
            told.status = None;
            tell(&mut next, told);
            next = ended(&next, end);
        }
        LegEvent::Failed { end, .. } => next = ended(record, end),
        LegEvent::Drifted(drift) => {
            next.status_message = Some(drift.message.clone());
            next.drift = Some(drift);
            next.lease = None;
            next.stalled = 0;
            next.suspect = None;
        }
        LegEvent::Released(release) => {
            next.lease = None;
            next.interrupted |= release == Release::Interrupted;
        }
    }
    change(record, next, now)
}

/// An entry or a park: whatever killed a worker before was not this.
pub(super) fn got_somewhere(next: &mut Record) {
    next.stalled = 0;
    next.interrupted = false;
    next.suspect = None;
    if let Some(lease) = &mut next.lease {
        lease.trial = None;
    }
}

fn tell(next: &mut Record, told: Told) {
    if told.status.is_some() {
        next.status_message = told.status;
    }
    next.meta.extend(told.meta);
    if let Some(Ttl(millis)) = told.ttl {
        next.ttl_ms = millis;
    }
}

/// Puts the questions of a leg and lets it go, unless what it waits for was answered meanwhile.
fn park(
    record: &Record,
    mut next: Record,
    parking: Parking,
    round: Option<String>,
    now: Timestamp,
) -> Verdict {
    next.lease = None;
    let mut entries = parking.entries;
    for pinned in parking.asked {
        if next.spent.contains(&pinned.key) {
            return Verdict::Refused(Refusal::KeyReused(pinned.key));
        }
        next.spent.push(pinned.key.clone());
        entries.push(Entry::asked(&pinned.key, &pinned.ask));
        next.questions.push(pinned);
    }
    if let Some(sleep) = parking.asleep {
        next.asleep = Some(sleep);
    }
    let waits = |pinned: &Pinned| parking.waits.contains(&pinned.key);
    if next.questions.iter().any(waits) {
        next.status = Status::InputRequired;
        if let Some(name) = round.filter(|_| !next.is_task()) {
            rounds::begin(&mut next, name);
        }
    }
    change_with(record, next, entries, now)
}

/// Ends what waited for a time that has come.
pub(super) fn fire_timers(next: &mut Record, now: Timestamp) -> Vec<Entry> {
    let mut entries = Vec::new();
    if let Some(sleep) = next.asleep.take_if(|sleep| sleep.until <= now) {
        entries.push(Entry::woke(&sleep.key));
    }
    let passed = |pinned: &mut Pinned| pinned.deadline.is_some_and(|deadline| deadline <= now);
    let late = next.questions.extract_if(.., passed);
    entries.extend(late.map(|pinned| Entry::timed_out(&pinned.key)));
    if next.status == Status::InputRequired && next.questions.is_empty() {
        next.status = Status::Working;
    }
    entries
}
