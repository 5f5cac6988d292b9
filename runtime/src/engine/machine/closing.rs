//! The end that comes from outside: cancellation and expiry, and what is cleaned up after them.

use std::time::Duration;

use serde_json::Map;

use super::{
    LegEvent, Refusal, Release, Report, STALLED_LEGS, Verdict, change, change_with, changed, ended,
    leg,
};
use crate::{
    error::ProtocolError,
    host::Timestamp,
    record::{Closing, End, Lease, Life, Origin, Record, Status},
    store::JournalChange,
};

/// How long the owner of an expired task is told so.
const TOMBSTONE: Duration = Duration::from_hours(1);
/// How long an operator can see that a task was not cleaned up.
const TOLD: Duration = Duration::from_hours(7 * 24);
/// How long a cleanup leg waits for a worker that has the tool.
const WAIT: Duration = Duration::from_hours(24);

/// Ends a task for everyone who looks, and leaves its cleaning up to a closing leg.
pub(super) fn cancel(record: &Record, reason: Option<String>, now: Timestamp) -> Verdict {
    let mut next = ended(record, End::Cancelled);
    next.status_message = Some(reason.unwrap_or_else(|| "cancelled".into()));
    begin(record, &mut next, now);
    change(record, next, now)
}

/// A cleanup leg begins when the leg that runs now has let go.
fn begin(record: &Record, next: &mut Record, now: Timestamp) {
    if record.origin.cleans_up {
        next.closing = Some(Closing::Due(now.after(WAIT)));
        // The code that did not fit before may clean up; if not, its grace begins anew.
        next.drift = None;
        next.lease.clone_from(&record.lease);
        next.stalled = 0;
    }
}

/// Gives the cleanup leg to a worker.
pub(super) fn claim(record: &Record, lease: Lease, now: Timestamp) -> Verdict {
    let Some(Closing::Due(until)) = record.closing else {
        return Verdict::Refused(Refusal::Fenced);
    };
    let mut next = record.clone();
    leg::take(&mut next, lease);
    let fence = next.fence;
    next.closing = Some(Closing::Running { fence, until });
    change(record, next, now)
}

/// What a leg may still write when the task is over: what it did, and that it is done.
pub(super) fn in_leg(record: &Record, event: LegEvent, now: Timestamp) -> Verdict {
    let (cleans, until) = match record.closing {
        Some(Closing::Running { until, .. }) => (true, until),
        Some(Closing::Due(until)) => (false, until),
        None => return Verdict::Refused(Refusal::Over),
    };
    let mut next = record.clone();
    let cut_off = match &event {
        LegEvent::Finished { cut_off, .. }
        | LegEvent::Failed { cut_off, .. }
        | LegEvent::Parked { cut_off, .. } => *cut_off,
        _ => false,
    };
    match event {
        // Whatever was done needs to be known to the leg that cleans up.
        LegEvent::Progressed(entries) => {
            leg::got_somewhere(&mut next);
            // A cleanup leg does not find out what the leg before it did.
            next.interrupted = cleans && record.interrupted;
            return change_with(record, next, entries, now);
        }
        LegEvent::Finished { .. } | LegEvent::Parked { .. } if cleans => {
            return close(record, record, now);
        }
        LegEvent::Failed { why, .. } if cleans => return give_up(record, &why, now),
        LegEvent::Told(_) | LegEvent::Detached => return Verdict::Unchanged(Report::default()),
        LegEvent::Drifted(drift) if cleans => {
            next.closing = Some(Closing::Due(drift.until));
            next.drift = Some(drift);
        }
        LegEvent::Released(Release::OutOfTime) if cleans => {
            next.stalled += 1;
            if next.stalled >= STALLED_LEGS {
                return give_up(record, "it took longer than it may", now);
            }
            next.closing = Some(Closing::Due(until));
        }
        LegEvent::Released(release) => {
            next.interrupted |= release == Release::Interrupted && !cleans;
            next.closing = Some(Closing::Due(until));
        }
        LegEvent::Finished { .. } | LegEvent::Parked { .. } | LegEvent::Failed { .. } => {
            // It came to rest by itself: what it did is in the journal, but for what was cut off.
            next.interrupted = cut_off;
        }
        LegEvent::Drifted(_) => {}
    }
    next.lease = None;
    change(record, next, now)
}

/// The cleanup leg of `record` is done; `before` is the record that a client saw last.
fn close(record: &Record, before: &Record, now: Timestamp) -> Verdict {
    let mut next = record.clone();
    next.closing = None;
    next.drift = None;
    next.lease = None;
    if record.life == Life::Expired {
        return bury(&next, before, now);
    }
    change(before, next, now)
}

/// Nobody cleans up any more. The operator has to.
pub(super) fn give_up(record: &Record, why: &str, now: Timestamp) -> Verdict {
    let mut next = record.clone();
    next.not_cleaned = Some(why.into());
    let message = record.status_message.as_deref().unwrap_or("over");
    next.status_message = Some(format!("{message}; not cleaned up: {why}"));
    close(&next, record, now)
}

/// What a moment that came makes of a record that nobody works on.
pub(super) fn alarm(record: &Record, now: Timestamp) -> Verdict {
    let expired = record.life == Life::Present && record.is_expired(now);
    if expired {
        let mut next = record.clone();
        if !record.status.is_terminal() {
            begin(record, &mut next, now);
        }
        if next.closing.is_some() {
            next.life = Life::Expired;
            return change(record, next, now);
        }
        return bury(record, record, now);
    }
    if let Some(Closing::Due(until)) = record.closing
        && until <= now
        && record.lease.is_none()
    {
        let why = match &record.drift {
            Some(drift) => drift.message.clone(),
            None => format!("no worker had the tool `{}`", record.origin.tool),
        };
        return give_up(record, &why, now);
    }
    match &record.drift {
        Some(drift) if drift.until <= now && !record.status.is_terminal() => {
            let error = ProtocolError::internal(drift.message.clone()).because("drift");
            change(record, ended(record, End::Error(error)), now)
        }
        _ => Verdict::Unchanged(Report::default()),
    }
}

/// Forgets all but that there was such a task, whose it was, and that it was not cleaned up.
fn bury(record: &Record, before: &Record, now: Timestamp) -> Verdict {
    let kept = if record.not_cleaned.is_some() {
        TOLD
    } else {
        TOMBSTONE
    };
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
        life: Life::Tombstone(now.after(kept)),
        drift: None,
        lease: None,
        suspect: None,
        answered: false,
        ..record.clone()
    };
    changed(before, next, JournalChange::Clear, now)
}

impl Closing {
    /// When it is given up.
    pub(super) const fn until(self) -> Timestamp {
        match self {
            Self::Due(until) | Self::Running { until, .. } => until,
        }
    }
}
