//! Following some tasks: as they are, and every change of them.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    sync::Arc,
};

use super::{Engine, PAUSE, Shared, news::Listener};
use crate::{
    record::{Record, TaskId},
    store::StoreError,
};

/// Some tasks that are followed.
pub(crate) struct Watch {
    shared: Arc<Shared>,
    ids: HashSet<TaskId>,
    /// What happens here.
    listener: Listener,
    /// The last write that was looked at, for what happens elsewhere.
    seen: Option<u64>,
    /// The last version of each that was given.
    versions: HashMap<TaskId, u64>,
    waiting: VecDeque<TaskId>,
}

impl Engine {
    /// Follows the tasks `ids`: gives each as it is, and again after every change of it.
    pub(crate) fn watch(&self, ids: &[TaskId]) -> Watch {
        Watch {
            shared: self.shared.clone(),
            ids: ids.iter().cloned().collect(),
            listener: self.shared.ledger.news.listen(ids.to_vec()),
            seen: None,
            versions: HashMap::new(),
            waiting: VecDeque::new(),
        }
    }

    /// Ready when no more work is taken.
    pub(crate) async fn closing(&self) {
        self.shared.closing.cancelled().await;
    }
}

impl Watch {
    /// The next of them that changed.
    pub(crate) async fn next(&mut self) -> Arc<Record> {
        loop {
            match self.look().await {
                Ok(record) => {
                    if let Some(record) = record.filter(|record| self.is_new(record)) {
                        return record;
                    }
                }
                Err(error) => {
                    tracing::error!(%error, "tasks cannot be followed; trying again");
                    self.shared.host().sleep(PAUSE).await;
                }
            }
        }
    }

    async fn look(&mut self) -> Result<Option<Arc<Record>>, StoreError> {
        let store = &self.shared.ledger.store;
        if let Some(id) = self.waiting.front() {
            let record = store.load(id).await?;
            self.waiting.pop_front();
            return Ok(record);
        }
        let Some(seen) = self.seen else {
            // What is written from here on is told after what is there now.
            self.seen = Some(store.position().await?);
            self.waiting.extend(self.ids.iter().cloned());
            return Ok(None);
        };
        tokio::select! {
            // In the order in which it happened; the store tells only where it led to.
            biased;
            record = self.listener.next() => Ok(Some(record)),
            changes = store.changes(seen) => {
                let changes = changes?;
                self.seen = Some(changes.upto);
                let ids = changes.ids.into_iter().filter(|id| self.ids.contains(id));
                self.waiting.extend(ids);
                Ok(None)
            }
        }
    }

    fn is_new(&mut self, record: &Record) -> bool {
        if !record.is_visible(self.shared.host().now()) {
            return false;
        }
        let version = self.versions.entry(record.id().clone()).or_default();
        let is_new = record.version() > *version;
        *version = record.version().max(*version);
        is_new
    }
}
