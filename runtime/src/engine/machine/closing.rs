//! The end that comes from outside: cancellation and expiry, and what is cleaned up after them.

use serde_json::Map;

use super::{
    LegEvent, Refusal, Report, STALLED_LEGS, Verdict, change, change_with, changed, ended,
};
use crate::{
    error::ProtocolError,
    host::Timestamp,
    record::{Closing, End, Lease, Life, Origin, Record, Status},
    store::JournalChange,
};

/// How long the owner of an expired task is told so, in milliseconds.
const TOMBSTONE_MS: u64 = 60 * 60 * 1_000;

/// Ends a task for everyone who looks, and leaves its cleaning up to a closing leg.
pub(super) fn cancel(record: &Record, reason: Option<String>, now: Timestamp) -> Verdict {
    let mut next = ended(record, End::Cancelled);
    next.status_message = Some(reason.unwrap_or_else(|| "cancelled".into()));
    begin(record, &mut next);
    change(record, next, now)
}

/// A closing leg begins when the leg that runs now has let go.
fn begin(record: &Record, next: &mut Record) {
    if record.origin.cleans_up {
        next.closing = Some(Closing::Due);
        next.lease.clone_from(&record.lease);
        next.stalled = 0;
    }
}

/// Gives the closing leg to a worker.
pub(super) fn claim(record: &Record, lease: Lease, now: Timestamp) -> Verdict {
    if record.lease.as_ref().is_some_and(|held| held.until > now) {
        return Verdict::Refused(Refusal::Fenced);
    }
    if record.stalled >= STALLED_LEGS {
        return close(record, now);
    }
    let mut next = record.clone();
    next.lease = Some(lease);
    next.fence += 1;
    next.legs += 1;
    next.stalled += 1;
    next.closing = Some(Closing::Running(next.fence));
    change(record, next, now)
}

/// What a leg may still write when the task is over: what it did, and that it is done.
pub(super) fn in_leg(record: &Record, fence: u64, event: LegEvent, now: Timestamp) -> Verdict {
    if fence != record.fence || record.lease.is_none() {
        return Verdict::Refused(Refusal::Fenced);
    }
    let closes = record.closing == Some(Closing::Running(fence));
    let mut next = record.clone();
    match event {
        LegEvent::Renewed { until } => {
            if let Some(lease) = &mut next.lease {
                lease.until = until;
            }
            change(record, next, now)
        }
        // Whatever was done needs to be known to whoever cleans up.
        LegEvent::Progressed(entries) => {
            next.stalled = 0;
            change_with(record, next, entries, now)
        }
        LegEvent::Finished(_) | LegEvent::Parked { .. } | LegEvent::Drifted(_) if closes => {
            close(record, now)
        }
        LegEvent::Told(_) | LegEvent::Detached => Verdict::Unchanged(Report::default()),
        LegEvent::Finished(_)
        | LegEvent::Parked { .. }
        | LegEvent::Drifted(_)
        | LegEvent::Released => {
            next.lease = None;
            change(record, next, now)
        }
    }
}

/// The closing leg is done, or given up.
fn close(record: &Record, now: Timestamp) -> Verdict {
    let mut next = record.clone();
    next.closing = None;
    next.lease = None;
    if record.life == Life::Expired {
        return bury(record, now);
    }
    change(record, next, now)
}

/// What a moment that came makes of a record that nobody works on.
pub(super) fn alarm(record: &Record, now: Timestamp) -> Verdict {
    let expired = record.life == Life::Present && record.is_expired(now);
    if expired {
        let mut next = record.clone();
        if !record.status.is_terminal() {
            begin(record, &mut next);
        }
        if next.closing.is_some() {
            next.life = Life::Expired;
            return change(record, next, now);
        }
        return bury(record, now);
    }
    match &record.drift {
        Some(drift) if drift.until <= now && !record.status.is_terminal() => {
            let error = ProtocolError::internal(drift.message.clone()).because("drift");
            change(record, ended(record, End::Error(error)), now)
        }
        _ => Verdict::Unchanged(Report::default()),
    }
}

/// Forgets all but that there was such a task, and whose it was.
fn bury(record: &Record, now: Timestamp) -> Verdict {
    let until = now.checked_add(TOMBSTONE_MS).unwrap_or(now);
    let origin = Origin {
        arguments: Map::new(),
        seed: String::new(),
        ..(*record.origin).clone()
    };
    // It counts as live no more.
    let status = if record.status.is_terminal() {
        record.status
    } else {
        Status::Failed
    };
    let next = Record {
        origin: origin.into(),
        rounds: None,
        status,
        status_message: None,
        meta: Map::new(),
        questions: Vec::new(),
        spent: Vec::new(),
        asleep: None,
        end: None,
        closing: None,
        life: Life::Tombstone(until),
        drift: None,
        lease: None,
        ..record.clone()
    };
    changed(record, next, JournalChange::Clear, now)
}
