//! Where executions are kept.
//!
//! A store knows bytes, keys and indexes. It compares and swaps what the machine made; it has no
//! rules of its own.

#[cfg(feature = "sqlite")]
pub(crate) mod liveness;
mod memory;
#[cfg(feature = "sqlite")]
mod sqlite;

use std::{any::Any, error::Error, fmt, sync::Arc};

pub use self::memory::MemoryStore;
#[cfg(feature = "sqlite")]
pub use self::sqlite::SqliteStore;
pub use crate::record::Index;
use crate::{
    host::{BoxFuture, Timestamp},
    journal::Entry,
    record::{Record, Status, TaskId},
};

/// Keeps records and journals.
///
/// # What a store promises
///
/// - What it acknowledged is there for every later call, from every handle on the same store.
/// - [`commit`](Store::commit) writes the record and the entries together or not at all, and only
///   over the version it was told.
/// - Entries come back in the order in which they were written.
/// - It never looks at the time: what is due is asked for with the time of the caller.
/// - Every write gets a number that is greater than that of every write before it.
///
/// ```
/// use siding::prelude::*;
///
/// // Handles on one memory store share it: this is how a test starts a second server on the
/// // tasks of a first.
/// let store = MemoryStore::new();
/// let first = Server::new("shop", "1.0.0").store(store.clone());
/// let second = Server::new("shop", "1.0.1").store(store);
/// # let _ = (first, second);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` keeps no tasks",
    label = "not a store",
    note = "use `SqliteStore::open(path).await?`, or `MemoryStore::new()`"
)]
pub trait Store: fmt::Debug + Send + Sync + 'static {
    /// Writes a new record with its journal, unless as many records are live already as may be:
    /// those that have not ended. All of it is one write. An id that is there already is an error.
    fn insert(&self, creation: Creation) -> BoxFuture<'_, Result<Insertion, StoreError>>;

    /// The record, where there is one.
    fn load<'a>(&'a self, id: &'a TaskId)
    -> BoxFuture<'a, Result<Option<Arc<Record>>, StoreError>>;

    /// The journal, oldest entry first; empty where there is no such record.
    fn journal<'a>(&'a self, id: &'a TaskId) -> BoxFuture<'a, Result<Vec<Entry>, StoreError>>;

    /// Writes a change over the version it was made from.
    fn commit(&self, change: Change) -> BoxFuture<'_, Result<Swap, StoreError>>;

    /// Up to `query.limit` records that a worker could go on with now: those of its pool and its
    /// tools whose [`due_at`](Index::due_at) has come, longest due first, without those that
    /// [`avoid`](Index::avoid) its version of the tool.
    fn runnable<'a>(
        &'a self,
        query: Runnable<'a>,
    ) -> BoxFuture<'a, Result<Vec<Arc<Record>>, StoreError>>;

    /// Makes a worker known. What comes back is its life: when that is dropped, or its process is
    /// gone, the worker is dead for everyone on the store.
    fn enlist<'a>(&'a self, worker: &'a str) -> BoxFuture<'a, Result<Life, StoreError>>;

    /// Waits until more than `after` deaths were noticed, then tells which workers are dead and still
    /// hold something. With zero it tells at once. Each time that it tells of a worker, nobody else is
    /// told until this store forgets what it told, so that one takes its executions from it.
    fn deaths(&self, after: u64) -> BoxFuture<'_, Result<Deaths, StoreError>>;

    /// Up to `limit` records that a worker holds, of whatever pool, in the order of their ids.
    fn held<'a>(
        &'a self,
        worker: &'a str,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<Arc<Record>>, StoreError>>;

    /// Forgets a worker that is dead and holds nothing any more. One that may still wake up and claim
    /// again is not forgotten: nobody would notice its death then.
    fn dismiss<'a>(&'a self, worker: &'a str) -> BoxFuture<'a, Result<(), StoreError>>;

    /// Up to `limit` records of any pool whose [`alarm_at`](Index::alarm_at) has come, longest due
    /// first.
    fn alarmed(
        &self,
        now: Timestamp,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<Arc<Record>>, StoreError>>;

    /// The first moment after `now` at which a record of the pool is due, or one of any pool is
    /// alarmed.
    fn next_due<'a>(
        &'a self,
        pool: &'a str,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<Option<Timestamp>, StoreError>>;

    /// Up to `query.limit` records in the order of their ids.
    fn list<'a>(
        &'a self,
        query: Listing<'a>,
    ) -> BoxFuture<'a, Result<Vec<Arc<Record>>, StoreError>>;

    /// Forgets a record and its journal.
    fn remove<'a>(&'a self, id: &'a TaskId) -> BoxFuture<'a, Result<(), StoreError>>;

    /// How many records are live: those that have not ended.
    fn live(&self) -> BoxFuture<'_, Result<u64, StoreError>>;

    /// The number of the last write.
    fn position(&self) -> BoxFuture<'_, Result<u64, StoreError>>;

    /// Waits until there is a write after the number `after`, then tells what was written since.
    fn changes(&self, after: u64) -> BoxFuture<'_, Result<Changes, StoreError>>;

    /// Whether tasks outlive the process.
    fn is_durable(&self) -> bool;
}

