//! A store in a SQLite file.

mod connection;
mod failure;
mod identity;
mod reader;
mod row;
mod statement;
#[cfg(test)]
mod tests;
mod watcher;
mod workers;
mod write;
mod writer;

use std::{
    collections::HashSet,
    fmt,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use rusqlite::{OptionalExtension, params, types::ValueRef};

use self::{
    identity::Identity,
    reader::Readers,
    row::{JournalText, Row},
    watcher::Watcher,
    workers::Workers,
    write::Write,
    writer::Writer,
};
use super::{
    Change, Changes, Creation, Deaths, Insertion, Life, Listing, Runnable, Store, StoreError, Swap,
};
use crate::{
    host::{BoxFuture, Timestamp},
    journal::Entry,
    record::{Record, TaskId},
};

/// `PRAGMA application_id` of the files: `sidi` in ASCII.
const APPLICATION: i64 = 0x7369_6469;
/// `PRAGMA user_version` of the files that this version writes.
const FORMAT: i64 = 2;
/// How long to wait for a file that somebody else has locked.
const PATIENCE: Duration = Duration::from_secs(5);

/// Keeps executions in a SQLite file: they outlive the process, and a crash. Clones share it.
///
/// ```no_run
/// use siding::prelude::*;
///
/// # async fn run() -> siding::Result<()> {
/// let store = SqliteStore::open("deployer.db").await?;
/// Server::new("deployer", "1.0.0").store(store).serve_stdio().await?;
/// # siding::Ok(())
/// # }
/// ```
///
/// What it acknowledges is on the disk. Writes that come together go into one transaction, and so
/// share one wait for the disk; reads go on beside them. Any number of processes of one machine can
/// use the same file: a write of one is seen by the others within 100 ms.
///
/// The file must be on a local disk. Two more lie beside it while it is in use, named like it with
/// `-wal` and `-shm` behind; they belong to it. On Unix, only the user that made it can read it.
#[derive(Clone)]
pub struct SqliteStore {
    shared: Arc<Shared>,
}

struct Shared {
    path: PathBuf,
    writer: Arc<Writer>,
    readers: Arc<Readers>,
    watcher: Watcher,
    workers: Arc<Workers>,
    /// The executions that this version cannot read, as far as the log has told so.
    unreadable: Mutex<HashSet<TaskId>>,
}

impl SqliteStore {
    /// Opens the store in this file, and creates it where there is none.
    ///
    /// # Errors
    ///
    /// Each says what to do about it: the folder does not exist, the file is a folder, not a
    /// database, a database of another program or of a newer version of this crate, it is locked or
    /// must not be written, or its file system cannot keep a write-ahead log.
    pub async fn open(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        let path = connection::place(path.as_ref())?;
        blocking(move || Self::open_blocking(path)).await
    }

    /// Does `hook` in the transaction of each group of writes, right before it is committed: for
    /// tests that stop a process there. Only the first hook counts.
    #[cfg(feature = "testing")]
    pub fn before_commit(&self, hook: impl Fn() + Send + Sync + 'static) {
        let _first = self.shared.writer.before_commit.hook.set(Box::new(hook));
    }

    /// Lets its workers beat in other pauses than those of 5 s, so that a test need not wait for half
    /// a minute until one that is stopped counts as dead. Call it before a server gets the store.
    #[cfg(feature = "testing")]
    pub fn beat_every(&self, every: Duration) {
        self.shared.workers.beat_every(every);
    }

    fn open_blocking(path: PathBuf) -> Result<Self, StoreError> {
        let connection = connection::writing(&path)?;
        let watching = connection::reading(&path)?;
        let seq = watching.query_row(statement::SEQ, [], |row| row.get(0));
        let seq = seq.map_err(|error| failure::Failure::new(&path, error))?;
        let watcher = Watcher::start(watching, seq)?;
        let identity = Arc::new(Identity::new(&path));
        let seen = watcher.seen().clone();
        let writer = Writer::new(path.clone(), identity.clone(), seen, connection);
        Ok(Self {
            shared: Arc::new(Shared {
                writer: writer.into(),
                readers: Readers::new(path.clone(), identity.clone()).into(),
                workers: Workers::new(&path, identity).into(),
                watcher,
                unreadable: Mutex::default(),
                path,
            }),
        })
    }
}

impl fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = &self.shared.path;
        f.debug_struct("SqliteStore")
            .field("path", path)
            .finish_non_exhaustive()
    }
}

impl Shared {
    /// What of the record `id` can be read. What a newer version wrote is for newer workers, and must
    /// not keep this one from the rest.
    fn readable(&self, id: TaskId, text: &str) -> Option<Arc<Record>> {
        match row::record(&id, text) {
            Ok(record) => Some(record),
            Err(error) => {
                let unreadable = self.unreadable.lock();
                if unreadable
                    .unwrap_or_else(PoisonError::into_inner)
                    .insert(id)
                {
                    tracing::error!(%error, "left a task to others");
                }
                None
            }
        }
    }

