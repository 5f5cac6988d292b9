//! How an execution reaches its client, and by which rounds of questions.

use serde::{Deserialize, Serialize};

/// How the outcome of an execution reaches its client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Delivery {
    /// As a task.
    #[default]
    Task,
    /// As the answer to the last of several requests (SEP-2322): each that goes on brings the
    /// answers to the round before. Nothing runs between them.
    Rounds,
}

impl Delivery {
    #[expect(
        clippy::trivially_copy_pass_by_ref,
        reason = "serde passes a reference"
    )]
    pub(super) const fn is_task(&self) -> bool {
        matches!(self, Self::Task)
    }
}

/// The last rounds of a call that asks by round trips, or did so before it became a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Rounds {
    /// The round whose questions were put last.
    pub(crate) current: Round,
    /// The one before it, for a client that lost the reply to its answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) before: Option<Round>,
}

/// One round of questions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Round {
    /// What names it in `requestState`: 128 random bits in hexadecimal.
    pub(crate) name: String,
    /// The keys of its questions.
    pub(crate) keys: Vec<String>,
    /// The digest of the answers that it was spent on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) answers: Option<String>,
}
