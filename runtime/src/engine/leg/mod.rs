//! One leg: what a single run of the function shares with the operations in it.
//!
//! The journal is replayed in order; at the first operation without an entry the leg goes live.
//! No value of the author's ever carries the park: a question that has to wait leaves a mark here
//! and never becomes ready, and whatever must end the leg is put in `fault`, which the driver of
//! the leg reads after every poll and which beats whatever the function returns.

mod terms;
#[cfg(test)]
mod tests;

use std::{
    collections::{BTreeMap, HashMap},
    fmt::Display,
    panic::Location,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
    task::Waker,
};

use tokio_util::sync::CancellationToken;
use tracing::Span;

pub(crate) use self::terms::Terms;
use super::{hold::Hold, limits::Limits, machine::Told};
use crate::{
    ToolError,
    host::{Host, Timestamp},
    input::form::Ask,
    journal::{Entry, Kind},
    record::{Delivery, Origin, Pinned, Sleep, TaskId},
    replaying::Replaying,
    store::StoreError,
};

/// This many operations in a row may be refused at once.
const REFUSALS: u32 = 1_000;

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
    /// The execution that this leg works for; `None` where the call runs in its request.
    pub(super) hold: Option<Hold>,
    /// Whether it is there only to clean up.
    closing: bool,
    /// What the tool and its server have settled.
    terms: OnceLock<Terms>,
    /// Whether it has met all that the journal had when it began.
    pub(super) replaying: Replaying,
    /// Held by the one who makes entries durable.
    flushing: tokio::sync::Mutex<()>,
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
    pub(super) hold: Option<Hold>,
    pub(super) closing: bool,
    /// The span of the leg.
    pub(super) span: Span,
}

#[derive(Debug, Default)]
struct State {
    journal: Vec<Entry>,
    /// The bytes of the journal.
    size: usize,
    /// The first entry that no operation has met yet.
    cursor: usize,
    /// The part in which the code is, for the keys of its operations.
    part: Option<&'static str>,
    /// How many entries at the end of the journal are not in the store yet.
    pending: usize,
    /// How often each name was used so far.
    used: HashMap<(Kind, String), u32>,
    /// How many operations in a row were refused at once.
    refusals: u32,
    /// How often each key of a value was used so far.
    values: HashMap<(&'static str, String), u32>,
    /// What live operations wait for, in the order in which they were reached.
    marks: BTreeMap<u64, Waiting>,
    next_mark: u64,
    steps_in_flight: usize,
    fault: Option<Fault>,
    /// What the record does not have yet.
    told: Told,
    /// Wakes the driver of the leg.
    waker: Option<Waker>,
}

/// An operation that waits for something that comes from outside.
#[derive(Debug)]
pub(crate) enum Waiting {
    /// For an answer. The question is there where it was not put before.
    Answer {
        key: String,
        ask: Option<Ask>,
        deadline: Option<Timestamp>,
    },
    /// For a moment. It is there where the sleep has just begun.
    Moment {
        key: String,
        until: Option<Timestamp>,
    },
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

/// What a leg waits for, when nothing else can go on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Parking {
    /// Entries that are not in the store yet.
    pub(super) entries: Vec<Entry>,
    /// The questions that were not put before.
    pub(super) asked: Vec<Pinned>,
    /// The keys of all that is waited for.
    pub(super) waits: Vec<String>,
    /// A sleep that has just begun.
    pub(super) asleep: Option<Sleep>,
}

/// Why a leg ended without an outcome of the function.
#[derive(Debug)]
pub(crate) enum Fault {
    /// The code and the journal do not tell the same story.
    Drift(String),
    /// A mistake of the author that only shows at run time.
    Misuse(String),
    /// It did more than a limit allows.
    OverLimit(String),
    /// The store failed; a later leg may do better.
    Store(StoreError),
    /// Another worker goes on, or the task ended: nothing of this leg counts any more.
    Superseded,
}

impl Fault {
    fn drift(journal: impl Display, code: impl Display, place: Place) -> Self {
        if let Some(place) = place {
            tracing::error!(%journal, %code, %place, "the code of a tool changed under a task");
        }
        Self::Drift(format!(
            "the code of this tool changed while the task waited: the journal has {journal}, the \
             code has {code}"
        ))
    }

    pub(crate) fn form_changed(key: &str, place: Place) -> Self {
        Self::drift(
            format_args!("a question `{key}` with another form"),
            format_args!("a question `{key}` with a changed form"),
            place,
        )
    }

    pub(crate) fn group_changed(key: &str, members: usize) -> Self {
        Self::drift(
            format_args!("a group of steps `{key}` with another number of members"),
            format_args!("one of {members}"),
            None,
        )
    }

