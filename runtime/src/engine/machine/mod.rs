//! The rules of an execution: record and event in, change out.
//!
//! No async, no clock, no randomness, no store: whoever drives it brings the time, and a store
//! compares and swaps what comes out. Every rule stands here once.
//!
//! - What is terminal stays as it is.
//! - A key names one question for the whole life of the task.
//! - Answers to keys that are not outstanding are ignored and reported.
//! - When the last outstanding question is answered, the task can run: once, because a claim
//!   raises the fence and only the holder of the fence may write.
//! - Expiry counts from the creation.

use std::collections::BTreeMap;

use serde_json::Value;

use super::leg::Parking;
use crate::{
    error::ProtocolError,
    host::Timestamp,
    journal::Entry,
    record::{End, Lease, Origin, Pinned, Record, Status},
};

/// This many legs in a row may end without getting anywhere.
const STALLED_LEGS: u32 = 3;

/// What happens to an execution.
#[derive(Clone, Debug)]
pub(crate) enum Event {
    /// A worker takes it.
    Claimed(Lease),
    /// Something happened in the leg that holds `fence`.
    Leg { fence: u64, event: LegEvent },
    /// Answers came in.
    Answered(BTreeMap<String, Value>),
    /// Somebody wants it to end.
    Cancelled { reason: Option<String> },
}

/// What happens in a leg. Only the leg that holds the fence may say so.
#[derive(Clone, Debug)]
pub(crate) enum LegEvent {
    /// It is still at work.
    Renewed { until: Timestamp },
    /// An operation ended.
    Progressed(Entry),
    /// It has something to tell.
    Status(String),
    /// It can only wait.
    Parked(Parking),
    /// Its function is done.
    Finished(End),
}

/// What an event makes of a record.
#[derive(Debug)]
pub(crate) struct Transition {
    /// The record after it, one version on.
    pub(crate) record: Record,
    /// What it adds to the journal.
    pub(crate) entries: Vec<Entry>,
}

/// What became of the answers of an update.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Report {
    pub(crate) accepted: Vec<String>,
    /// Keys that were never put, or not any more.
    pub(crate) ignored: Vec<String>,
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
}

impl Record {
    /// The record of a new execution that `lease` already holds.
    pub(crate) fn created(origin: Origin, lease: Lease) -> Self {
        Self {
            updated_at: origin.created_at,
            origin: origin.into(),
            status: Status::Working,
            status_message: None,
            questions: Vec::new(),
            spent: Vec::new(),
            end: None,
            lease: Some(lease),
            fence: 1,
            version: 1,
            legs: 1,
            stalled: 1,
        }
    }
}

/// What `event` at `now` makes of `record`.
pub(crate) fn apply(record: &Record, event: Event, now: Timestamp) -> Verdict {
    if record.status.is_terminal() || record.is_expired(now) {
        return after_the_end(event);
    }
    match event {
        Event::Claimed(lease) => claim(record, lease, now),
        Event::Leg { fence, .. } if fence != record.fence || record.lease.is_none() => {
            Verdict::Refused(Refusal::Fenced)
        }
        Event::Leg { event, .. } => in_leg(record, event, now),
        Event::Answered(answers) => answer(record, answers, now),
        Event::Cancelled { reason } => {
            let mut next = ended(record, End::Cancelled);
            next.status_message = Some(reason.unwrap_or_else(|| "cancelled".into()));
            change(record, next, Vec::new(), now)
        }
    }
}

/// What is over takes nothing, but a client that did not know is not told off.
fn after_the_end(event: Event) -> Verdict {
    match event {
        Event::Answered(answers) => Verdict::Unchanged(Report {
            ignored: answers.into_keys().collect(),
            ..Report::default()
        }),
        Event::Cancelled { .. } => Verdict::Unchanged(Report::default()),
        Event::Claimed(_) | Event::Leg { .. } => Verdict::Refused(Refusal::Over),
    }
}