/// The life of a worker, as its store keeps it. Dropping it is the worker's death.
pub struct Life(
    #[expect(dead_code, reason = "it is there to be dropped")] Box<dyn Any + Send + Sync>,
);

impl Life {
    /// A life that ends when `guard` is dropped.
    pub fn new(guard: impl Any + Send + Sync) -> Self {
        Self(Box::new(guard))
    }
}

impl fmt::Debug for Life {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Life").finish_non_exhaustive()
    }
}

/// Workers that are dead.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a store makes it")]
pub struct Deaths {
    /// How many deaths were noticed so far, to wait for the next.
    pub upto: u64,
    /// Those that may still hold something.
    pub workers: Vec<DeadWorker>,
}

/// A worker that is dead.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a store makes it")]
pub struct DeadWorker {
    /// Its name.
    pub name: String,
    /// Whether its process is known to be gone. Otherwise it was silent for too long.
    pub certain: bool,
}

/// What is to be written where nothing was.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "a store needs all of it")]
pub struct Creation {
    /// The record.
    pub record: Arc<Record>,
    /// What it has in its journal already, oldest entry first.
    pub journal: Vec<Entry>,
    /// No more than this many records may be live.
    pub limit: u64,
}

impl Creation {
    /// A record without a journal, however many there are.
    pub fn new(record: impl Into<Arc<Record>>) -> Self {
        Self {
            record: record.into(),
            journal: Vec::new(),
            limit: u64::MAX,
        }
    }
}

/// What is to be written over a record.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "a store needs all of it")]
pub struct Change {
    /// The version that the change was made from.
    pub expected: u64,
    /// The record after it.
    pub record: Arc<Record>,
    /// What it does to the journal.
    pub journal: JournalChange,
}

/// What a change does to the journal.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_enums, reason = "a store needs all of it")]
pub enum JournalChange {
    /// These entries come behind those that are there.
    Append(Vec<Entry>),
    /// All entries are forgotten.
    Clear,
}

/// What was written.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a store makes it")]
pub struct Changes {
    /// The number of the last write that this tells of.
    pub upto: u64,
    /// Which records were written, each once; those that are gone need not be among them.
    pub ids: Vec<TaskId>,
}

/// What came of an insert.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a limit has two sides")]
pub enum Insertion {
    /// It is written.
    Done,
    /// There are too many live records; nothing was written.
    Full,
}

/// What came of a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a swap has two ends")]
pub enum Swap {
    /// It is written.
    Done,
    /// The record has another version, or is gone; nothing was written.
    Refused,
}

/// Which records a worker could go on with.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "a store needs all of it")]
pub struct Runnable<'a> {
    /// The pool of the worker.
    pub pool: &'a str,
    /// The tools that it has: the name, and the fingerprint of the version.
    pub tools: &'a [(&'a str, &'a str)],
    /// The time now.
    pub now: Timestamp,
    /// No more than this many.
    pub limit: usize,
}

/// Which records to list.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "a store needs all of it")]
pub struct Listing<'a> {
    /// Only those with this status.
    pub status: Option<Status>,
    /// Only those whose id is greater.
    pub after: Option<&'a TaskId>,
    /// No more than this many.
    pub limit: usize,
}

/// A failure of a store.
#[derive(Debug, thiserror::Error)]
#[error("the store failed: {error}")]
pub struct StoreError {
    #[source]
    error: Box<dyn Error + Send + Sync>,
    is_unreadable: bool,
}

impl StoreError {
    /// The failure that `error` is. Another try may succeed.
    pub fn new(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self {
            error: error.into(),
            is_unreadable: false,
        }
    }

    /// What is stored is of a newer format, or damaged: another try changes nothing, and whoever
    /// cannot read it leaves it to others.
    pub fn unreadable(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self {
            error: error.into(),
            is_unreadable: true,
        }
    }

    /// Whether what is stored cannot be read by this version.
    pub const fn is_unreadable(&self) -> bool {
        self.is_unreadable
    }
}
