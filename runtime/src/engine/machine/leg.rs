//! Legs: who may run one, and what they may write.

use super::{
    LegEvent, Refusal, STALLED_LEGS, Told, Verdict, change, change_with, detached, ended, rounds,
    stalled,
};
use crate::{
    engine::leg::Parking,
    host::Timestamp,
    journal::Entry,
    record::{Lease, Pinned, Record, Status, Ttl},
};

/// Gives the next leg to a worker, if there is one to run and nobody has it.
pub(super) fn claim(record: &Record, lease: Lease, now: Timestamp) -> Verdict {
    if record.lease.as_ref().is_some_and(|held| held.until > now) {
        return Verdict::Refused(Refusal::Fenced);
    }
    let mut next = record.clone();
    let entries = fire_timers(&mut next, now);
    if next.status != Status::Working || next.asleep.is_some() {
        return if entries.is_empty() {
            Verdict::Refused(Refusal::NotRunnable)
        } else {
            change_with(record, next, entries, now)
        };
    }
    if record.stalled >= STALLED_LEGS {
        return change(record, stalled(record), now);
    }
    next.drift = None;
    next.lease = Some(lease);
    next.fence += 1;
    next.legs += 1;
    next.stalled += 1;
    change_with(record, next, entries, now)
}

/// What the leg that holds the fence wrote.
pub(super) fn event(record: &Record, event: LegEvent, now: Timestamp) -> Verdict {
    let mut next = record.clone();
    match event {
        LegEvent::Renewed { until } => {
            if let Some(lease) = &mut next.lease {
                lease.until = until;
            }
        }
        LegEvent::Progressed(entries) => {
            next.stalled = 0;
            return change_with(record, next, entries, now);
        }
        LegEvent::Told(told) => tell(&mut next, told),
        LegEvent::Parked { parking, round } => return park(record, parking, round, now),
        LegEvent::Detached => next = detached(record),
        LegEvent::Finished(end) => next = ended(record, end),
        LegEvent::Drifted(drift) => {
            next.status_message = Some(drift.message.clone());
            next.drift = Some(drift);
            next.lease = None;
            next.stalled = 0;
        }
        LegEvent::Released => {
            next.lease = None;
            // It was not the leg's fault.
            next.stalled = next.stalled.saturating_sub(1);
        }
    }
    change(record, next, now)
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
fn park(record: &Record, parking: Parking, round: Option<String>, now: Timestamp) -> Verdict {
    let mut next = record.clone();
    next.stalled = 0;
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