    pub(crate) fn arguments_changed(why: &str) -> Self {
        Self::drift(
            format_args!("arguments that no longer fit: {why}"),
            "parameters of other types",
            None,
        )
    }

    pub(crate) fn unreadable(kind: Kind, key: &str, error: impl Display) -> Self {
        Self::drift(
            format_args!("a {} `{key}` of another type", kind.noun()),
            format_args!("a type that cannot read it ({error})"),
            None,
        )
    }
}

/// A mark of an operation that waits; dropping it withdraws the mark.
#[derive(Debug)]
pub(crate) struct Mark {
    leg: Arc<Leg>,
    id: u64,
}

impl Drop for Mark {
    fn drop(&mut self) {
        self.leg.lock().marks.remove(&self.id);
    }
}

/// A step that runs: while it is held, the leg does not park.
#[derive(Debug)]
pub(crate) struct InFlight(Arc<Leg>);

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.lock().steps_in_flight -= 1;
    }
}

impl Leg {
    pub(super) fn new(parts: Parts) -> Arc<Self> {
        let size = parts.journal.iter().map(Entry::size).sum();
        let replays = parts
            .journal
            .iter()
            .any(|entry| entry.kind().is_operation());
        Arc::new(Self {
            origin: parts.origin,
            cancelled: parts.cancelled,
            host: parts.host,
            limits: parts.limits,
            hold: parts.hold,
            closing: parts.closing,
            terms: OnceLock::new(),
            replaying: Replaying::new(replays, parts.span),
            flushing: tokio::sync::Mutex::default(),
            state: Mutex::new(State {
                journal: parts.journal,
                size,
                ..State::default()
            }),
        })
    }

    /// The id of the task; `None` in a call that is none.
    pub(crate) fn task_id(&self) -> Option<&TaskId> {
        (self.origin.delivery == Delivery::Task).then_some(&self.origin.id)
    }

