//! Where executions are kept.
//!
//! A store knows bytes, keys and indexes. It compares and swaps what the machine made; it has no
//! rules of its own.

mod memory;

use std::{error::Error, fmt, sync::Arc};

pub use self::memory::MemoryStore;
use crate::{
    host::{BoxFuture, Timestamp},
    journal::Entry,
    record::{Record, TaskId},
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
pub trait Store: fmt::Debug + Send + Sync + 'static {
    /// Writes a new record.
    fn insert(&self, record: Arc<Record>) -> BoxFuture<'_, Result<(), StoreError>>;

    /// The record, where there is one.
    fn load<'a>(&'a self, id: &'a TaskId)
    -> BoxFuture<'a, Result<Option<Arc<Record>>, StoreError>>;

    /// The journal, oldest entry first; empty where there is no such record.
    fn journal<'a>(&'a self, id: &'a TaskId) -> BoxFuture<'a, Result<Vec<Entry>, StoreError>>;

    /// Writes a change over the version it was made from.
    fn commit(&self, change: Change) -> BoxFuture<'_, Result<Swap, StoreError>>;

    /// Up to `query.limit` records that a worker could claim now
    /// ([`Index::runnable_at`](crate::record::Index)), longest waiting first.
    fn runnable<'a>(
        &'a self,
        query: Runnable<'a>,
    ) -> BoxFuture<'a, Result<Vec<Arc<Record>>, StoreError>>;

    /// Up to `limit` ids of records whose time was over at `now`.
    fn expired(
        &self,
        now: Timestamp,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<TaskId>, StoreError>>;

    /// The first moment after `now` at which a record of the pool becomes runnable, or any record
    /// expires.
    fn next_due<'a>(
        &'a self,
        pool: &'a str,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<Option<Timestamp>, StoreError>>;

    /// Forgets a record and its journal.
    fn remove<'a>(&'a self, id: &'a TaskId) -> BoxFuture<'a, Result<(), StoreError>>;

    /// Waits until something was written since `seen`, and gives the number to wait with next.
    /// The first call passes 0.
    fn changed(&self, seen: u64) -> BoxFuture<'_, Result<u64, StoreError>>;

    /// Whether tasks outlive the process.
    fn is_durable(&self) -> bool;
}

/// What is to be written over a record.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "a store needs all of it")]
pub struct Change {
    /// The version that the change was made from.
    pub expected: u64,
    /// The record after it.
    pub record: Arc<Record>,
    /// What it adds to the journal.
    pub entries: Vec<Entry>,
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

/// Which records a worker could claim.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "a store needs all of it")]
pub struct Runnable<'a> {
    /// The pool of the worker.
    pub pool: &'a str,
    /// The tools that it has.
    pub tools: &'a [&'a str],
    /// The time now.
    pub now: Timestamp,
    /// No more than this many.
    pub limit: usize,
}

/// A failure of a store.
#[derive(Debug, thiserror::Error)]
#[error("the store failed: {0}")]
pub struct StoreError(#[source] Box<dyn Error + Send + Sync>);

impl StoreError {
    /// The failure that `error` is.
    pub fn new(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self(error.into())
    }
}
