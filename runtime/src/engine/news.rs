//! What happens to executions in this process, for those who listen.

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::mpsc;

use crate::record::{Record, TaskId};

/// A listener that is further behind than this misses changes; it still hears of the last one, by the
/// store.
const BACKLOG: usize = 64;

/// Tells listeners of every change that is committed here. Changes elsewhere are heard of by the
/// store, which may have seen several when it is asked.
#[derive(Clone, Default)]
pub(crate) struct News {
    listeners: Arc<Mutex<Listeners>>,
}

/// Those who listen, by the task.
type Listeners = HashMap<TaskId, Vec<mpsc::Sender<Arc<Record>>>>;

/// Changes of some tasks, until it is dropped.
pub(crate) struct Listener {
    news: News,
    ids: Vec<TaskId>,
    changes: mpsc::Receiver<Arc<Record>>,
}

impl News {
    /// Listens to changes of these executions.
    pub(crate) fn listen(&self, ids: Vec<TaskId>) -> Listener {
        let (sender, changes) = mpsc::channel(BACKLOG);
        let mut listeners = self.lock();
        for id in &ids {
            let of_task = listeners.entry(id.clone()).or_default();
            of_task.push(sender.clone());
        }
        drop(listeners);
        Listener {
            news: self.clone(),
            ids,
            changes,
        }
    }

    /// Tells those who listen that `record` was committed.
    pub(super) fn tell(&self, record: &Arc<Record>) {
        let listeners = self.lock();
        for listener in listeners.get(record.id()).into_iter().flatten() {
            // One that is full or gone hears of it later, or never.
            let _told = listener.try_send(record.clone());
        }
    }

    fn lock(&self) -> MutexGuard<'_, Listeners> {
        self.listeners
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl Listener {
    /// The next change.
    pub(crate) async fn next(&mut self) -> Arc<Record> {
        match self.changes.recv().await {
            Some(record) => record,
            // The senders are among the listeners as long as this is.
            None => std::future::pending().await,
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.changes.close();
        let mut listeners = self.news.lock();
        for id in &self.ids {
            if let Some(of_task) = listeners.get_mut(id) {
                of_task.retain(|listener| !listener.is_closed());
                if of_task.is_empty() {
                    listeners.remove(id);
                }
            }
        }
    }
}

impl fmt::Debug for News {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("News").finish_non_exhaustive()
    }
}
