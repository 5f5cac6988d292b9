//! One leg: what a single run of the function shares with the operations in it.
//!
//! The journal is replayed in order; at the first operation without an entry the leg goes live.
//! No value of the author's ever carries the park: a question that has to wait leaves a mark here
//! and never becomes ready (unless an older client is asked meanwhile), and whatever must end the
//! leg is put in `fault`, which the driver of the leg reads after every poll and which beats
//! whatever the function returns.

mod fault;
mod news;
mod state;
mod terms;
#[cfg(test)]
mod tests;
mod waiting;
mod way;

use std::{
    panic::Location,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
};

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tracing::Span;

use self::state::State;
pub(crate) use self::{
    fault::Fault,
    terms::Terms,
    waiting::{Mark, Parking, Waiting},
    way::{Link, Listens, Reach, Way},
};
use super::{hold::Hold, limits::Limits};
use crate::{
    ToolError,
    host::Host,
    input::form::Ask,
    journal::{Entry, Kind},
    record::Origin,
    replaying::Replaying,
};

/// Where the code was when it called an operation.
type Place = Option<&'static Location<'static>>;

/// What one run of a tool shares with its operations.
#[derive(Debug)]
pub(crate) struct Leg {
    /// Who called what, the same in every leg.
    pub(crate) origin: Arc<Origin>,
    /// Raised when the call or the task was cancelled.
    pub(crate) cancelled: CancellationToken,
    pub(crate) host: Arc<dyn Host>,
    pub(super) limits: Limits,
    /// How it reaches the one who waits for it.
    reach: Reach,
    /// The execution that this leg works for, once it is in the store.
    hold: OnceLock<Hold>,
    /// Whether it is there only to clean up.
    closing: bool,
    /// Told when there is something to tell.
    news: Notify,
    /// What the tool and its server have settled.
    terms: OnceLock<Terms>,
    /// Whether it has met all that the journal had when it began.
    pub(super) replaying: Replaying,
    /// Held by the one who makes entries durable.
    flushing: tokio::sync::Mutex<()>,
    /// Told when the last step in flight has ended.
    quiet: Notify,
    state: Mutex<State>,
}

/// What a leg is made of.
#[derive(Debug)]
pub(super) struct Parts {
    pub(super) origin: Arc<Origin>,
    pub(super) cancelled: CancellationToken,
    pub(super) host: Arc<dyn Host>,
    pub(super) limits: Limits,
    pub(super) journal: Vec<Entry>,
    pub(super) reach: Reach,
    pub(super) hold: Option<Hold>,
    pub(super) closing: bool,
    /// Whether the leg before it ended in the middle of a step.
    pub(super) interrupted: bool,
    /// The span of the leg.
    pub(super) span: Span,
}

/// An operation of the tool when it is reached.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Operation<'a> {
    pub(crate) kind: Kind,
    pub(crate) name: &'a str,
    /// Names that it had before.
    pub(crate) was: &'a [String],
    pub(crate) place: Place,
}

/// What an operation finds when it is reached.
#[derive(Debug)]
pub(crate) enum Entered {
    /// It was reached in an earlier leg, as the entry tells.
    Replayed(Entry),
    /// It was never reached before; this is its key.
    Live(String),
    /// The execution is over and only cleans up: this is what the operation fails with.
    Closed(ToolError),
    /// The leg is over: stay pending.
    Stopped,
}

impl Leg {
    pub(super) fn new(parts: Parts) -> Arc<Self> {
        let replays = parts
            .journal
            .iter()
            .any(|entry| entry.kind().is_operation());
        Arc::new(Self {
            origin: parts.origin,
            cancelled: parts.cancelled,
            host: parts.host,
            limits: parts.limits,
            reach: parts.reach,
            hold: parts.hold.map(OnceLock::from).unwrap_or_default(),
            closing: parts.closing,
            news: Notify::new(),
            terms: OnceLock::new(),
            replaying: Replaying::new(replays, parts.span),
            flushing: tokio::sync::Mutex::default(),
            quiet: Notify::new(),
            state: Mutex::new(State::new(parts.journal, parts.interrupted)),
        })
    }

