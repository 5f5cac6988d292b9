//! The rules of an execution: record and event in, change out.
//!
//! No async, no clock, no randomness, no store: whoever drives it brings the time, and a store
//! compares and swaps what comes out. Every rule stands here once.
//!
//! - What is terminal stays as it is; only what has to be cleaned up still happens.
//! - A key names one question for the whole life of the task.
//! - Answers to keys that are not outstanding are ignored and reported.
//! - When the last outstanding question is answered, the task can run: once, because a claim
//!   raises the fence and only the holder of the fence may write.
//! - Expiry counts from the creation.
//! - A round is spent on one set of answers, and names the reply to them.

mod answers;
mod closing;
mod leg;
mod rounds;

use std::{collections::BTreeMap, sync::Arc};

use serde_json::{Map, Value};

use super::leg::Parking;
use crate::{
    error::ProtocolError,
    host::Timestamp,
    journal::Entry,
    record::{Delivery, Drift, End, Lease, Life, Origin, Record, Status, Ttl},
    store::JournalChange,
};

/// This many legs in a row may end without getting anywhere.
const STALLED_LEGS: u32 = 3;

/// What happens to an execution.
#[derive(Clone, Debug)]
pub(crate) enum Event {
    /// A worker takes it.
    Claimed(Lease),
    /// The worker that holds it is dead.
    Lost(Lost),
    /// Something happened in the leg that holds `fence`.
    Leg {
        fence: u64,
        /// Counts the writes of the leg, so that one which is tried again after its acknowledgement
        /// was lost happens once. Zero: it does no harm twice.
        number: u64,
        event: LegEvent,
    },
    /// Answers came in.
    Answered(BTreeMap<String, Value>),
    /// A call that asks by round trips was made again, with answers to one of its rounds.
    Retried {
        round: String,
        answers: BTreeMap<String, Value>,
    },
    /// Its client follows it as a task from now on.
    Detached,
    /// Somebody wants it to end.
    Cancelled { reason: Option<String> },
    /// Its time to live is another one from now on.
    TtlSet(Ttl),
    /// A moment came that needs no worker.
    Alarm,
}

/// The death of a worker.
#[derive(Clone, Debug)]
pub(crate) struct Lost {
    pub(crate) worker: String,
    /// Whether it was the only execution that this worker held, so that it may have killed it.
    pub(crate) alone: bool,
}

/// How a leg lets go of its claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Release {
    /// Between two operations.
    AtRest,
    /// In the middle of a step, which may have happened.
    Interrupted,
    /// It cleaned up for longer than it may.
    OutOfTime,
}

/// What happens in a leg. Only the leg that holds the fence may say so.
#[derive(Clone, Debug)]
pub(crate) enum LegEvent {
    /// Operations ended.
    Progressed(Vec<Entry>),
    /// It has something to tell.
    Told(Told),
    /// It can only wait; its questions are the round of this name, if it asks by rounds.
    Parked {
        parking: Parking,
        round: Option<String>,
        told: Told,
        /// Whether an effect was dropped before it ended.
        cut_off: bool,
    },
    /// It is a task from here on.
    Detached,
    /// Its function is done.
    Finished {
        end: End,
        told: Told,
        /// Whether an effect was dropped before it ended.
        cut_off: bool,
    },
    /// Its code failed in a way that another leg would fail, too, before its function was done.
    Failed {
        end: End,
        why: String,
        /// Whether an effect was dropped before it ended, or its outcome could not be kept.
        cut_off: bool,
    },
    /// Its code does not fit the journal.
    Drifted(Drift),
    /// It gives up its claim, so that another worker may go on at once.
    Released(Release),
}

/// What a leg tells about its task.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Told {
    pub(crate) status: Option<String>,
    pub(crate) meta: Map<String, Value>,
    pub(crate) ttl: Option<Ttl>,
}

