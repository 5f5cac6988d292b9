//! How a run ended, as its exit code tells.

use std::process::ExitCode;

use rmcp::model::CallToolResult;
use siding::client::CallError;

/// How a run ended.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Outcome {
    Completed,
    /// The tool failed on its own terms (`isError`).
    ToolError,
    Usage,
    /// The server refused, or the task failed, with a JSON-RPC error.
    Failed,
    Cancelled,
    /// Timed out, or expired.
    Late,
    /// A question could not be answered.
    Unanswered,
    /// No connection, or an answer that makes no sense.
    Trouble,
}

impl Outcome {
    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Completed => 0,
            Self::ToolError => 1,
            Self::Usage => 2,
            Self::Failed => 3,
            Self::Cancelled => 4,
            Self::Late => 5,
            Self::Unanswered => 6,
            Self::Trouble => 7,
        }
    }
}

impl From<&CallToolResult> for Outcome {
    fn from(result: &CallToolResult) -> Self {
        if result.is_error == Some(true) {
            Self::ToolError
        } else {
            Self::Completed
        }
    }
}

impl From<&CallError> for Outcome {
    fn from(error: &CallError) -> Self {
        match error {
            CallError::Failed { .. } | CallError::Refused(_) => Self::Failed,
            CallError::Cancelled { .. } => Self::Cancelled,
            CallError::TimedOut { .. } | CallError::Expired { .. } => Self::Late,
            CallError::CannotAnswer { .. }
            | CallError::StillAsked { .. }
            | CallError::Unfit { .. } => Self::Unanswered,
            _ => Self::Trouble,
        }
    }
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> Self {
        outcome.code().into()
    }
}
