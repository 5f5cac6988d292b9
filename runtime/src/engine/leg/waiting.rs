//! What a leg waits for: operations that leave marks, and steps in flight that keep it from parking.

use std::sync::Arc;

use super::Leg;
use crate::{
    host::Timestamp,
    input::form::Ask,
    journal::Entry,
    record::{Pinned, Sleep},
};

/// An operation that waits for something that comes from outside.
#[derive(Debug)]
pub(crate) enum Waiting {
    /// For an answer. The question is there where it was not put before.
    Answer {
        key: String,
        ask: Option<Ask>,
        deadline: Option<Timestamp>,
    },
    /// For a moment.
    Moment {
        key: String,
        until: Timestamp,
        /// Whether the sleep has just begun.
        begins: bool,
    },
}

/// What a leg waits for, when nothing else can go on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Parking {
    /// Entries that are not in the store yet.
    pub(in crate::engine) entries: Vec<Entry>,
    /// The questions that were not put before.
    pub(in crate::engine) asked: Vec<Pinned>,
    /// The keys of all that is waited for.
    pub(in crate::engine) waits: Vec<String>,
    /// The sleep that it waits for.
    pub(in crate::engine) asleep: Option<Sleep>,
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
        let mut state = self.0.lock();
        state.steps_in_flight -= 1;
        if state.steps_in_flight == 0 {
            self.0.quiet.notify_waiters();
        }
    }
}

/// An effect that is under way. If it is dropped before it ended, nobody knows what became of it.
#[derive(Debug)]
pub(crate) struct Effect<'a>(Option<&'a Leg>);

impl Effect<'_> {
    pub(crate) fn ended(mut self) {
        self.0 = None;
    }
}

impl Drop for Effect<'_> {
    fn drop(&mut self) {
        if let Some(leg) = self.0 {
            leg.lock().cut_off = true;
        }
    }
}

impl Leg {
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

    /// Notes that an effect is under way, until it [`ended`](Effect::ended).
    pub(crate) fn effect_begins(&self) -> Effect<'_> {
        Effect(Some(self))
    }

    /// Whether an effect was dropped before it ended, or its outcome could not be kept.
    pub(in crate::engine) fn is_cut_off(&self) -> bool {
        self.lock().cut_off
    }

    /// Lets no operation begin any more, and is ready when no step is in flight.
    pub(in crate::engine) async fn wind_up(&self) {
        self.lock().stopping = true;
        loop {
            let quiet = self.quiet.notified();
            if self.lock().steps_in_flight == 0 {
                return;
            }
            quiet.await;
        }
    }

    /// What the leg waits for, where it can do nothing but wait.
    pub(in crate::engine) fn parking(&self) -> Option<Parking> {
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
                Waiting::Moment { key, until, begins } => {
                    parking.waits.push(key.clone());
                    if begins {
                        parking.entries.push(Entry::asleep(&key, until));
                    }
                    parking.asleep = Some(Sleep { key, until });
                }
            }
        }
        Some(parking)
    }
}
