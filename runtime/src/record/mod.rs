//! What a store keeps of an execution, beside its journal.

mod client;
mod rounds;

use std::{fmt, sync::Arc, time::Duration};

use serde::{Deserialize, Deserializer, Serialize, de::Error as _};
use serde_json::{Map, Value};

pub use self::client::Client;
pub(crate) use self::{
    client::Elicits,
    rounds::{Delivery, Round, Rounds},
};
use crate::{
    error::ProtocolError,
    host::{Timestamp, whole_millis},
    input::form::Ask,
};

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
    /// First, so that a newer one is known as such before anything else is read.
    #[serde(deserialize_with = "known_format")]
    pub(crate) format: u32,
    pub(crate) id: TaskId,
    pub(crate) pool: String,
    pub(crate) tool: String,
    /// The operations of the tool when the record was made.
    pub(crate) fingerprint: String,
    /// The version of the server that made the record.
    pub(crate) server_version: String,
    /// What the values are hashed from that look random: 128 random bits in hexadecimal.
    pub(crate) seed: String,
    /// After coercion, with defaults.
    pub(crate) arguments: Map<String, Value>,
    /// The digest of the arguments as they came.
    #[serde(default)]
    pub(crate) arguments_digest: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) owner: Option<String>,
    pub(crate) client: Client,
    pub(crate) created_at: Timestamp,
    pub(crate) poll_ms: u64,
    /// Whether the tool has something to clean up when it is cancelled.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) cleans_up: bool,
}

/// A time to live, in milliseconds from the creation. `None`: without end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ttl(pub(crate) Option<u64>);

impl From<Option<Duration>> for Ttl {
    fn from(ttl: Option<Duration>) -> Self {
        Self(ttl.map(whole_millis))
    }
}

/// A question as it was put, under its key on the wire.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pinned {
    pub(crate) key: String,
    pub(crate) ask: Ask,
    /// When nobody waits for the answer any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) deadline: Option<Timestamp>,
}

/// A sleep of an execution.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sleep {
    pub(crate) key: String,
    pub(crate) until: Timestamp,
}

/// A journal that the code of some worker does not fit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Drift {
    /// The version of the tool that does not fit: workers with another may go on.
    pub(crate) fingerprint: String,
    /// Both sides, in words.
    pub(crate) message: String,
    /// When the task is given up.
    pub(crate) until: Timestamp,
}

/// The leg that cleans up after an execution was cancelled or its time was over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Closing {
    /// It has still to begin, and is given up at this time.
    Due(Timestamp),
    /// The holder of `fence` is at it. If it is interrupted, it is given up at `until`.
    Running {
        /// The fence of the leg.
        fence: u64,
        /// When it is given up.
        until: Timestamp,
    },
}

/// Whether a client can still reach an execution.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Life {
    /// Until its time is over.
    #[default]
    Present,
    /// Its time is over, but it has still to clean up.
    Expired,
    /// Its time is over: all that is left is that its owner can be told so, until then.
    Tombstone(Timestamp),
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

/// A worker's claim on an execution. It ends when the worker lets go, or is dead.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    /// The worker: one server in one process.
    pub(crate) worker: String,
    /// The size of the group in which it is tried again after its last worker died.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) trial: Option<u32>,
}

/// An execution whose worker died while it ran, as long as it made no entry since.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Suspect {
    /// How many workers died with it.
    pub(crate) deaths: u32,
    /// The size of the group in which it is to be tried next, if it died in one.
    pub(crate) group: u32,
}

/// An execution: what every worker needs to know of it, beside its journal.
///
/// Stores write and read it as a whole and use its [`Index`]; the rules are in the machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    pub(crate) origin: Arc<Origin>,
    #[serde(default, skip_serializing_if = "Delivery::is_task")]
    pub(crate) delivery: Delivery,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) rounds: Option<Rounds>,
    pub(crate) status: Status,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) status_message: Option<String>,
    pub(crate) updated_at: Timestamp,
    /// When it last changed, by a clock that was behind `updated_at`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) changed_at: Option<Timestamp>,
    /// From the creation. `None`: without end.
    pub(crate) ttl_ms: Option<u64>,
    /// `_meta` of every view of the task.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub(crate) meta: Map<String, Value>,
    /// The questions that wait for an answer, in the order in which they were put.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) questions: Vec<Pinned>,
    /// Every key that was ever put, so that none is used twice.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) spent: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) asleep: Option<Sleep>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) end: Option<End>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) closing: Option<Closing>,
    #[serde(default)]
    pub(crate) life: Life,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) drift: Option<Drift>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) lease: Option<Lease>,
    /// Raised by every claim: what an older leg writes is refused.
    pub(crate) fence: u64,
    /// Raised by every change.
    pub(crate) version: u64,
    /// How many legs began.
    pub(crate) legs: u32,
    /// How many runs in a row killed their worker, or ran out of time, before they got anywhere.
    pub(crate) stalled: u32,
    /// The number of the last write of the leg that holds the fence.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) writes: u64,
    /// Whether the last leg ended in the middle, so that its next step may have happened.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) interrupted: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) suspect: Option<Suspect>,
    /// Whether somebody has just answered it, so that it goes before a backlog.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) answered: bool,
    /// Why its cleaning up was given up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) not_cleaned: Option<String>,
}

