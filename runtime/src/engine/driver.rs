//! The driver of a server: goes on with what is due, forgets what is over, and stops what somebody
//! else ended, with nobody calling.

use std::sync::Arc;

use super::{PAUSE, Shared, machine::Event, runner::Claimed};
use crate::{
    host::Timestamp,
    journal::Entry,
    record::{Life, Record, TaskId},
    store::{Runnable, StoreError},
};

/// No more than this many are taken from the store at a time.
const BATCH: usize = 64;

/// Works until the server stops. It ends between two writes: a claim that is written has its leg,
/// which lets go of it in its turn.
pub(super) async fn drive(shared: Arc<Shared>) {
    let work = async {
        while let Err(error) = work(&shared).await {
            tracing::error!(%error, "the task store failed; trying again");
            tokio::select! {
                () = shared.closing.cancelled() => return,
                () = shared.host().pass(PAUSE) => {}
            }
        }
    };
    tokio::select! {
        biased;
        () = shared.stop.cancelled() => {}
        () = work => {}
    }
}

/// Does all that is due, then waits for the next write or the next due moment; and so on, until the
/// server stops.
async fn work(shared: &Arc<Shared>) -> Result<(), StoreError> {
    let store = &shared.ledger.store;
    // Whatever is written from here on ends the wait.
    let mut seen = store.position().await?;
    loop {
        // What becomes due behind this moment is waited for, so none is between the two.
        let looked = loop {
            if shared.closing.is_cancelled() {
                return Ok(());
            }
            let now = shared.host().now();
            if !(alarms(shared, now).await? | claims(shared, now).await?) {
                break now;
            }
        };
        let due = store.next_due(&shared.pool, looked).await?;
        tokio::select! {
            // A server that stops claims nothing any more, whatever is due in the same moment.
            biased;
            () = shared.closing.cancelled() => return Ok(()),
            changes = store.changes(seen) => {
                let changes = changes?;
                seen = changes.upto;
                stop_ended(shared, &changes.ids).await?;
            }
            () = shared.host().reached(due) => {}
        }
    }
}

/// Ends what is over, and forgets what was over long enough. Tells whether there was any.
async fn alarms(shared: &Shared, now: Timestamp) -> Result<bool, StoreError> {
    let alarmed = shared.ledger.store.alarmed(now, BATCH).await?;
    // One record that the store cannot write keeps the others from nothing.
    let mut failed = None;
    for record in &alarmed {
        if let Err(error) = alarm(shared, record, now).await {
            failed.get_or_insert(error);
        }
    }
    failed.map_or(Ok(!alarmed.is_empty()), Err)
}

async fn alarm(shared: &Shared, record: &Arc<Record>, now: Timestamp) -> Result<(), StoreError> {
    let id = record.id();
    match record.life {
        Life::Tombstone(until) if until <= now => shared.ledger.store.remove(id).await,
        _ => {
            let alarmed = shared.ledger.attempt(record.clone(), Event::Alarm).await?;
            // Its time may have become another one meanwhile.
            if alarmed.is_some_and(|record| record.life != Life::Present) {
                shared.raise(id);
            }
            Ok(())
        }
    }
}

/// Runs the next legs of what can run. Tells whether there was any.
async fn claims(shared: &Arc<Shared>, now: Timestamp) -> Result<bool, StoreError> {
    let tools: Vec<_> = shared
        .tools
        .values()
        .map(|tool| (tool.definition.name, tool.fingerprint.as_str()))
        .collect();
    let runnable = shared.ledger.store.runnable(Runnable {
        pool: &shared.pool,
        tools: &tools,
        now,
        limit: BATCH,
    });
    let runnable = runnable.await?;
    let some = !runnable.is_empty();
    let mut failed = None;
    for record in runnable {
        if shared.closing.is_cancelled() {
            break;
        }
        if let Err(error) = claim(shared, record).await {
            failed.get_or_insert(error);
        }
    }
    failed.map_or(Ok(some), Err)
}

async fn claim(shared: &Arc<Shared>, record: Arc<Record>) -> Result<(), StoreError> {
    if let Some((record, journal)) = shared.claim(record).await? {
        shared.spawn_leg(Claimed::unattended(record, journal));
    }
    Ok(())
}

/// Stops the legs here whose executions were ended elsewhere.
async fn stop_ended(shared: &Shared, ids: &[TaskId]) -> Result<(), StoreError> {
    for id in ids.iter().filter(|id| shared.is_running(id)) {
        let record = shared.ledger.store.load(id).await?;
        if record.is_none_or(|record| record.status().is_terminal()) {
            shared.raise(id);
        }
    }
    Ok(())
}

impl Shared {
    /// Claims the record, and gives it with its journal. `None` where it only woke up, gave up, or
    /// somebody else has it.
    pub(super) async fn claim(
        &self,
        record: Arc<Record>,
    ) -> Result<Option<(Arc<Record>, Vec<Entry>)>, StoreError> {
        let fence = record.fence;
        let claimed = self
            .ledger
            .attempt(record, Event::Claimed(self.lease()))
            .await?;
        let Some(record) = claimed.filter(|record| record.fence != fence) else {
            return Ok(None);
        };
        let journal = self.ledger.store.journal(record.id()).await?;
        Ok(Some((record, journal)))
    }
}
