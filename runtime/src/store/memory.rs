//! A store in memory: for tests, and for servers whose tasks may end with the process.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    mem,
    ops::Bound::{Excluded, Unbounded},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::watch;

use super::{
    Change, Changes, Creation, DeadWorker, Deaths, Insertion, JournalChange, Life, Listing,
    Runnable, Store, StoreError, Swap,
};
use crate::{
    host::{BoxFuture, Timestamp},
    journal::Entry,
    record::{Record, TaskId},
};

/// Keeps executions in memory. Clones share it; its tasks end with the process.
#[derive(Clone, Debug)]
pub struct MemoryStore {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    /// Never held across an await.
    tables: Mutex<Tables>,
    /// The number of the last write.
    writes: watch::Sender<u64>,
    /// How many workers died.
    deaths: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct Tables {
    rows: BTreeMap<TaskId, Row>,
    /// By pool and the time from which on it is due.
    due: BTreeSet<(Arc<str>, Timestamp, TaskId)>,
    alarms: BTreeSet<(Timestamp, TaskId)>,
    /// By the worker that holds it.
    held: BTreeSet<(Arc<str>, TaskId)>,
    /// The workers that died and may still hold something.
    dead: BTreeSet<String>,
    /// How many have not ended.
    live: u64,
    /// By the number of the last write.
    written: BTreeMap<u64, TaskId>,
    /// One allocation for each name of a pool or a worker.
    names: HashMap<String, Arc<str>>,
}

#[derive(Debug)]
struct Row {
    record: Arc<Record>,
    journal: Vec<Entry>,
    /// The number of its last write.
    written: u64,
}

impl MemoryStore {
    /// An empty store.
    pub fn new() -> Self {
        Self {
            shared: Arc::new(Shared {
                tables: Mutex::default(),
                writes: watch::Sender::new(0),
                deaths: watch::Sender::new(1),
            }),
        }
    }

    fn tables(&self) -> MutexGuard<'_, Tables> {
        let tables = &self.shared.tables;
        tables.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does `work` as one write, and tells those who wait for it.
    fn write<T>(&self, work: impl FnOnce(&mut Tables, u64) -> T) -> T {
        let mut tables = self.tables();
        // Numbers are given under the lock, so that they rise with the writes.
        let number = *self.shared.writes.borrow() + 1;
        let done = work(&mut tables, number);
        self.shared.writes.send_replace(number);
        done
    }
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self::new()
    }
}

impl Tables {
    fn name(&mut self, name: &str) -> Arc<str> {
        if let Some(known) = self.names.get(name) {
            return known.clone();
        }
        let known: Arc<str> = name.into();
        self.names.insert(name.into(), known.clone());
        known
    }

    fn index(&mut self, record: &Record, written: u64) {
        let index = record.index();
        if let Some(at) = index.due_at {
            let pool = self.name(index.pool);
            self.due.insert((pool, at, record.id().clone()));
        }
        if let Some(at) = index.alarm_at {
            self.alarms.insert((at, record.id().clone()));
        }
        if let Some(worker) = index.worker {
            let worker = self.name(worker);
            self.held.insert((worker, record.id().clone()));
        }
        self.written.insert(written, record.id().clone());
        self.live += u64::from(!record.status().is_terminal());
    }

    fn unindex(&mut self, record: &Record, written: u64) {
        let index = record.index();
        if let Some(at) = index.due_at {
            let pool = self.name(index.pool);
            self.due.remove(&(pool, at, record.id().clone()));
        }
        if let Some(at) = index.alarm_at {
            self.alarms.remove(&(at, record.id().clone()));
        }
        if let Some(worker) = index.worker {
            let worker = self.name(worker);
            self.held.remove(&(worker, record.id().clone()));
        }
        self.written.remove(&written);
        self.live -= u64::from(!record.status().is_terminal());
    }

    fn insert(&mut self, creation: Creation, number: u64) -> Result<Insertion, StoreError> {
        let Creation {
            record,
            journal,
            limit,
        } = creation;
        let id = record.id().clone();
        if self.rows.contains_key(&id) {
            return Err(StoreError::new("there is a task with this id already"));
        }
        if self.live >= limit {
            return Ok(Insertion::Full);
        }
        self.index(&record, number);
        let row = Row {
            record,
            journal,
            written: number,
        };
        self.rows.insert(id, row);
        Ok(Insertion::Done)
    }

