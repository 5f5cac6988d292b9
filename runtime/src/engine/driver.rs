//! The driver of a server: claims what can run and forgets what is over, with nobody calling.

use std::{sync::Arc, time::Duration};

use super::{Shared, later, ledger::Rejected, machine::Event};
use crate::{
    record::{Record, Status},
    store::{Runnable, StoreError},
};

/// No more than this many are claimed or forgotten at a time.
const BATCH: usize = 64;
/// How long to wait after the store failed.
const PAUSE: Duration = Duration::from_secs(1);

/// Works until the server stops.
pub(super) async fn drive(shared: Arc<Shared>) {
    let stop = shared.stop.clone();
    let work = async {
        let mut seen = 0;
        loop {
            match turn(&shared, seen).await {
                Ok(now_seen) => seen = now_seen,
                Err(error) => {
                    tracing::error!(%error, "the task store failed; trying again");
                    let host = shared.host();
                    host.sleep_until(later(host.now(), PAUSE)).await;
                }
            }
        }
    };
    tokio::select! {
        () = stop.cancelled() => {}
        () = work => {}
    }
}

/// Does all that is due, then waits for the next write or the next due moment. A write that comes
/// in between is later than `seen`, so the wait ends at once.
async fn turn(shared: &Arc<Shared>, seen: u64) -> Result<u64, StoreError> {
    let store = &shared.ledger.store;
    let tools: Vec<&str> = shared.tools.keys().copied().collect();
    loop {
        let now = shared.host().now();
        let expired = store.expired(now, BATCH).await?;
        let runnable = store
            .runnable(Runnable {
                pool: &shared.pool,
                tools: &tools,
                now,
                limit: BATCH,
            })
            .await?;
        if expired.is_empty() && runnable.is_empty() {
            break;
        }
        for id in &expired {
            shared.raise(id);
            store.remove(id).await?;
        }
        for record in runnable {
            claim(shared, record).await?;
        }
    }
    let due = store.next_due(&shared.pool, shared.host().now()).await?;
    let due_moment = async {
        match due {
            Some(due) => shared.host().sleep_until(due).await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        changed = store.changed(seen) => changed,
        () = due_moment => Ok(seen),
    }
}

/// Claims a record and runs its next leg, unless another worker was faster.
async fn claim(shared: &Arc<Shared>, record: Arc<Record>) -> Result<(), StoreError> {
    let claimed = shared.ledger.commit(record, Event::Claimed(shared.lease()));
    match claimed.await {
        Ok((record, _)) if record.status() == Status::Working => {
            let journal = shared.ledger.store.journal(record.id()).await?;
            shared.spawn_leg(record, journal);
            Ok(())
        }
        // It gave up, or somebody else has it.
        Ok(_) | Err(Rejected::Refused(_) | Rejected::Missing) => Ok(()),
        Err(Rejected::Store(error)) => Err(error),
    }
}