    /// The execution that it works for, where that is in the store.
    pub(super) fn hold(&self) -> Option<&Hold> {
        self.hold.get()
    }

    /// The execution was written with all that the leg did: from here on, so is what it does.
    pub(super) fn take_hold(&self, hold: Hold) {
        self.lock().take_pending();
        self.hold.get_or_init(|| hold);
        self.news.notify_one();
    }

    /// Reaches an operation: gives it its key and, where there is one, its entry.
    pub(crate) fn enter(&self, operation: Operation<'_>) -> Entered {
        let Operation { kind, name, .. } = operation;
        let mut state = self.lock();
        if state.fault.is_some() || state.stopping {
            return Entered::Stopped;
        }
        if let Some(why) = bad_name(name) {
            state.fault = Some(Fault::Misuse(format!("the {} `{name}` {why}", kind.noun())));
            return Entered::Stopped;
        }
        let name = state.qualified(name);
        let times = state.times(kind, &name);
        let key = numbered(&name, times);
        let former = operation.was.iter().map(|name| state.qualified(name));
        let mut keys: Vec<String> = former.map(|name| numbered(&name, times)).collect();
        keys.push(key.clone());
        let entry = state.next_operation().cloned();
        let fits =
            |entry: &Entry| entry.kind() == kind && keys.iter().any(|key| entry.key() == key);
        match entry {
            Some(entry) if fits(&entry) => {
                state.refusals = 0;
                state.cursor += 1;
                if state.next_operation().is_none() {
                    self.replaying.end();
                }
                Entered::Replayed(entry)
            }
            // What is left of the journal, if anything, was cleaned up by an earlier cleanup leg.
            entry
                if self.is_closing()
                    && kind != Kind::Cleanup
                    && entry.as_ref().is_none_or(Entry::is_cleanup) =>
            {
                match state.refuse(&key) {
                    // Nobody knows what became of a step that was cut off, and the code has to know that.
                    Ok(()) if state.was_cut_off(kind, &key) => {
                        Entered::Closed(ToolError::unknown(&key))
                    }
                    Ok(()) => Entered::Closed(ToolError::cancelled()),
                    Err(fault) => {
                        state.fault = Some(fault);
                        Entered::Stopped
                    }
                }
            }
            None => Entered::Live(key),
            Some(entry) => {
                state.fault = Some(Fault::drift(
                    format_args!("the {} `{}` here", entry.kind().noun(), entry.key()),
                    format_args!("the {} `{key}`", kind.noun()),
                    operation.place,
                ));
                Entered::Stopped
            }
        }
    }

    /// The key of a value that is not journaled: the same in every leg as long as the order of
    /// equal keys is.
    pub(crate) fn numbered(&self, purpose: &'static str, key: &str) -> String {
        let mut state = self.lock();
        let key = state.qualified(key);
        let times = state.values.entry((purpose, key.clone())).or_default();
        *times += 1;
        numbered(&key, *times)
    }

    /// The entry that belongs to the operation `key`, where the journal has one of the kind.
    pub(crate) fn belonging(&self, kind: Kind, key: &str) -> Option<Entry> {
        let state = self.lock();
        state.belonging(&[kind], key).cloned()
    }

    /// What came back for the question `key`: an answer or the end of its time, whichever the
    /// journal has first.
    pub(crate) fn answer(&self, key: &str) -> Option<Entry> {
        let state = self.lock();
        let kinds = [Kind::Answered, Kind::TimedOut, Kind::Refused];
        state.belonging(&kinds, key).cloned()
    }

    /// Notes that the question `key` could not be put, for later legs: what they find must not depend
    /// on what the client can do by then.
    ///
    /// # Errors
    ///
    /// That so many were refused in a row that the code will not take it for an answer.
    pub(crate) fn refuse(&self, key: &str, ask: &Ask, why: &ToolError) -> Result<(), Fault> {
        let mut state = self.lock();
        let refusals = state.refusals;
        for entry in [Entry::asked(key, ask), Entry::refused(key, why)] {
            state.append(entry, &self.limits)?;
            state.pending += 1;
        }
        state.cursor = state.journal.len();
        state.refusals = refusals;
        state.refuse(key)
    }

