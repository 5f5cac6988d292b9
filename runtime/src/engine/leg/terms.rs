//! What a leg knows of its tool and its server, and of the part in which the code is.

use std::sync::Arc;

use super::{Fault, Leg, numbered, state::State};
use crate::{Mode, ToolError, disclosure::Disclosure, journal::Kind};

/// What a tool and its server settle for all operations of a leg.
#[derive(Clone, Debug)]
pub(crate) struct Terms {
    pub(crate) mode: Mode,
    pub(crate) disclosure: Arc<Disclosure>,
}

impl Leg {
    /// Settles the terms, before the first operation.
    pub(crate) fn settle(&self, terms: Terms) {
        self.terms.get_or_init(|| terms);
    }

    /// What clients may be told of `error`.
    pub(crate) fn disclose(&self, error: ToolError) -> ToolError {
        match self.terms.get() {
            Some(terms) => terms.disclosure.tell(error),
            None => error,
        }
    }

    /// Goes into a part, and tells from which other one.
    pub(crate) fn go_to(&self, part: Option<&'static str>) -> Option<&'static str> {
        std::mem::replace(&mut self.lock().part, part)
    }

    /// The key of the next step or cleanup called `name`; the same until that is reached.
    pub(crate) fn next_step(&self, name: &str) -> String {
        let state = self.lock();
        let name = state.qualified(name);
        let reached: u32 = [Kind::Step, Kind::Group, Kind::Cleanup]
            .into_iter()
            .filter_map(|kind| state.used.get(&(kind, name.clone())))
            .sum();
        numbered(&name, reached + 1)
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
}

impl State {
    /// The name of an operation with that of its part.
    pub(super) fn qualified(&self, name: &str) -> String {
        match self.part {
            Some(part) => format!("{part}/{name}"),
            None => name.into(),
        }
    }
}