    fn commit(&mut self, change: Change, number: u64) -> Swap {
        let Some(row) = self.rows.get_mut(change.record.id()) else {
            return Swap::Refused;
        };
        if row.record.version() != change.expected {
            return Swap::Refused;
        }
        match change.journal {
            JournalChange::Append(entries) => row.journal.extend(entries),
            JournalChange::Clear => row.journal = Vec::new(),
        }
        let before = mem::replace(&mut row.record, change.record.clone());
        let written = mem::replace(&mut row.written, number);
        self.unindex(&before, written);
        self.index(&change.record, number);
        Swap::Done
    }

    fn remove(&mut self, id: &TaskId) {
        if let Some(row) = self.rows.remove(id) {
            self.unindex(&row.record, row.written);
        }
    }

    fn records<'a>(
        &'a self,
        ids: impl Iterator<Item = &'a TaskId> + 'a,
    ) -> impl Iterator<Item = Arc<Record>> + 'a {
        ids.filter_map(|id| Some(self.rows.get(id)?.record.clone()))
    }

    fn runnable(&self, query: Runnable<'_>) -> Vec<Arc<Record>> {
        let Some(pool) = self.names.get(query.pool) else {
            return Vec::new();
        };
        let first = (pool.clone(), Timestamp::from_millis(0), TaskId::from(""));
        let due = self.due.range(first..);
        let due = due.take_while(|(of, at, _)| of == pool && *at <= query.now);
        let can_run = |record: &Arc<Record>| {
            let index = record.index();
            let version = query.tools.iter().find(|(tool, _)| *tool == index.tool);
            version.is_some_and(|(_, fingerprint)| index.avoid != Some(fingerprint))
        };
        let records = self.records(due.map(|(_, _, id)| id));
        records.filter(can_run).take(query.limit).collect()
    }

    /// The records that `worker` holds.
    fn held<'a>(&'a self, worker: &str) -> impl Iterator<Item = Arc<Record>> + 'a {
        let worker = self.names.get(worker);
        let held = worker.into_iter().flat_map(|worker| {
            let held = self.held.range((worker.clone(), TaskId::from(""))..);
            held.take_while(move |(of, _)| of == worker)
        });
        self.records(held.map(|(_, id)| id))
    }

    fn alarmed(&self, now: Timestamp, limit: usize) -> Vec<Arc<Record>> {
        let over = self.alarms.iter().take_while(|(at, _)| *at <= now);
        self.records(over.map(|(_, id)| id)).take(limit).collect()
    }

    fn next_due(&self, pool: &str, now: Timestamp) -> Option<Timestamp> {
        let after = TaskId::from("\u{10ffff}");
        let due = self.names.get(pool).and_then(|pool| {
            let behind = Excluded((pool.clone(), now, after.clone()));
            let (of, at, _) = self.due.range((behind, Unbounded)).next()?;
            (of == pool).then_some(*at)
        });
        let mut alarms = self.alarms.range((Excluded((now, after)), Unbounded));
        let alarm = alarms.next().map(|(at, _)| *at);
        due.into_iter().chain(alarm).min()
    }

    fn list(&self, query: Listing<'_>) -> Vec<Arc<Record>> {
        let from = query.after.map_or(Unbounded, Excluded);
        let rows = self.rows.range::<TaskId, _>((from, Unbounded));
        let records = rows.map(|(_, row)| &row.record);
        let wanted = |record: &&Arc<Record>| query.status.is_none_or(|is| record.status() == is);
        records.filter(wanted).take(query.limit).cloned().collect()
    }
}

