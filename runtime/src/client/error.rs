//! Why a call came to no result.

use rmcp::{
    model::ErrorData,
    service::{ClientInitializeError, ServiceError},
};
use serde_json::Value;

/// Why a call came to no result.
///
/// A tool that failed on its own terms is no such error: that is a result with `is_error`. Where the
/// call is given up while a task still runs, the task is cancelled on the server first.
///
/// ```
/// use siding::client::CallError;
///
/// fn may_be_tried_again(error: &CallError) -> bool {
///     matches!(error, CallError::TimedOut { .. } | CallError::Transport(_))
/// }
///
/// assert!(may_be_tried_again(&CallError::TimedOut { id: None }));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// The deadline of [`Call::timeout`](super::Call::timeout) passed.
    #[error("the call timed out{}; give it more time with `Call::timeout`", of_task(id.as_deref()))]
    TimedOut {
        /// The task that was cancelled, where the call had become one.
        id: Option<String>,
    },
    /// The time to live of the task passed before it ended (SEP-2663: `createdAt` and `ttlMs`).
    #[error("the task `{id}` expired before it ended; call the tool again")]
    Expired {
        /// The task.
        id: String,
    },
    /// The task ended with a JSON-RPC error.
    #[error("the task `{id}` failed: {} ({})", error.message, error.code.0)]
    Failed {
        /// The task.
        id: String,
        /// What the server said: code, message and data.
        error: ErrorData,
    },
    /// The call was cancelled: by the caller's token, or the task by somebody else.
    #[error("the call was cancelled{}", of_task(id.as_deref()))]
    Cancelled {
        /// The task, where the call had become one.
        id: Option<String>,
    },
    /// The task ended with something that is no result of a tool, or no JSON-RPC error.
    #[error("the result of the task `{id}` cannot be read: {source}")]
    Unreadable {
        /// The task.
        id: String,
        /// What does not fit.
        source: serde_json::Error,
    },
    /// The server answered with something that this client does not know.
    #[error("the server answered with something unknown{}: {payload}", of_task(id.as_deref()))]
    UnknownPayload {
        /// The task, where the call had become one.
        id: Option<String>,
        /// What it answered with.
        payload: Value,
    },
    /// `tasks/get` failed.
    #[error("cannot look at the task `{id}`: {source}")]
    PollFailed {
        /// The task.
        id: String,
        /// What went wrong.
        source: ServiceError,
    },
    /// `tasks/update` failed, and not because an answer did not fit.
    #[error("cannot answer the task `{id}`: {source}")]
    UpdateFailed {
        /// The task.
        id: String,
        /// What went wrong.
        source: ServiceError,
    },
    /// The server asks for something that nobody here can give.
    #[error(
        "the server asks `{key}`, which needs `{kind}`, and nobody here can answer that; give the \
         client `Answers` that can"
    )]
    CannotAnswer {
        /// The name of the question.
        key: String,
        /// `form`, `url`, or the method that the server wants.
        kind: String,
    },
    /// The server took an answer, and went on asking for it.
    #[error("the server took the answer to `{key}`, but still asks for it")]
    StillAsked {
        /// The name of the question.
        key: String,
    },
    /// The question was put ten times, and no answer to it fitted.
    #[error("none of the answers to `{key}` fits what the server asks: {violation}")]
    Unfit {
        /// The name of the question.
        key: String,
        /// What was wrong with the last answer.
        violation: String,
    },
    /// The server refused the call.
    #[error("the server refused the call: {} ({})", .0.message, .0.code.0)]
    Refused(ErrorData),
    /// The arguments are no JSON object, so nothing was sent.
    #[error("the arguments of a tool are an object with a member for each; {why}")]
    Arguments {
        /// What is wrong with them.
        why: String,
    },
    /// The connection failed before there was a task.
    #[error("the connection failed: {0}")]
    Transport(#[source] ServiceError),
}

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
#[error("cannot connect: {source}")]
pub struct ConnectError {
    source: Box<ClientInitializeError>,
}

impl From<ClientInitializeError> for ConnectError {
    fn from(source: ClientInitializeError) -> Self {
        Self {
            source: Box::new(source),
        }
    }
}

fn of_task(id: Option<&str>) -> String {
    id.map(|id| format!(" (task `{id}`)")).unwrap_or_default()
}
