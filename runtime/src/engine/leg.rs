//! One leg: what a single run of the function shares with the operations in it.
//!
//! The journal is replayed in order; at the first operation without an entry the leg goes live.
//! No value of the author's ever carries the park: a question that has to wait leaves a mark here
//! and never becomes ready, and whatever must end the leg is put in `fault`, which the driver of
//! the leg reads after every poll and which beats whatever the function returns.

use std::{
    collections::{BTreeMap, HashMap},
    fmt::Display,
    panic::Location,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
};

use tokio_util::sync::CancellationToken;

use super::hold::Hold;
use crate::{
    Mode, ToolError,
    disclosure::Disclosure,
    input::form::{Answer, Ask},
    journal::{Entry, Kind},
    record::{Origin, Pinned},
    store::StoreError,
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
    /// The execution that this leg works for; `None` where the call runs in its request.
    pub(super) hold: Option<Hold>,
    /// What the tool and its server have settled.
    terms: OnceLock<Terms>,
    state: Mutex<State>,
}

/// What a tool and its server settle for all operations of a leg.
#[derive(Clone, Debug)]
pub(crate) struct Terms {
    pub(crate) mode: Mode,
    pub(crate) disclosure: Arc<Disclosure>,
}

#[derive(Debug, Default)]
struct State {
    journal: Vec<Entry>,
    /// The first entry that no operation has met yet.
    cursor: usize,
    /// The part in which the code is, for the keys of its operations.
    part: Option<&'static str>,
    /// How often each name was used so far.
    used: HashMap<(Kind, String), u32>,
    /// What live operations wait for, in the order in which they were reached.
    marks: BTreeMap<u64, Waiting>,
    next_mark: u64,
    steps_in_flight: usize,
    fault: Option<Fault>,
    /// The latest status message that the record does not have yet.
    status: Option<String>,
}

/// An operation that waits for an answer.
#[derive(Debug)]
struct Waiting {
    key: String,
    /// The question, where it was not put before.
    ask: Option<Ask>,
}

/// What an operation finds when it is reached.
#[derive(Debug)]
pub(crate) enum Entered {
    /// It ended in an earlier leg, as the entry tells.
    Replayed(Entry),
    /// It was never reached before; this is its key.
    Live(String),
    /// The leg is over: stay pending.
    Stopped,
}

/// What the questions of a leg wait for, when nothing else can go on.
#[derive(Clone, Debug)]
pub(crate) struct Parking {
    /// The questions that were not put before.
    pub(super) asked: Vec<Pinned>,
    /// The keys of all that is waited for.
    pub(super) waits: Vec<String>,
}

/// Why a leg ended without an outcome of the function.
#[derive(Debug)]
pub(crate) enum Fault {
    /// The code and the journal do not tell the same story.
    Drift(String),
    /// A mistake of the author that only shows at run time.
    Misuse(String),
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
    pub(super) fn new(
        origin: Arc<Origin>,
        cancelled: CancellationToken,
        journal: Vec<Entry>,
        hold: Option<Hold>,
    ) -> Arc<Self> {
        Arc::new(Self {
            origin,
            cancelled,
            hold,
            terms: OnceLock::new(),
            state: Mutex::new(State {
                journal,
                ..State::default()
            }),
        })
    }

    /// Settles the terms, before the first operation.
    pub(crate) fn settle(&self, terms: Terms) {
        self.terms.get_or_init(|| terms);
    }

    /// What clients may be told of `error`.
    pub(crate) fn tell(&self, error: ToolError) -> ToolError {
        match self.terms.get() {
            Some(terms) => terms.disclosure.tell(error),
            None => error,
        }
    }

