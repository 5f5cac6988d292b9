//! A store that lets a test in between.

use std::{fmt, sync::Arc};

use siding::{
    host::{BoxFuture, Timestamp},
    journal::Entry,
    record::{Record, TaskId},
    store::{
        Change, Changes, Creation, DeadWorker, Deaths, Insertion, Life, Listing, Runnable, Store,
        StoreError, Swap,
    },
};
use tokio::sync::{Notify, Semaphore};

/// Where a test can get in between.
#[derive(Debug)]
pub(crate) enum Moment {
    /// It was looked for what can run.
    Looked,
    /// A new record is written, and nobody has heard of it yet.
    Inserted,
    /// A journal is about to be read.
    Journal,
    /// A change is about to be written.
    Committing(Change),
    /// A change is written, and nobody has heard of it yet.
    Committed(Arc<Record>),
}

/// Where a store holds a moment for a test.
pub(crate) struct Gate {
    reached: Notify,
    opened: Semaphore,
}

impl Gate {
    /// Waits until a moment is held.
    pub(crate) async fn reached(&self) {
        self.reached.notified().await;
    }

    /// Lets go of what is held, and holds nothing more.
    pub(crate) fn open(&self) {
        self.opened.add_permits(1);
    }
}

type Hook = dyn Fn(Moment) -> BoxFuture<'static, ()> + Send + Sync;

/// Another store that waits for a hook at each [`Moment`].
#[derive(Clone)]
pub(crate) struct HookedStore {
    store: Arc<dyn Store>,
    hook: Arc<Hook>,
    /// A worker that it takes for dead, whatever is true.
    dead: Option<DeadWorker>,
    /// When it hears of that death; at once if there is no gate.
    news: Option<Arc<Notify>>,
}

impl HookedStore {
    pub(crate) fn new(
        store: impl Store,
        hook: impl Fn(Moment) -> BoxFuture<'static, ()> + Send + Sync + 'static,
    ) -> Self {
        Self {
            store: Arc::new(store),
            hook: Arc::new(hook),
            dead: None,
            news: None,
        }
    }

    /// It takes this worker for dead, as one does that was stopped for long.
    pub(crate) fn believing_dead(mut self, worker: String) -> Self {
        let certain = false;
        self.dead = Some(DeadWorker {
            name: worker,
            certain,
        });
        self
    }

    /// It hears that the process of this worker is gone when `news` is notified.
    pub(crate) fn hearing_of_death(mut self, worker: String, news: Arc<Notify>) -> Self {
        let certain = true;
        self.dead = Some(DeadWorker {
            name: worker,
            certain,
        });
        self.news = Some(news);
        self
    }

    /// A store that holds every moment that `holds` names, until the gate is opened.
    pub(crate) fn gated(
        store: impl Store,
        holds: impl Fn(&Moment) -> bool + Send + Sync + 'static,
    ) -> (Self, Arc<Gate>) {
        let gate = Arc::new(Gate {
            reached: Notify::new(),
            opened: Semaphore::new(0),
        });
        let held = gate.clone();
        let store = Self::new(store, move |moment| {
            let (holds, gate) = (holds(&moment), held.clone());
            Box::pin(async move {
                if holds {
                    gate.reached.notify_one();
                    // It is given back at once, so whoever comes later passes.
                    let _passes = gate.opened.acquire().await.unwrap();
                }
            })
        });
        (store, gate)
    }
}

impl fmt::Debug for HookedStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HookedStore").finish_non_exhaustive()
    }
}

impl Store for HookedStore {
    fn insert(&self, creation: Creation) -> BoxFuture<'_, Result<Insertion, StoreError>> {
        Box::pin(async move {
            let inserted = self.store.insert(creation).await?;
            (self.hook)(Moment::Inserted).await;
            Ok(inserted)
        })
    }

    fn load<'a>(
        &'a self,
        id: &'a TaskId,
    ) -> BoxFuture<'a, Result<Option<Arc<Record>>, StoreError>> {
        self.store.load(id)
    }

    fn journal<'a>(&'a self, id: &'a TaskId) -> BoxFuture<'a, Result<Vec<Entry>, StoreError>> {
        Box::pin(async move {
            (self.hook)(Moment::Journal).await;
            self.store.journal(id).await
        })
    }

    fn commit(&self, change: Change) -> BoxFuture<'_, Result<Swap, StoreError>> {
        Box::pin(async move {
            (self.hook)(Moment::Committing(change.clone())).await;
            let record = change.record.clone();
            let swap = self.store.commit(change).await?;
            if swap == Swap::Done {
                (self.hook)(Moment::Committed(record)).await;
            }
            Ok(swap)
        })
    }

    fn runnable<'a>(
        &'a self,
        query: Runnable<'a>,
    ) -> BoxFuture<'a, Result<Vec<Arc<Record>>, StoreError>> {
        Box::pin(async move {
            let found = self.store.runnable(query).await?;
            (self.hook)(Moment::Looked).await;
            Ok(found)
        })
    }

    fn enlist<'a>(&'a self, worker: &'a str) -> BoxFuture<'a, Result<Life, StoreError>> {
        self.store.enlist(worker)
    }

    fn deaths(&self, after: u64) -> BoxFuture<'_, Result<Deaths, StoreError>> {
        match &self.dead {
            Some(dead) if after == 0 => {
                let deaths = Deaths {
                    upto: 1,
                    workers: vec![dead.clone()],
                };
                let news = self.news.clone();
                Box::pin(async move {
                    if let Some(news) = news {
                        news.notified().await;
                    }
                    Ok(deaths)
                })
            }
            _ => self.store.deaths(after),
        }
    }

    fn held<'a>(
        &'a self,
        worker: &'a str,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<Arc<Record>>, StoreError>> {
        self.store.held(worker, limit)
    }

    fn dismiss<'a>(&'a self, worker: &'a str) -> BoxFuture<'a, Result<(), StoreError>> {
        self.store.dismiss(worker)
    }

    fn alarmed(
        &self,
        now: Timestamp,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<Arc<Record>>, StoreError>> {
        self.store.alarmed(now, limit)
    }

    fn next_due<'a>(
        &'a self,
        pool: &'a str,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<Option<Timestamp>, StoreError>> {
        self.store.next_due(pool, now)
    }

    fn list<'a>(
        &'a self,
        query: Listing<'a>,
    ) -> BoxFuture<'a, Result<Vec<Arc<Record>>, StoreError>> {
        self.store.list(query)
    }

    fn remove<'a>(&'a self, id: &'a TaskId) -> BoxFuture<'a, Result<(), StoreError>> {
        self.store.remove(id)
    }

    fn live(&self) -> BoxFuture<'_, Result<u64, StoreError>> {
        self.store.live()
    }

    fn position(&self) -> BoxFuture<'_, Result<u64, StoreError>> {
        self.store.position()
    }

    fn changes(&self, after: u64) -> BoxFuture<'_, Result<Changes, StoreError>> {
        self.store.changes(after)
    }

    fn is_durable(&self) -> bool {
        self.store.is_durable()
    }
}