impl Store for MemoryStore {
    fn insert(&self, creation: Creation) -> BoxFuture<'_, Result<Insertion, StoreError>> {
        ready(move || self.write(|tables, number| tables.insert(creation, number)))
    }

    fn load<'a>(
        &'a self,
        id: &'a TaskId,
    ) -> BoxFuture<'a, Result<Option<Arc<Record>>, StoreError>> {
        ready(move || Ok(self.tables().rows.get(id).map(|row| row.record.clone())))
    }

    fn journal<'a>(&'a self, id: &'a TaskId) -> BoxFuture<'a, Result<Vec<Entry>, StoreError>> {
        ready(move || {
            let tables = self.tables();
            let row = tables.rows.get(id);
            Ok(row.map(|row| row.journal.clone()).unwrap_or_default())
        })
    }

    fn commit(&self, change: Change) -> BoxFuture<'_, Result<Swap, StoreError>> {
        ready(move || Ok(self.write(|tables, number| tables.commit(change, number))))
    }

    fn runnable<'a>(
        &'a self,
        query: Runnable<'a>,
    ) -> BoxFuture<'a, Result<Vec<Arc<Record>>, StoreError>> {
        ready(move || Ok(self.tables().runnable(query)))
    }

    fn enlist<'a>(&'a self, worker: &'a str) -> BoxFuture<'a, Result<Life, StoreError>> {
        ready(move || {
            Ok(Life::new(Alive {
                store: self.clone(),
                worker: worker.into(),
            }))
        })
    }

    fn deaths(&self, after: u64) -> BoxFuture<'_, Result<Deaths, StoreError>> {
        Box::pin(async move {
            let mut deaths = self.shared.deaths.subscribe();
            let waited = deaths.wait_for(|number| *number > after).await;
            let upto = *waited.map_err(StoreError::new)?;
            let dead = self.tables().dead.clone();
            let workers = dead.into_iter().map(|name| DeadWorker {
                name,
                certain: true,
            });
            Ok(Deaths {
                upto,
                workers: workers.collect(),
            })
        })
    }

    fn held<'a>(
        &'a self,
        worker: &'a str,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<Arc<Record>>, StoreError>> {
        ready(move || Ok(self.tables().held(worker).take(limit).collect()))
    }

    fn dismiss<'a>(&'a self, worker: &'a str) -> BoxFuture<'a, Result<(), StoreError>> {
        ready(move || {
            let mut tables = self.tables();
            if tables.held(worker).next().is_none() {
                tables.dead.remove(worker);
                tables.names.remove(worker);
            }
            Ok(())
        })
    }

    fn alarmed(
        &self,
        now: Timestamp,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<Arc<Record>>, StoreError>> {
        ready(move || Ok(self.tables().alarmed(now, limit)))
    }

    fn next_due<'a>(
        &'a self,
        pool: &'a str,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<Option<Timestamp>, StoreError>> {
        ready(move || Ok(self.tables().next_due(pool, now)))
    }

    fn list<'a>(
        &'a self,
        query: Listing<'a>,
    ) -> BoxFuture<'a, Result<Vec<Arc<Record>>, StoreError>> {
        ready(move || Ok(self.tables().list(query)))
    }

    fn remove<'a>(&'a self, id: &'a TaskId) -> BoxFuture<'a, Result<(), StoreError>> {
        ready(move || {
            self.write(|tables, _| tables.remove(id));
            Ok(())
        })
    }

    fn live(&self) -> BoxFuture<'_, Result<u64, StoreError>> {
        ready(move || Ok(self.tables().live))
    }

    fn position(&self) -> BoxFuture<'_, Result<u64, StoreError>> {
        ready(move || Ok(*self.shared.writes.borrow()))
    }

    fn changes(&self, after: u64) -> BoxFuture<'_, Result<Changes, StoreError>> {
        Box::pin(async move {
            let mut writes = self.shared.writes.subscribe();
            let waited = writes.wait_for(|number| *number > after).await;
            let upto = *waited.map_err(StoreError::new)?;
            let tables = self.tables();
            let written = tables.written.range(after + 1..);
            let ids = written.map(|(_, id)| id.clone()).collect();
            Ok(Changes { upto, ids })
        })
    }

    fn is_durable(&self) -> bool {
        false
    }
}

/// A worker of this process, for as long as it lives.
struct Alive {
    store: MemoryStore,
    worker: String,
}

impl Drop for Alive {
    fn drop(&mut self) {
        let mut tables = self.store.tables();
        tables.dead.insert(mem::take(&mut self.worker));
        drop(tables);
        self.store.shared.deaths.send_modify(|number| *number += 1);
    }
}

/// A future that does its work when it is polled, without waiting.
fn ready<'a, T>(
    work: impl FnOnce() -> Result<T, StoreError> + Send + 'a,
) -> BoxFuture<'a, Result<T, StoreError>> {
    Box::pin(async move { work() })
}