    /// The first `limit` records that are wanted and can be read.
    fn first(
        &self,
        mut rows: rusqlite::Rows<'_>,
        limit: usize,
        is_wanted: impl Fn(&rusqlite::Row<'_>) -> rusqlite::Result<bool>,
    ) -> rusqlite::Result<Vec<Arc<Record>>> {
        let mut first = Vec::new();
        while first.len() < limit
            && let Some(row) = rows.next()?
        {
            if is_wanted(row)? {
                first.extend(self.readable(id(row)?, row.get_ref(1)?.as_str()?));
            }
        }
        Ok(first)
    }

    async fn runnable(
        self: &Arc<Self>,
        query: Runnable<'_>,
    ) -> Result<Vec<Arc<Record>>, StoreError> {
        let (pool, now, limit) = (query.pool.to_owned(), row::millis(query.now), query.limit);
        let owned = |(tool, version): &(&str, &str)| ((*tool).to_owned(), (*version).to_owned());
        let tools: Vec<_> = query.tools.iter().map(owned).collect();
        let shared = self.clone();
        let due = self.readers.read(move |connection| {
            let mut statement = connection.prepare_cached(statement::RUNNABLE)?;
            let rows = statement.query(params![pool, now])?;
            shared.first(rows, limit, |row| can_run(row, &tools))
        });
        due.await
    }

    async fn alarmed(
        self: &Arc<Self>,
        now: Timestamp,
        limit: usize,
    ) -> Result<Vec<Arc<Record>>, StoreError> {
        let shared = self.clone();
        let alarmed = self.readers.read(move |connection| {
            let mut statement = connection.prepare_cached(statement::ALARMED)?;
            let rows = statement.query([row::millis(now)])?;
            shared.first(rows, limit, |_| Ok(true))
        });
        alarmed.await
    }

    async fn next_due(&self, pool: &str, now: Timestamp) -> Result<Option<Timestamp>, StoreError> {
        let pool = pool.to_owned();
        let next = self.readers.read(move |connection| {
            let mut statement = connection.prepare_cached(statement::NEXT_DUE)?;
            statement.query_row(params![pool, row::millis(now)], |row| {
                row.get::<_, Option<i64>>(0)
            })
        });
        Ok(next.await?.map(row::time))
    }

    async fn list(self: &Arc<Self>, query: Listing<'_>) -> Result<Vec<Arc<Record>>, StoreError> {
        let after = query.after.map_or("", TaskId::as_str).to_owned();
        let (limit, status) = (query.limit, query.status.map(row::status));
        let shared = self.clone();
        let listed = self.readers.read(move |connection| match status {
            None => {
                let mut statement = connection.prepare_cached(statement::LIST)?;
                shared.first(statement.query([after])?, limit, |_| Ok(true))
            }
            Some(status) => {
                let mut statement = connection.prepare_cached(statement::LIST_STATUS)?;
                shared.first(statement.query(params![after, status])?, limit, |_| {
                    Ok(true)
                })
            }
        });
        listed.await
    }

    async fn held(
        self: &Arc<Self>,
        worker: &str,
        limit: usize,
    ) -> Result<Vec<Arc<Record>>, StoreError> {
        let (shared, worker) = (self.clone(), worker.to_owned());
        let held = self.readers.read(move |connection| {
            let mut statement = connection.prepare_cached(statement::HELD)?;
            let rows = statement.query([worker])?;
            shared.first(rows, limit, |_| Ok(true))
        });
        held.await
    }

    async fn changes(&self, after: u64) -> Result<Changes, StoreError> {
        let after = i64::try_from(after).unwrap_or(i64::MAX);
        self.watcher.seen().after(after).await?;
        self.readers
            .read(move |connection| {
                // The number and the rows of one moment.
                let moment = connection.unchecked_transaction()?;
                let upto: i64 = moment
                    .prepare_cached(statement::SEQ)?
                    .query_row([], |row| row.get(0))?;
                let mut written = moment.prepare_cached(statement::WRITTEN_AFTER)?;
                let ids = written.query_map([after], id)?.collect::<Result<_, _>>()?;
                Ok(Changes {
                    upto: upto.cast_unsigned(),
                    ids,
                })
            })
            .await
    }
}

impl SqliteStore {
    /// The one number that a statement gives.
    async fn number(&self, statement: &'static str) -> Result<u64, StoreError> {
        let number = self.shared.readers.read(move |connection| {
            let mut statement = connection.prepare_cached(statement)?;
            statement.query_row([], |row| row.get::<_, i64>(0))
        });
        Ok(number.await?.cast_unsigned())
    }
}

impl Store for SqliteStore {
    fn insert(&self, creation: Creation) -> BoxFuture<'_, Result<Insertion, StoreError>> {
        Box::pin(async move {
            let id = creation.record.id().clone();
            let write = Write::Insert {
                row: Row::new(creation.record)?,
                journal: row::texts(&creation.journal)?,
                limit: i64::try_from(creation.limit).unwrap_or(i64::MAX),
            };
            if self.shared.writer.write(write).await? {
                Ok(Insertion::Done)
            } else if self.load(&id).await?.is_some() {
                Err(StoreError::new("there is a task with this id already"))
            } else {
                Ok(Insertion::Full)
            }
        })
    }