/// What an event makes of a record.
#[derive(Debug)]
pub(crate) struct Transition {
    /// The record after it, one version on.
    pub(crate) record: Record,
    /// What it does to the journal.
    pub(crate) journal: JournalChange,
}

/// What became of the answers of an update.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Report {
    pub(crate) accepted: Vec<String>,
    /// Keys that were never put, or not any more.
    pub(crate) ignored: Vec<String>,
    /// Keys that still wait for an answer.
    pub(crate) outstanding: Vec<String>,
    /// What is wrong with the answers to a round, by their keys; none of them was taken.
    pub(crate) unfit: BTreeMap<String, String>,
}

/// What comes of an event.
#[derive(Debug)]
pub(crate) enum Verdict {
    /// The record changes.
    Change(Box<Transition>, Report),
    /// Everything stays as it is, and that is in order.
    Unchanged(Report),
    /// The event may not happen.
    Refused(Refusal),
}

/// Why an event may not happen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The task ended, or its time is over.
    Over,
    /// Another leg holds the fence, or a leg holds the lease.
    Fenced,
    /// There is nothing to run.
    NotRunnable,
    /// An answer does not fit its question; nothing of the update was taken.
    WrongAnswer { key: String, violation: String },
    /// A question was put under a key that an earlier one had.
    KeyReused(String),
    /// There was no such round, or it is long over.
    NoSuchRound,
    /// The round was spent on other answers.
    OtherAnswers,
}