    /// Goes into a part, and tells from which other one.
    pub(crate) fn go_to(&self, part: Option<&'static str>) -> Option<&'static str> {
        std::mem::replace(&mut self.lock().part, part)
    }

    /// Reaches the operation `name`: gives it its key and, where there is one, its entry.
    pub(crate) fn enter(&self, kind: Kind, name: &str, place: Place) -> Entered {
        self.enter_as(kind, name, None, place)
    }

    /// As [`enter`](Self::enter), where the operation may have an entry under its `former` name.
    pub(crate) fn enter_as(
        &self,
        kind: Kind,
        name: &str,
        former: Option<&str>,
        place: Place,
    ) -> Entered {
        let mut state = self.lock();
        if state.fault.is_some() {
            return Entered::Stopped;
        }
        if let Some(why) = bad_name(name) {
            let fault = Fault::Misuse(format!("the {} `{name}` {why}", kind.noun()));
            state.fault = Some(fault);
            return Entered::Stopped;
        }
        let key = state.key(kind, name);
        let former = former.map(|former| state.key(kind, former));
        let is_met = |entry: &Entry| {
            entry.kind() == kind && (entry.key() == key || Some(entry.key()) == former.as_deref())
        };
        match state.next_operation() {
            None => Entered::Live(key),
            Some(entry) if is_met(&entry) => {
                state.cursor += 1;
                Entered::Replayed(entry)
            }
            Some(entry) => {
                state.fault = Some(Fault::drift(
                    format_args!("the {} `{}` here", entry.kind().noun(), entry.key()),
                    format_args!("the {} `{key}`", kind.noun()),
                    place,
                ));
                Entered::Stopped
            }
        }
    }

    /// The answer to the question `key`, where the journal has one.
    pub(crate) fn answer(&self, key: &str) -> Option<Result<Answer, serde_json::Error>> {
        let state = self.lock();
        let answered = |entry: &&Entry| entry.kind() == Kind::Answered && entry.key() == key;
        state.journal.iter().find(answered).map(Entry::answer)
    }

    /// Whether the tool may wait for the question `key` at all.
    ///
    /// # Errors
    ///
    /// That it may not: the macro cannot see which tools call a part that asks.
    pub(crate) fn may_wait(&self, key: &str) -> Result<(), Fault> {
        match self.terms.get() {
            Some(terms) if terms.mode == Mode::Forbidden => Err(Fault::Misuse(format!(
                "the question `{key}` waits, and this tool is never a task that could wait; write \
                 `#[mcp_tool(task = \"optional\")]` or `task = \"required\"`"
            ))),
            _ => Ok(()),
        }
    }

    /// Whether a question can be put in this leg.
    ///
    /// # Errors
    ///
    /// Why not.
    pub(crate) fn can_ask(&self, ask: &Ask) -> Result<(), &'static str> {
        let client = &self.origin.client;
        match (&self.hold, &ask.url) {
            (None, _) => Err("this call cannot ask: it runs in its request, not as a task"),
            (Some(_), None) if !client.elicits_forms => {
                Err("this client cannot ask a person: it did not declare form elicitation")
            }
            (Some(_), Some(_)) if !client.elicits_urls => {
                Err("this client cannot send a person anywhere: it did not declare URL elicitation")
            }
            (Some(_), _) => Ok(()),
        }
    }

    /// Leaves a mark that the question `key` waits for its answer.
    pub(crate) fn mark(self: &Arc<Self>, key: String, ask: Option<Ask>) -> Mark {
        let mut state = self.lock();
        let id = state.next_mark;
        state.next_mark += 1;
        state.marks.insert(id, Waiting { key, ask });
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

    /// Makes `entry` durable. Where that fails, the leg is over and the caller stays pending.
    pub(crate) async fn record(&self, entry: Entry) -> bool {
        if let Some(hold) = &self.hold
            && let Err(fault) = hold.progress(entry.clone()).await
        {
            self.stop(fault);
            return false;
        }
        let mut state = self.lock();
        state.journal.push(entry);
        state.cursor = state.journal.len();
        true
    }

    /// Ends the leg, whatever its function does.
    pub(crate) fn stop(&self, fault: Fault) {
        self.lock().fault.get_or_insert(fault);
    }

    /// Sets the status message, unless the journal still has something to replay.
    pub(crate) fn set_status(&self, message: String) {
        let mut state = self.lock();
        if self.hold.is_some() && state.next_operation().is_none() {
            state.status = Some(message);
        }
    }

    pub(super) fn take_status(&self) -> Option<String> {
        self.lock().status.take()
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
        let marks = std::mem::take(&mut state.marks);
        let waits = marks.values().map(|waiting| waiting.key.clone()).collect();
        let pin = |Waiting { key, ask }| ask.map(|ask| Pinned { key, ask });
        let asked = marks.into_values().filter_map(pin).collect();
        Some(Parking { asked, waits })
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
    /// The key of the next operation called `name`.
    fn key(&mut self, kind: Kind, name: &str) -> String {
        let name = match self.part {
            Some(part) => format!("{part}/{name}"),
            None => name.into(),
        };
        let times = self.used.entry((kind, name.clone())).or_default();
        *times += 1;
        if *times == 1 {
            name
        } else {
            format!("{name}#{times}")
        }
    }

    /// The next entry of an operation, without reading past it.
    fn next_operation(&mut self) -> Option<Entry> {
        let rest = &self.journal[self.cursor..];
        let skipped = rest.iter().take_while(|entry| !entry.kind().is_operation());
        self.cursor += skipped.count();
        self.journal.get(self.cursor).cloned()
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