    fn load<'a>(
        &'a self,
        id: &'a TaskId,
    ) -> BoxFuture<'a, Result<Option<Arc<Record>>, StoreError>> {
        Box::pin(async move {
            let wanted = id.clone();
            let text = self.shared.readers.read(move |connection| {
                let mut statement = connection.prepare_cached(statement::LOAD)?;
                statement
                    .query_row([wanted.as_str()], |row| row.get(0))
                    .optional()
            });
            let text: Option<String> = text.await?;
            text.map(|text| row::record(id, &text)).transpose()
        })
    }

    fn journal<'a>(&'a self, id: &'a TaskId) -> BoxFuture<'a, Result<Vec<Entry>, StoreError>> {
        Box::pin(async move {
            let wanted = id.clone();
            let texts = self.shared.readers.read(move |connection| {
                let mut statement = connection.prepare_cached(statement::JOURNAL)?;
                let texts = statement.query_map([wanted.as_str()], |row| row.get(0))?;
                texts.collect::<Result<Vec<_>, _>>()
            });
            row::journal(id, &texts.await?)
        })
    }

    fn commit(&self, change: Change) -> BoxFuture<'_, Result<Swap, StoreError>> {
        Box::pin(async move {
            let write = Write::Commit {
                expected: change.expected,
                row: Row::new(change.record)?,
                journal: JournalText::new(&change.journal)?,
            };
            Ok(if self.shared.writer.write(write).await? {
                Swap::Done
            } else {
                Swap::Refused
            })
        })
    }

    fn runnable<'a>(
        &'a self,
        query: Runnable<'a>,
    ) -> BoxFuture<'a, Result<Vec<Arc<Record>>, StoreError>> {
        Box::pin(self.shared.runnable(query))
    }

    fn enlist<'a>(&'a self, worker: &'a str) -> BoxFuture<'a, Result<Life, StoreError>> {
        let (workers, path) = (self.shared.workers.clone(), self.shared.path.clone());
        let worker = worker.to_owned();
        Box::pin(blocking(move || workers.enlist(&path, &worker)))
    }

    fn deaths(&self, after: u64) -> BoxFuture<'_, Result<Deaths, StoreError>> {
        Box::pin(self.shared.workers.deaths(after))
    }

    fn held<'a>(
        &'a self,
        worker: &'a str,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<Arc<Record>>, StoreError>> {
        Box::pin(self.shared.held(worker, limit))
    }

    fn dismiss<'a>(&'a self, worker: &'a str) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            if !self.shared.workers.is_gone(worker) {
                return Ok(());
            }
            let dismissed = Write::Dismiss(worker.to_owned());
            let forgotten = self.shared.writer.write(dismissed).await?;
            if !forgotten && !self.shared.held(worker, 1).await?.is_empty() {
                // It took something while it was dismissed.
                self.shared.workers.announce();
                return Ok(());
            }
            self.shared.workers.dismissed(worker, forgotten);
            Ok(())
        })
    }

    fn alarmed(
        &self,
        now: Timestamp,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<Arc<Record>>, StoreError>> {
        Box::pin(self.shared.alarmed(now, limit))
    }

    fn next_due<'a>(
        &'a self,
        pool: &'a str,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<Option<Timestamp>, StoreError>> {
        Box::pin(self.shared.next_due(pool, now))
    }

    fn list<'a>(
        &'a self,
        query: Listing<'a>,
    ) -> BoxFuture<'a, Result<Vec<Arc<Record>>, StoreError>> {
        Box::pin(self.shared.list(query))
    }

    fn remove<'a>(&'a self, id: &'a TaskId) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            let removed = self.shared.writer.write(Write::Remove(id.clone())).await;
            removed.map(drop)
        })
    }

    fn live(&self) -> BoxFuture<'_, Result<u64, StoreError>> {
        Box::pin(self.number(statement::LIVE))
    }

    fn position(&self) -> BoxFuture<'_, Result<u64, StoreError>> {
        Box::pin(self.number(statement::SEQ))
    }

    fn changes(&self, after: u64) -> BoxFuture<'_, Result<Changes, StoreError>> {
        Box::pin(self.shared.changes(after))
    }

    fn is_durable(&self) -> bool {
        true
    }
}

fn id(row: &rusqlite::Row<'_>) -> rusqlite::Result<TaskId> {
    Ok(TaskId::from(row.get_ref(0)?.as_str()?))
}

/// Whether one of the `tools` can go on with the execution in this row.
fn can_run(row: &rusqlite::Row<'_>, tools: &[(String, String)]) -> rusqlite::Result<bool> {
    let tool = row.get_ref(2)?.as_str()?;
    let Some((_, version)) = tools.iter().find(|(name, _)| name == tool) else {
        return Ok(false);
    };
    Ok(match row.get_ref(3)? {
        ValueRef::Null => true,
        avoid => avoid.as_str()? != version,
    })
}

/// Does `work` on a thread that may wait.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => Err(StoreError::new(error)),
    }
}