impl Told {
    /// Adds what was told later.
    pub(crate) fn extend(&mut self, later: Self) {
        self.status = later.status.or(self.status.take());
        self.meta.extend(later.meta);
        self.ttl = later.ttl.or(self.ttl);
    }

    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Record {
    /// The record of a new execution that `lease` already holds.
    pub(crate) fn created(
        origin: impl Into<Arc<Origin>>,
        delivery: Delivery,
        ttl_ms: Option<u64>,
        lease: Lease,
    ) -> Self {
        let origin = origin.into();
        Self {
            updated_at: origin.created_at,
            changed_at: None,
            origin,
            delivery,
            rounds: None,
            status: Status::Working,
            status_message: None,
            ttl_ms,
            meta: Map::new(),
            questions: Vec::new(),
            spent: Vec::new(),
            asleep: None,
            end: None,
            closing: None,
            life: Life::Present,
            drift: None,
            lease: Some(lease),
            fence: 1,
            version: 1,
            legs: 1,
            stalled: 0,
            writes: 0,
            interrupted: false,
            suspect: None,
            answered: false,
            not_cleaned: None,
        }
    }
}

/// What `event` at `now` makes of `record`.
pub(crate) fn apply(record: &Record, event: Event, now: Timestamp) -> Verdict {
    if let Event::Alarm = event {
        return closing::alarm(record, now);
    }
    let over = record.status.is_terminal() || record.is_expired(now);
    match event {
        Event::Claimed(_) if record.lease.is_some() => Verdict::Refused(Refusal::Fenced),
        Event::Claimed(lease) if record.closing.is_some() => closing::claim(record, lease, now),
        Event::Claimed(_) | Event::Detached if over => Verdict::Refused(Refusal::Over),
        Event::Claimed(lease) => leg::claim(record, lease, now),
        Event::Lost(lost) => leg::lost(record, &lost, now),
        Event::Leg { fence, .. } if fence != record.fence => Verdict::Refused(Refusal::Fenced),
        Event::Leg { number, .. } if (1..=record.writes).contains(&number) => {
            Verdict::Unchanged(Report::default())
        }
        Event::Leg { .. } if record.lease.is_none() => Verdict::Refused(Refusal::Fenced),
        Event::Leg { number, event, .. } => {
            let verdict = match record.closing {
                Some(_) => closing::in_leg(record, event, now),
                None => leg::event(record, event, now),
            };
            numbered(verdict, number)
        }
        Event::Answered(answers) if over => answers::too_late(answers),
        Event::Answered(answers) => answers::take(record, answers, now),
        Event::Detached if record.is_task() || record.status != Status::Working => {
            Verdict::Refused(Refusal::NotRunnable)
        }
        Event::Detached => change(record, detached(record), now),
        Event::Cancelled { .. } if over => Verdict::Unchanged(Report::default()),
        Event::Cancelled { reason } => closing::cancel(record, reason, now),
        Event::Retried { .. } | Event::TtlSet(_) if record.is_expired(now) => {
            Verdict::Refused(Refusal::Over)
        }
        Event::Retried { round, answers } => rounds::take(record, &round, &answers, now),
        Event::TtlSet(Ttl(ttl_ms)) => {
            let mut next = record.clone();
            next.ttl_ms = ttl_ms;
            change(record, next, now)
        }
        Event::Alarm => Verdict::Unchanged(Report::default()),
    }
}

/// The change of a leg, as its write of this number.
fn numbered(verdict: Verdict, number: u64) -> Verdict {
    match verdict {
        Verdict::Change(mut transition, report) if number > 0 => {
            transition.record.writes = number;
            Verdict::Change(transition, report)
        }
        other => other,
    }
}

/// The new execution `record` after all of `events` in its first leg, and its journal: what happened
/// before it was written.
pub(crate) fn begun(
    mut record: Record,
    events: Vec<LegEvent>,
    now: Timestamp,
) -> Result<(Record, Vec<Entry>), Refusal> {
    let mut journal = Vec::new();
    for event in events {
        let fence = record.fence;
        let event = Event::Leg {
            fence,
            number: 0,
            event,
        };
        match apply(&record, event, now) {
            Verdict::Change(transition, _) => {
                record = transition.record;
                if let JournalChange::Append(entries) = transition.journal {
                    journal.extend(entries);
                }
            }
            Verdict::Unchanged(_) => {}
            Verdict::Refused(refusal) => return Err(refusal),
        }
    }
    Ok((record, journal))
}

/// `record` as a task.
fn detached(record: &Record) -> Record {
    Record {
        delivery: Delivery::Task,
        ..record.clone()
    }
}

/// `record` after it came to its `end`.
fn ended(record: &Record, end: End) -> Record {
    let (status, message) = match &end {
        End::Result(_) => (Status::Completed, None),
        End::Error(error) => (Status::Failed, Some(error.message.clone().into_owned())),
        End::Cancelled => (Status::Cancelled, None),
    };
    Record {
        status,
        status_message: message,
        questions: Vec::new(),
        asleep: None,
        drift: None,
        end: Some(end),
        lease: None,
        suspect: None,
        answered: false,
        ..record.clone()
    }
}

/// `record` after too many of its legs killed their worker.
fn stalled(record: &Record) -> Record {
    let error = ProtocolError::internal(format!(
        "gave up: {STALLED_LEGS} runs in a row ended their process before they got anywhere"
    ));
    ended(record, End::Error(error.because("stalled")))
}

/// The change from `record` to `next`, which leaves the journal as it is.
fn change(record: &Record, next: Record, now: Timestamp) -> Verdict {
    change_with(record, next, Vec::new(), now)
}

/// The change from `record` to `next`, with what it adds to the journal.
fn change_with(record: &Record, next: Record, entries: Vec<Entry>, now: Timestamp) -> Verdict {
    changed(record, next, JournalChange::Append(entries), now)
}

/// `updated_at` moves with what a client can see, and only then.
fn changed(record: &Record, mut next: Record, journal: JournalChange, now: Timestamp) -> Verdict {
    let visible = next.status != record.status
        || next.status_message != record.status_message
        || next.ttl_ms != record.ttl_ms
        || next.meta != record.meta
        || next.questions != record.questions;
    if visible {
        next.updated_at = now.max(record.updated_at);
    }
    next.changed_at = (now < next.updated_at).then_some(now);
    next.version += 1;
    let record = next;
    Verdict::Change(Transition { record, journal }.into(), Report::default())
}

#[cfg(test)]
mod tests;
