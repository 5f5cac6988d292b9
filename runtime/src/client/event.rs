//! What is seen of a call while it runs.

use rmcp::model::{CallToolResult, ProgressNotificationParam, Task};

use super::Question;

/// Something that happened to a call.
///
/// A stream of them ends after [`Result`](Self::Result), [`Completed`](Self::Completed),
/// [`Cancelled`](Self::Cancelled) or an error, whichever comes.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// The server answered in the call, without a task.
    Result(CallToolResult),
    /// The call became a task; its id is what [`Client::resume`](super::Client::resume) takes.
    Created(Task),
    /// The task was found changed, and has not ended: its status, message, time to live or poll
    /// interval, as of the last poll.
    Status(Task),
    /// A question is being put to the caller's [`Answers`](super::Answers).
    Asked(Question),
    /// The server told how far the work is.
    Progress(Progress),
    /// The task ended with this result, which may be an error of the tool (`is_error`).
    Completed(CallToolResult),
    /// The caller's token ended the call.
    Cancelled {
        /// The task that was cancelled along, where the call had become one.
        id: Option<String>,
    },
}

/// How far the work is, in units that the server chose.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Progress {
    /// What is done.
    pub done: f64,
    /// What there is to do, where the server knows.
    pub total: Option<f64>,
    /// What the work is at.
    pub message: Option<String>,
}

impl From<ProgressNotificationParam> for Progress {
    fn from(notification: ProgressNotificationParam) -> Self {
        Self {
            done: notification.progress,
            total: notification.total,
            message: notification.message,
        }
    }
}