    /// Whether the execution is over, or its client left before there was one, so that what waits can
    /// only be given up.
    pub(crate) fn is_closing(&self) -> bool {
        self.closing || (self.hold().is_none() && self.cancelled.is_cancelled())
    }

    /// What a member of a group fails with in a cleanup leg, if its own leg was cut off.
    pub(crate) fn cut_off(&self, key: &str) -> ToolError {
        self.lock().was_cut_off(Kind::Member, key);
        ToolError::unknown(key)
    }

    /// Adds an entry that is made durable with whatever is made durable next.
    pub(crate) fn note(&self, entry: Entry) {
        let mut state = self.lock();
        if let Err(fault) = state.append(entry, &self.limits) {
            state.cut_off = true;
            state.fault.get_or_insert(fault);
            return;
        }
        state.cursor = state.journal.len();
        state.pending += 1;
    }

    /// Makes what was noted durable. Where that fails, the leg is over and the caller stays
    /// pending.
    pub(crate) async fn flush(&self) -> bool {
        // One at a time: each would only be in the way of the others, and what comes meanwhile is
        // written with the next.
        let _turn = self.flushing.lock().await;
        if self.is_stopped() {
            return false;
        }
        // Until there is an execution, entries wait to be written with it.
        let Some(hold) = self.hold() else { return true };
        match hold.progress(|| self.lock().take_pending()).await {
            Ok(()) => true,
            Err(fault) => {
                self.stop(fault);
                false
            }
        }
    }

    /// Makes `entry` durable, with all that was noted before it. Where that fails, the leg is over
    /// and the caller stays pending.
    pub(crate) async fn record(&self, entry: Entry) -> bool {
        self.note(entry);
        !self.is_stopped() && self.flush().await
    }

    /// Ends the leg, whatever its function does.
    pub(crate) fn stop(&self, fault: Fault) {
        let mut state = self.lock();
        state.fault.get_or_insert(fault);
        state.wake();
    }

    /// What was read from `entry`. Where that is of another type by now, the leg is over and the
    /// caller stays pending.
    pub(crate) fn read<T>(&self, entry: &Entry, read: serde_json::Result<T>) -> Option<T> {
        let unreadable = |error| Fault::unreadable(entry.kind(), entry.key(), &error);
        read.map_err(|error| self.stop(unreadable(error))).ok()
    }

    fn is_stopped(&self) -> bool {
        self.lock().fault.is_some()
    }

    /// The bytes that a value in the journal may have.
    pub(crate) const fn value_limit(&self) -> usize {
        self.limits.journal_value_bytes
    }

    /// The entries that are not in the store yet.
    pub(super) fn pending(&self) -> Vec<Entry> {
        self.lock().pending().to_vec()
    }

    pub(super) fn take_fault(&self) -> Option<Fault> {
        self.lock().fault.take()
    }

    /// The fault where the function ended or wants to park before it met all that the journal has.
    pub(super) fn unread(&self) -> Option<Fault> {
        let mut state = self.lock();
        let entry = state.next_operation()?;
        Some(Fault::drift(
            format_args!("the {} `{}` here", entry.kind().noun(), entry.key()),
            "nothing more",
            None,
        ))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The key of the operation called `name` that is the `times`th of this name.
fn numbered(name: &str, times: u32) -> String {
    if times == 1 {
        name.into()
    } else {
        format!("{name}#{times}")
    }
}

/// Why `name` cannot be the name of an operation.
fn bad_name(name: &str) -> Option<&'static str> {
    if name.is_empty() {
        Some("has an empty name; give it one that stays the same across deploys")
    } else if name.contains(['#', '/']) {
        Some("has a `#` or `/` in its name; the runtime keeps these for itself")
    } else {
        None
    }
}
