//! What is left behind: by workers that died, and by a store that failed.

use std::sync::Arc;

use futures_util::future::try_join_all;

use super::{
    Shared,
    driver::BATCH,
    machine::{Event, Lost},
};
use crate::{
    record::{Record, TaskId},
    store::{DeadWorker, StoreError},
};

impl Shared {
    /// Takes from dead workers what they hold, so that others go on with it.
    pub(super) async fn recover(&self, dead: &[DeadWorker]) -> Result<(), StoreError> {
        for worker in dead {
            self.recover_from(worker).await?;
        }
        Ok(())
    }

    async fn recover_from(&self, dead: &DeadWorker) -> Result<(), StoreError> {
        let store = &self.ledger.store;
        let mut held = store.held(&dead.name, BATCH).await?;
        if held.len() > 1 {
            self.adrift().crowded.insert(dead.name.clone());
        }
        let crowded = self.adrift().crowded.contains(&dead.name);
        let alone = dead.certain && held.len() == 1 && !crowded;
        while !held.is_empty() {
            let lost = Lost {
                worker: dead.name.clone(),
                alone,
            };
            let take = |record| self.ledger.attempt(record, Event::Lost(lost.clone()));
            try_join_all(held.into_iter().map(take)).await?;
            held = store.held(&dead.name, BATCH).await?;
        }
        store.dismiss(&dead.name).await?;
        self.adrift().crowded.remove(&dead.name);
        Ok(())
    }

    /// Puts in order what a store that failed may have left behind. Tells whether there was any.
    pub(super) async fn sweep(&self) -> Result<bool, StoreError> {
        let (held, unwanted) = {
            let adrift = self.adrift();
            (adrift.held.clone(), adrift.unwanted.clone())
        };
        for id in &unwanted {
            self.ledger.store.remove(id).await?;
            self.adrift().unwanted.remove(id);
        }
        for id in &held {
            self.let_go_of(id).await?;
            self.adrift().held.remove(id);
        }
        Ok(!held.is_empty() || !unwanted.is_empty())
    }

    /// Lets go of an execution that this worker may hold without a leg.
    async fn let_go_of(&self, id: &TaskId) -> Result<(), StoreError> {
        let Some(record) = self.ledger.store.load(id).await? else {
            return Ok(());
        };
        if record.worker() != Some(&self.worker) || self.runs(&record) {
            return Ok(());
        }
        let lost = Lost {
            worker: self.worker.clone(),
            alone: false,
        };
        let let_go = self.ledger.attempt(record, Event::Lost(lost)).await;
        let_go.map(drop)
    }

    /// Whether the leg that holds the fence of `record` runs here.
    fn runs(&self, record: &Arc<Record>) -> bool {
        let running = self.running();
        let leg = running.get(record.id());
        leg.is_some_and(|(fence, _)| *fence == record.fence)
    }
}
