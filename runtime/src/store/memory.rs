//! A store in memory: for tests, and for servers whose tasks may end with the process.

use std::{
    collections::{BTreeSet, HashMap},
    ops::Bound::{Excluded, Unbounded},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::watch;

use super::{Change, Runnable, Store, StoreError, Swap};
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
    /// Counts the writes.
    writes: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct Tables {
    rows: HashMap<TaskId, Row>,
    /// By pool and the time from which on it can be claimed.
    runnable: BTreeSet<(Arc<str>, Timestamp, TaskId)>,
    expiring: BTreeSet<(Timestamp, TaskId)>,
    /// One allocation for each pool's name.
    pools: HashMap<String, Arc<str>>,
}

#[derive(Debug)]
struct Row {
    record: Arc<Record>,
    journal: Vec<Entry>,
}

impl MemoryStore {
    /// An empty store.
    pub fn new() -> Self {
        Self {
            shared: Arc::new(Shared {
                tables: Mutex::default(),
                writes: watch::Sender::new(1),
            }),
        }
    }

    fn tables(&self) -> MutexGuard<'_, Tables> {
        let tables = &self.shared.tables;
        tables.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wrote(&self) {
        self.shared.writes.send_modify(|count| *count += 1);
    }
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self::new()
    }
}

impl Tables {
    fn pool(&mut self, name: &str) -> Arc<str> {
        if let Some(pool) = self.pools.get(name) {
            return pool.clone();
        }
        let pool: Arc<str> = name.into();
        self.pools.insert(name.into(), pool.clone());
        pool
    }

    fn index(&mut self, record: &Record) {
        let index = record.index();
        if let Some(at) = index.runnable_at {
            let pool = self.pool(index.pool);
            self.runnable.insert((pool, at, record.id().clone()));
        }
        if let Some(at) = index.expires_at {
            self.expiring.insert((at, record.id().clone()));
        }
    }

    fn unindex(&mut self, record: &Record) {
        let index = record.index();
        if let Some(at) = index.runnable_at {
            let pool = self.pool(index.pool);
            self.runnable.remove(&(pool, at, record.id().clone()));
        }
        if let Some(at) = index.expires_at {
            self.expiring.remove(&(at, record.id().clone()));
        }
    }

    fn commit(&mut self, change: Change) -> Swap {
        let id = change.record.id();
        let Some(row) = self.rows.get_mut(id) else {
            return Swap::Refused;
        };
        if row.record.version() != change.expected {
            return Swap::Refused;
        }
        row.journal.extend(change.entries);
        let before = std::mem::replace(&mut row.record, change.record.clone());
        self.unindex(&before);
        self.index(&change.record);
        Swap::Done
    }

    fn runnable(&self, query: Runnable<'_>) -> Vec<Arc<Record>> {
        let Some(pool) = self.pools.get(query.pool) else {
            return Vec::new();
        };
        let first = (pool.clone(), Timestamp::from_millis(0), TaskId::from(""));
        let due = self
            .runnable
            .range(first..)
            .take_while(|(of, at, _)| of == pool && *at <= query.now);
        due.filter_map(|(_, _, id)| self.rows.get(id))
            .filter(|row| query.tools.contains(&row.record.index().tool))
            .take(query.limit)
            .map(|row| row.record.clone())
            .collect()
    }

    fn next_due(&self, pool: &str, now: Timestamp) -> Option<Timestamp> {
        let after = TaskId::from("\u{10ffff}");
        let runnable = self.pools.get(pool).and_then(|pool| {
            let behind = Excluded((pool.clone(), now, after.clone()));
            let (of, at, _) = self.runnable.range((behind, Unbounded)).next()?;
            (of == pool).then_some(*at)
        });
        let mut expiring = self.expiring.range((Excluded((now, after)), Unbounded));
        let expires = expiring.next().map(|(at, _)| *at);
        runnable.into_iter().chain(expires).min()
    }
}

impl Store for MemoryStore {
    fn insert(&self, record: Arc<Record>) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move {
            let mut tables = self.tables();
            let id = record.id().clone();
            if tables.rows.contains_key(&id) {
                return Err(StoreError::new("there is a task with this id already"));
            }
            tables.index(&record);
            let journal = Vec::new();
            tables.rows.insert(id, Row { record, journal });
            drop(tables);
            self.wrote();
            Ok(())
        })
    }

    fn load<'a>(
        &'a self,
        id: &'a TaskId,
    ) -> BoxFuture<'a, Result<Option<Arc<Record>>, StoreError>> {
        Box::pin(async move { Ok(self.tables().rows.get(id).map(|row| row.record.clone())) })
    }

    fn journal<'a>(&'a self, id: &'a TaskId) -> BoxFuture<'a, Result<Vec<Entry>, StoreError>> {
        Box::pin(async move {
            let tables = self.tables();
            let row = tables.rows.get(id);
            Ok(row.map(|row| row.journal.clone()).unwrap_or_default())
        })
    }

    fn commit(&self, change: Change) -> BoxFuture<'_, Result<Swap, StoreError>> {
        Box::pin(async move {
            let swap = self.tables().commit(change);
            if swap == Swap::Done {
                self.wrote();
            }
            Ok(swap)
        })
    }

    fn runnable<'a>(
        &'a self,
        query: Runnable<'a>,
    ) -> BoxFuture<'a, Result<Vec<Arc<Record>>, StoreError>> {
        Box::pin(async move { Ok(self.tables().runnable(query)) })
    }

    fn expired(
        &self,
        now: Timestamp,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<TaskId>, StoreError>> {
        Box::pin(async move {
            let tables = self.tables();
            let over = tables.expiring.iter().take_while(|(at, _)| *at <= now);
            Ok(over.take(limit).map(|(_, id)| id.clone()).collect())
        })
    }

    fn next_due<'a>(
        &'a self,
        pool: &'a str,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<Option<Timestamp>, StoreError>> {
        Box::pin(async move { Ok(self.tables().next_due(pool, now)) })
    }

    fn remove<'a>(&'a self, id: &'a TaskId) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            let mut tables = self.tables();
            if let Some(row) = tables.rows.remove(id) {
                tables.unindex(&row.record);
                drop(tables);
                self.wrote();
            }
            Ok(())
        })
    }

    fn changed(&self, seen: u64) -> BoxFuture<'_, Result<u64, StoreError>> {
        Box::pin(async move {
            let mut writes = self.shared.writes.subscribe();
            let count = writes.wait_for(|count| *count > seen).await;
            count.map(|count| *count).map_err(StoreError::new)
        })
    }

    fn is_durable(&self) -> bool {
        false
    }
}