    /// Reaches an operation: gives it its key and, where there is one, its entry.
    pub(crate) fn enter(&self, operation: Operation<'_>) -> Entered {
        let Operation { kind, name, .. } = operation;
        let mut state = self.lock();
        if state.fault.is_some() {
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
        let entry = state.next_operation();
        let fits =
            |entry: &Entry| entry.kind() == kind && keys.iter().any(|key| entry.key() == key);
        match entry {
            Some(entry) if fits(&entry) => {
                state.refusals = 0;
                state.cursor += 1;
                if state.next_operation().is_none() {
                    self.replaying.is_over();
                }
                Entered::Replayed(entry)
            }
            // What is left of the journal, if anything, was cleaned up by an earlier closing leg.
            _ if self.closing && kind != Kind::Cleanup => match state.refuse(&key) {
                Ok(()) => Entered::Closed(ToolError::cancelled()),
                Err(fault) => {
                    state.fault = Some(fault);
                    Entered::Stopped
                }
            },
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
        let belongs = |entry: &&Entry| entry.kind() == kind && entry.key() == key;
        state.journal.iter().find(belongs).cloned()
    }

    /// What came back for the question `key`: an answer or the end of its time, whichever the
    /// journal has first.
    pub(crate) fn answer(&self, key: &str) -> Option<Entry> {
        let state = self.lock();
        let came_back = |entry: &&Entry| {
            matches!(entry.kind(), Kind::Answered | Kind::TimedOut) && entry.key() == key
        };
        state.journal.iter().find(came_back).cloned()
    }

    /// Whether a question can be put in this leg.
    ///
    /// # Errors
    ///
    /// Why not.
    pub(crate) fn can_ask(&self, ask: &Ask) -> Result<(), &'static str> {
        let client = &self.origin.client;
        if self.hold.is_none() {
            return Err("this call cannot ask: it runs in its request, not as a task");
        }
        match ask.url {
            None if !client.elicits_forms => {
                Err("this client cannot ask a person: it did not declare form elicitation")
            }
            Some(_) if !client.elicits_urls => {
                Err("this client cannot send a person anywhere: it did not declare URL elicitation")
            }
            _ => Ok(()),
        }
    }

    /// Notes that the operation `key` was refused without waiting for anything.
    ///
    /// # Errors
    ///
    /// That so many were refused in a row that the code will not take it for an answer.
    pub(crate) fn refuse(&self, key: &str) -> Result<(), Fault> {
        self.lock().refuse(key)
    }

    /// Whether the leg works for a task, so that it can park.
    pub(crate) const fn can_park(&self) -> bool {
        self.hold.is_some()
    }

    /// Whether the execution is over, so that what waits can only be given up.
    pub(crate) const fn is_closing(&self) -> bool {
        self.closing
    }

    /// Leaves a mark that an operation waits for something from outside.
    pub(crate) fn mark(self: &Arc<Self>, waiting: Waiting) -> Mark {
        let mut state = self.lock();
        let id = state.next_mark;
        state.next_mark += 1;
        state.marks.insert(id, waiting);
        Mark {
            leg: self.clone(),
            id,
        }
    }

    /// Notes that a step runs, so that the leg does not park before it ended.
    pub(crate) fn step_started(self: &Arc<Self>) -> InFlight {
        self.lock().steps_in_flight += 1;
        InFlight(self.clone())
    }

    /// Adds an entry that is made durable with whatever is made durable next.
    pub(crate) fn note(&self, entry: Entry) {
        let mut state = self.lock();
        if let Err(fault) = state.append(entry, &self.limits) {
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
        let pending = self.lock().take_pending();
        if pending.is_empty() {
            return true;
        }
        let Some(hold) = &self.hold else { return true };
        match hold.progress(pending).await {
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

    fn is_stopped(&self) -> bool {
        self.lock().fault.is_some()
    }

    /// The bytes that a value in the journal may have.
    pub(crate) const fn value_limit(&self) -> usize {
        self.limits.journal_value_bytes
    }

    /// Tells something of the task, unless the journal still has something to replay.
    pub(crate) fn tell(&self, tell: impl FnOnce(&mut Told)) {
        let mut state = self.lock();
        if self.hold.is_some() && state.next_operation().is_none() {
            tell(&mut state.told);
            state.wake();
        }
    }

    /// What is to be told of the task. `waker` is woken when there is more.
    pub(super) fn take_told(&self, waker: &Waker) -> Option<Told> {
        let mut state = self.lock();
        state.waker = Some(waker.clone());
        let told = std::mem::take(&mut state.told);
        (told != Told::default()).then_some(told)
    }

    pub(super) fn take_fault(&self) -> Option<Fault> {
        self.lock().fault.take()
    }

    /// What the leg waits for, where it can do nothing but wait.
    pub(super) fn parking(&self) -> Option<Parking> {
        let mut state = self.lock();
        if state.marks.is_empty() || state.steps_in_flight > 0 {
            return None;
        }
        let mut parking = Parking {
            entries: state.take_pending(),
            ..Parking::default()
        };
        for waiting in std::mem::take(&mut state.marks).into_values() {
            match waiting {
                Waiting::Answer { key, ask, deadline } => {
                    parking.waits.push(key.clone());
                    parking
                        .asked
                        .extend(ask.map(|ask| Pinned { key, ask, deadline }));
                }
                Waiting::Moment { key, until } => {
                    parking.waits.push(key.clone());
                    parking.asleep = until.map(|until| Sleep { key, until });
                }
            }
        }
        Some(parking)
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

impl State {
    /// How often the name was used for operations of the kind, this time included.
    fn times(&mut self, kind: Kind, name: &str) -> u32 {
        let times = self.used.entry((kind, name.into())).or_default();
        *times += 1;
        *times
    }

    /// The next entry of an operation, without reading past it.
    fn next_operation(&mut self) -> Option<Entry> {
        let rest = &self.journal[self.cursor..];
        let skipped = rest.iter().take_while(|entry| !entry.kind().is_operation());
        self.cursor += skipped.count();
        self.journal.get(self.cursor).cloned()
    }

    /// A loop that asks until it is answered never waits where it is refused: it would keep its
    /// thread for good.
    fn refuse(&mut self, key: &str) -> Result<(), Fault> {
        self.refusals += 1;
        if self.refusals < REFUSALS {
            return Ok(());
        }
        Err(Fault::Misuse(format!(
            "`{key}` is the {REFUSALS}th operation in a row that was refused at once; return the \
             error instead of trying again"
        )))
    }

    fn append(&mut self, entry: Entry, limits: &Limits) -> Result<(), Fault> {
        self.refusals = 0;
        self.size += entry.size();
        if self.size > limits.journal_bytes || self.journal.len() >= limits.journal_entries {
            return Err(Fault::OverLimit(format!(
                "the journal of this task would have more than {} entries or {} bytes",
                limits.journal_entries, limits.journal_bytes
            )));
        }
        self.journal.push(entry);
        Ok(())
    }

    fn take_pending(&mut self) -> Vec<Entry> {
        let from = self.journal.len() - std::mem::take(&mut self.pending);
        self.journal[from..].to_vec()
    }

    fn wake(&mut self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
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
