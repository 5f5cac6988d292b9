//! How far a leg has come, and what it waits for.

use std::{
    collections::{BTreeMap, HashMap},
    mem,
    task::Waker,
};

use super::{Fault, Waiting};
use crate::{
    ToolError,
    engine::{limits::Limits, machine::Told},
    journal::{Entry, Kind},
};

/// This many operations in a row may be refused at once.
const REFUSALS: u32 = 1_000;

/// What the operations of a leg change.
#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) journal: Vec<Entry>,
    /// Where the entries are that belong to an operation, by kind and key; the first of each counts.
    belonging: HashMap<(Kind, String), usize>,
    /// The bytes of the journal.
    size: usize,
    /// The first entry that no operation has met yet.
    pub(super) cursor: usize,
    /// The part in which the code is, for the keys of its operations.
    pub(super) part: Option<&'static str>,
    /// How many entries at the end of the journal are not in the store yet.
    pub(super) pending: usize,
    /// How often each name was used so far.
    pub(super) used: HashMap<(Kind, String), u32>,
    /// How many operations in a row were refused at once.
    pub(super) refusals: u32,
    /// How often each key of a value was used so far.
    pub(super) values: HashMap<(&'static str, String), u32>,
    /// What live operations wait for, in the order in which they were reached.
    pub(super) marks: BTreeMap<u64, Waiting>,
    pub(super) next_mark: u64,
    pub(super) steps_in_flight: usize,
    pub(super) fault: Option<Fault>,
    /// Whether no operation is to begin any more.
    pub(super) stopping: bool,
    /// What the record does not have yet.
    pub(super) told: Told,
    /// What is being written to the record.
    pub(super) telling: Told,
    /// Whether the step that the journal does not have may have happened, until one was met.
    interrupted: bool,
    /// Whether an effect of this leg was cut off.
    pub(super) cut_off: bool,
    /// How much is done of how much, as long as nobody was told.
    pub(super) progress: Option<(u64, u64)>,
    pub(super) detach: Option<Detach>,
    /// Wakes the driver of the leg.
    pub(super) waker: Option<Waker>,
}

/// A wish of the function to become a task.
#[derive(Debug)]
pub(super) enum Detach {
    Asked,
    Done(Result<(), ToolError>),
}

impl State {
    pub(super) fn new(journal: Vec<Entry>, interrupted: bool) -> Self {
        let mut state = Self {
            interrupted,
            ..Self::default()
        };
        for entry in journal {
            state.push(entry);
        }
        state
    }

    fn push(&mut self, entry: Entry) {
        self.size += entry.size();
        if !entry.kind().is_operation() {
            let place = self.journal.len();
            let belongs = (entry.kind(), entry.key().to_owned());
            self.belonging.entry(belongs).or_insert(place);
        }
        self.journal.push(entry);
    }

    /// The first entry of one of the kinds that belongs to the operation `key`.
    pub(super) fn belonging(&self, kinds: &[Kind], key: &str) -> Option<&Entry> {
        let places = kinds
            .iter()
            .filter_map(|kind| self.belonging.get(&(*kind, key.to_owned())));
        self.journal.get(*places.min()?)
    }

    /// How often the name was used for operations of the kind, this time included.
    pub(super) fn times(&mut self, kind: Kind, name: &str) -> u32 {
        let times = self.used.entry((kind, name.into())).or_default();
        *times += 1;
        *times
    }

    /// The next entry of an operation, without reading past it.
    pub(super) fn next_operation(&mut self) -> Option<&Entry> {
        let rest = &self.journal[self.cursor..];
        let skipped = rest.iter().take_while(|entry| !entry.kind().is_operation());
        self.cursor += skipped.count();
        self.journal.get(self.cursor)
    }

    /// A loop that asks until it is answered never waits where it is refused: it would keep its
    /// thread for good.
    pub(super) fn refuse(&mut self, key: &str) -> Result<(), Fault> {
        self.refusals += 1;
        if self.refusals < REFUSALS {
            return Ok(());
        }
        Err(Fault::Misuse(format!(
            "`{key}` is the {REFUSALS}th operation in a row that was refused at once; return the \
             error instead of trying again"
        )))
    }

    /// Whether the operation `key` has no entry because its leg ended in the middle of it.
    pub(super) fn was_cut_off(&mut self, kind: Kind, key: &str) -> bool {
        let first = mem::take(&mut self.interrupted);
        let is_step = matches!(kind, Kind::Step | Kind::Group);
        let began = self.belonging(&[Kind::Began], key).is_some();
        is_step && (first || began)
    }

    pub(super) fn append(&mut self, entry: Entry, limits: &Limits) -> Result<(), Fault> {
        self.refusals = 0;
        let size = self.size + entry.size();
        if size > limits.journal_bytes || self.journal.len() >= limits.journal_entries {
            return Err(Fault::OverLimit(format!(
                "the journal of this task would have more than {} entries or {} bytes",
                limits.journal_entries, limits.journal_bytes
            )));
        }
        self.push(entry);
        Ok(())
    }

    pub(super) fn pending(&self) -> &[Entry] {
        &self.journal[self.journal.len() - self.pending..]
    }

    pub(super) fn take_pending(&mut self) -> Vec<Entry> {
        let pending = self.pending().to_vec();
        self.pending = 0;
        pending
    }

    pub(super) fn wake(&mut self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }
}
