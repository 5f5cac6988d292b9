//! What a store keeps of an execution, beside its journal.

use std::{fmt, sync::Arc};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{error::ProtocolError, host::Timestamp, input::form::Ask};

/// The format of the records that this version writes.
pub(crate) const FORMAT: u32 = 1;

/// The id of an execution: 128 random bits, in lower-case hexadecimal.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TaskId(Arc<str>);

impl TaskId {
    pub(crate) fn from_random(bits: [u8; 16]) -> Self {
        Self(format!("{:032x}", u128::from_be_bytes(bits)).into())
    }

    /// The id as it stands on the wire.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for TaskId {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Where a task stands (SEP-2663).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(clippy::exhaustive_enums, reason = "the protocol has these five")]
pub enum Status {
    /// It runs, or it can run.
    Working,
    /// It waits for answers.
    InputRequired,
    /// It ended in a result, well or badly.
    Completed,
    /// It ended in a JSON-RPC error.
    Failed,
    /// It was cancelled.
    Cancelled,
}

impl Status {
    /// Whether nothing can change any more.
    pub const fn is_terminal(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }
}

/// What was called, by whom and when: written once, the same in every leg.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Origin {
    pub(crate) format: u32,
    /// Absent where the call runs in its request.
    pub(crate) id: Option<TaskId>,
    pub(crate) pool: String,
    pub(crate) tool: String,
    /// The operations of the tool, and the version of the server that made the record.
    pub(crate) fingerprint: String,
    /// After coercion, with defaults.
    pub(crate) arguments: Map<String, Value>,
    pub(crate) client: Client,
    pub(crate) created_at: Timestamp,
    /// `None`: without end.
    pub(crate) ttl_ms: Option<u64>,
    pub(crate) poll_ms: u64,
}

/// The client, as the creating request described it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Client {
    /// The name that it gave itself; nothing vouches for it.
    pub name: Option<String>,
    /// The version that it gave itself.
    pub version: Option<String>,
    /// The protocol version of the request.
    pub protocol: Option<String>,
    /// Whether it can put forms to a person.
    pub elicits_forms: bool,
    /// Whether it can send a person to an address.
    #[serde(default)]
    pub elicits_urls: bool,
}

/// A question as it was put, under its key on the wire.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pinned {
    pub(crate) key: String,
    pub(crate) ask: Ask,
}

/// How an execution ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// What the call returned (`CallToolResult`).
    Result(Map<String, Value>),
    /// The JSON-RPC error that it failed with.
    Error(ProtocolError),
    /// It was cancelled.
    Cancelled,
}

/// A worker's claim on an execution.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Lease {
    pub(crate) worker: String,
    pub(crate) until: Timestamp,
}

/// An execution: what every worker needs to know of it, beside its journal.
///
/// Stores write and read it as a whole and use its indexes; the rules are in the machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    pub(crate) origin: Arc<Origin>,
    pub(crate) status: Status,
    pub(crate) status_message: Option<String>,
    pub(crate) updated_at: Timestamp,
    /// The questions that wait for an answer, in the order in which they were put.
    pub(crate) questions: Vec<Pinned>,
    /// Every key that was ever put, so that none is used twice.
    pub(crate) spent: Vec<String>,
    pub(crate) end: Option<End>,
    pub(crate) lease: Option<Lease>,
    /// Raised by every claim: what an older leg writes is refused.
    pub(crate) fence: u64,
    /// Raised by every change.
    pub(crate) version: u64,
    /// How many legs began.
    pub(crate) legs: u32,
    /// How many legs in a row ended without having got anywhere.
    pub(crate) stalled: u32,
}

/// What a store has to find executions by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Index<'a> {
    /// The group of workers that may run it.
    pub pool: &'a str,
    /// The tool that it runs.
    pub tool: &'a str,
    /// From when on a worker may claim it: at once, or when the present lease has ended. `None`
    /// where there is nothing to run.
    pub runnable_at: Option<Timestamp>,
    /// When it is to be forgotten. `None`: never.
    pub expires_at: Option<Timestamp>,
}

impl Record {
    /// The id; records of calls without one are never stored.
    ///
    /// # Panics
    ///
    /// Never for a record that came out of a store.
    pub fn id(&self) -> &TaskId {
        self.origin
            .id
            .as_ref()
            .expect("a stored execution has an id")
    }

    /// Where it stands.
    pub const fn status(&self) -> Status {
        self.status
    }

    /// The number of its last change; a store writes over exactly the version it was told.
    pub const fn version(&self) -> u64 {
        self.version
    }

    /// How many legs began.
    pub const fn legs(&self) -> u32 {
        self.legs
    }

    /// What a store has to find it by.
    pub fn index(&self) -> Index<'_> {
        let runnable_at = match (&self.lease, self.status) {
            (_, status) if status != Status::Working => None,
            (Some(lease), _) => Some(lease.until),
            (None, _) => Some(self.updated_at),
        };
        Index {
            pool: &self.origin.pool,
            tool: &self.origin.tool,
            runnable_at,
            expires_at: self.expires_at(),
        }
    }

    /// Whether its time is over, so that nobody may see it any more.
    pub fn is_expired(&self, now: Timestamp) -> bool {
        self.expires_at().is_some_and(|end| end <= now)
    }

    fn expires_at(&self) -> Option<Timestamp> {
        // A ttl beyond the end of time never ends.
        let origin = &self.origin;
        origin
            .ttl_ms
            .and_then(|ttl| origin.created_at.checked_add(ttl))
    }
}