/// What a store has to find executions by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a store needs all of it")]
pub struct Index<'a> {
    /// The group of workers that may run it.
    pub pool: &'a str,
    /// The tool that it runs.
    pub tool: &'a str,
    /// The fingerprint of the version of the tool that cannot go on with it.
    pub avoid: Option<&'a str>,
    /// The worker that holds it.
    pub worker: Option<&'a str>,
    /// From when on a worker may go on with it. `None`: there is nothing to go on with, or a worker
    /// holds it. What was just answered is due since the beginning of time, and so comes first.
    pub due_at: Option<Timestamp>,
    /// When something happens to it that needs no worker of its pool. `None`: never.
    pub alarm_at: Option<Timestamp>,
}

impl Record {
    /// The id.
    pub fn id(&self) -> &TaskId {
        &self.origin.id
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

    /// Why nobody cleans up after it any more, if that is so.
    pub fn not_cleaned(&self) -> Option<&str> {
        self.not_cleaned.as_deref()
    }

    /// The worker that holds it.
    pub(crate) fn worker(&self) -> Option<&str> {
        self.lease.as_ref().map(|lease| lease.worker.as_str())
    }

    /// Whether its client, or an operator, sees it as a task.
    pub(crate) fn is_visible(&self, now: Timestamp) -> bool {
        self.is_task() && !self.is_expired(now)
    }

    /// Whether its client follows it as a task, rather than by the requests of a call.
    pub const fn is_task(&self) -> bool {
        self.delivery.is_task()
    }

    /// What a store has to find it by.
    pub fn index(&self) -> Index<'_> {
        Index {
            pool: &self.origin.pool,
            tool: &self.origin.tool,
            avoid: self.drift.as_ref().map(|drift| drift.fingerprint.as_str()),
            worker: self.worker(),
            due_at: self.due_at(),
            alarm_at: self.alarm_at(),
        }
    }

    /// Whether its time is over, so that nobody may see it any more.
    pub fn is_expired(&self, now: Timestamp) -> bool {
        self.life != Life::Present || self.expires_at().is_some_and(|end| end <= now)
    }

    pub(crate) fn expires_at(&self) -> Option<Timestamp> {
        // A ttl beyond the end of time never ends.
        self.ttl_ms
            .and_then(|ttl| self.origin.created_at.checked_add(ttl))
    }

    fn due_at(&self) -> Option<Timestamp> {
        // Between two rounds nothing runs, unless it is over and has to clean up.
        if !self.is_task() && self.closing.is_none() {
            return None;
        }
        if self.lease.is_some() {
            return None;
        }
        // What clients see never goes back, but nobody waits until a clock that did catches up.
        let changed_at = self.changed_at.unwrap_or(self.updated_at);
        if self.closing.is_some() {
            return Some(changed_at);
        }
        if self.life != Life::Present {
            return None;
        }
        if self.answered {
            return Some(Timestamp::from_millis(0));
        }
        match self.status {
            Status::Working => Some(self.asleep.as_ref().map_or(changed_at, |sleep| sleep.until)),
            Status::InputRequired => self
                .questions
                .iter()
                .filter_map(|asked| asked.deadline)
                .min(),
            Status::Completed | Status::Failed | Status::Cancelled => None,
        }
    }

    fn alarm_at(&self) -> Option<Timestamp> {
        let cleanup = match self.closing {
            Some(Closing::Due(until)) if self.lease.is_none() => Some(until),
            _ => None,
        };
        match self.life {
            Life::Tombstone(until) => Some(until),
            Life::Expired => cleanup,
            Life::Present => {
                let drift = self.drift.as_ref().map(|drift| drift.until);
                let over = self.expires_at().into_iter();
                over.chain(drift).chain(cleanup).min()
            }
        }
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
const fn is_false(flag: &bool) -> bool {
    !*flag
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
const fn is_zero(number: &u64) -> bool {
    *number == 0
}

fn known_format<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    let format = u32::deserialize(deserializer)?;
    if format > FORMAT {
        return Err(D::Error::custom(format!(
            "it has the format {format} of a newer siding, this one knows formats up to {FORMAT}; \
             only the newer one can go on with it"
        )));
    }
    Ok(format)
}
