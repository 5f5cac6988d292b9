//! Where an operation cannot stand.

use proc_macro2::Ident;

use super::effects::spawns;
use crate::diagnostics;

/// Functions that poll several futures.
const JOINS: &[&str] = &[
    "join",
    "join3",
    "join_all",
    "race",
    "select",
    "select_all",
    "select_ok",
    "try_join",
    "try_join_all",
];

/// The innermost code around an expression that has its own rules.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Place {
    Function,
    Closure,
    AsyncBlock,
    /// What is given to `spawn` or the like.
    Spawned(String),
    /// One of several futures that are polled together.
    Join(String),
    Timeout,
    Step,
}

impl Place {
    /// What the arguments of a call of `function` are.
    pub(super) fn of_call(function: &Ident) -> Option<Self> {
        if spawns(function) {
            Some(Self::Spawned(function.to_string()))
        } else if function == "timeout" || function == "timeout_at" {
            Some(Self::Timeout)
        } else if JOINS.iter().any(|join| function == join) {
            Some(Self::Join(format!("{function}(..)")))
        } else {
            None
        }
    }

    /// Whether code within says more about an operation than this.
    pub(super) const fn gives_way(&self) -> bool {
        matches!(self, Self::Function | Self::Closure | Self::AsyncBlock)
    }

    /// Why the operation that is written as `call` cannot be here.
    pub(super) fn refusal(&self, call: &str, waits: bool) -> Option<String> {
        let message = match self {
            Self::Function => return None,
            Self::Closure => diagnostics::nested_operation(
                call,
                "a closure",
                "call it in the body itself, in a loop if there are several",
            ),
            Self::AsyncBlock => diagnostics::nested_operation(
                call,
                "an `async` block, whose turn is open",
                "call and await it in the body itself",
            ),
            Self::Spawned(spawn) => diagnostics::nested_operation(
                call,
                format!("what `{spawn}` runs beside the body"),
                "call and await it before, and use what it gave",
            ),
            Self::Step => diagnostics::nested_operation(
                call,
                "a step, which is skipped when the body runs again",
                "call it before the step and use what it gave",
            ),
            Self::Join(name) => diagnostics::concurrent_operation(call, name),
            Self::Timeout if waits => diagnostics::question_in_timeout(call),
            Self::Timeout => diagnostics::step_in_timeout(call),
        };
        Some(message)
    }

    /// Why nothing here can be given the context, which is called `context`. In closures, blocks and
    /// steps the compiler sees for itself that the context is borrowed.
    pub(super) fn refusal_of_context(&self, context: &str) -> Option<String> {
        match self {
            Self::Spawned(spawn) => Some(diagnostics::context_in_spawn(context, spawn)),
            Self::Join(name) => Some(diagnostics::context_in_join(context, name)),
            Self::Timeout => Some(diagnostics::context_in_timeout(context)),
            Self::Function | Self::Closure | Self::AsyncBlock | Self::Step => None,
        }
    }
}
