//! What ends a leg over the head of its function.

use std::fmt::Display;

use super::Place;
use crate::{journal::Kind, store::StoreError};

/// Why a leg ended without an outcome of the function.
#[derive(Debug)]
pub(crate) enum Fault {
    /// The code and the journal do not tell the same story.
    Drift(String),
    /// The same code does something else than in an earlier leg.
    Nondeterministic(String),
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
    /// Whether the call fails by it, wherever it goes on.
    pub(in crate::engine) const fn is_final(&self) -> bool {
        match self {
            Self::Nondeterministic(_) | Self::Misuse(_) | Self::OverLimit(_) => true,
            Self::Drift(_) | Self::Store(_) | Self::Superseded => false,
        }
    }

    pub(super) fn drift(journal: impl Display, code: impl Display, place: Place) -> Self {
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

    /// A question that is filled in differently: an answer to the first text is none to the second.
    pub(crate) fn text_changed(key: &str, [before, now]: [&str; 2], place: Place) -> Self {
        if let Some(place) = place {
            tracing::error!(key, before, now, %place, "a question has another text in a later leg");
        }
        Self::Nondeterministic(format!(
            "the question `{key}` was asked as \"{before}\", and is \"{now}\" when the same code \
             runs again, so the answer does not count; go over a `BTreeMap` or a sorted list \
             instead of a `HashMap`, take what changes from a step, or write `.text_may_differ()` \
             after the question"
        ))
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