fn claim(record: &Record, lease: Lease, now: Timestamp) -> Verdict {
    if record.status != Status::Working {
        return Verdict::Refused(Refusal::NotRunnable);
    }
    if record.lease.as_ref().is_some_and(|held| held.until > now) {
        return Verdict::Refused(Refusal::Fenced);
    }
    if record.stalled >= STALLED_LEGS {
        let error = ProtocolError::internal(format!(
            "gave up: {STALLED_LEGS} runs in a row ended before they got anywhere"
        ));
        let next = ended(record, End::Error(error.because("stalled")));
        return change(record, next, Vec::new(), now);
    }
    let mut next = record.clone();
    next.lease = Some(lease);
    next.fence += 1;
    next.legs += 1;
    next.stalled += 1;
    change(record, next, Vec::new(), now)
}

fn in_leg(record: &Record, event: LegEvent, now: Timestamp) -> Verdict {
    let mut next = record.clone();
    let mut entries = Vec::new();
    match event {
        LegEvent::Renewed { until } => {
            if let Some(lease) = &mut next.lease {
                lease.until = until;
            }
        }
        LegEvent::Progressed(entry) => {
            next.stalled = 0;
            entries.push(entry);
        }
        LegEvent::Status(message) => next.status_message = Some(message),
        LegEvent::Parked(parking) => return park(record, parking, now),
        LegEvent::Finished(end) => next = ended(record, end),
    }
    change(record, next, entries, now)
}

/// Puts the questions of a leg and lets it go, unless what it waits for was answered meanwhile.
fn park(record: &Record, parking: Parking, now: Timestamp) -> Verdict {
    let mut next = record.clone();
    next.stalled = 0;
    next.lease = None;
    let mut entries = Vec::new();
    for pinned in parking.asked {
        if next.spent.contains(&pinned.key) {
            return Verdict::Refused(Refusal::KeyReused(pinned.key));
        }
        next.spent.push(pinned.key.clone());
        entries.push(Entry::asked(&pinned.key, &pinned.ask));
        next.questions.push(pinned);
    }
    let waits = |pinned: &Pinned| parking.waits.contains(&pinned.key);
    if next.questions.iter().any(waits) {
        next.status = Status::InputRequired;
    }
    change(record, next, entries, now)
}

fn answer(record: &Record, answers: BTreeMap<String, Value>, now: Timestamp) -> Verdict {
    let mut next = record.clone();
    let mut report = Report::default();
    let mut entries = Vec::new();
    for (key, response) in answers {
        // The key first, the value after: what nobody asked for is not judged.
        let Some(place) = next.questions.iter().position(|pinned| pinned.key == key) else {
            report.ignored.push(key);
            continue;
        };
        match next.questions[place].ask.read(response) {
            Ok(answer) => {
                entries.push(Entry::answered(&key, &answer));
                next.questions.remove(place);
                report.accepted.push(key);
            }
            Err(violation) => return Verdict::Refused(Refusal::WrongAnswer { key, violation }),
        }
    }
    if report.accepted.is_empty() {
        return Verdict::Unchanged(report);
    }
    if next.questions.is_empty() {
        next.status = Status::Working;
    }
    match change(record, next, entries, now) {
        Verdict::Change(transition, _) => Verdict::Change(transition, report),
        other => other,
    }
}

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
        end: Some(end),
        lease: None,
        ..record.clone()
    }
}

/// The change from `record` to `next`. `updated_at` moves with what a client can see, and only
/// then.
fn change(record: &Record, mut next: Record, entries: Vec<Entry>, now: Timestamp) -> Verdict {
    let visible = next.status != record.status
        || next.status_message != record.status_message
        || next.questions != record.questions;
    if visible {
        next.updated_at = now.max(record.updated_at);
    }
    next.version += 1;
    Verdict::Change(
        Transition {
            record: next,
            entries,
        }
        .into(),
        Report::default(),
    )
}

#[cfg(test)]
mod tests;
