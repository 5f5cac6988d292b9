//! The driver of a server: goes on with what is due, forgets what is over, and stops what somebody
//! else ended, with nobody calling.

use std::{collections::HashMap, sync::Arc, time::Duration};

use futures_util::future::{join_all, try_join_all};

use super::{
    PAUSE, Shared,
    machine::Event,
    runner::Claimed,
    trials::{Group, Trials},
};
use crate::{
    host::{BoxFuture, Timestamp},
    journal::Entry,
    record::{Closing, Lease, Life, Record, TaskId},
    store::{JournalChange, Runnable, StoreError},
};

/// No more than this many are taken from the store at a time.
pub(super) const BATCH: usize = 64;
/// What lived so long after its last worker died did not kill it.
const LIVED: Duration = Duration::from_secs(5);
/// How long a task that killed its worker waits until nothing else would die with it.
const QUIET: Duration = Duration::from_secs(30);

/// Works until the server stops. It ends between two writes: a claim that is written has its leg,
/// which lets go of it in its turn.
pub(super) async fn drive(shared: Arc<Shared>) {
    let work = async {
        let mut driver = Driver::default();
        while let Err(error) = driver.work(&shared).await {
            tracing::error!(%error, "the task store failed; trying again");
            tokio::select! {
                () = shared.closing.cancelled() => return,
                () = shared.host().sleep(PAUSE) => {}
            }
        }
    };
    tokio::select! {
        biased;
        () = shared.stop.cancelled() => {}
        () = work => {}
    }
}

/// Executions by the versions that cannot be read here.
type LeftAlone = HashMap<TaskId, u64>;

/// What the driver knows that is in no store.
#[derive(Default)]
struct Driver {
    /// The versions of those whose journals cannot be read here.
    left_alone: LeftAlone,
    /// The last write that was looked at; what comes behind it is looked at also after a failure.
    seen: Option<u64>,
    trials: Trials,
    /// Ends a trial in which nothing died, or the patience with one that does not get its turn.
    moment: Option<BoxFuture<'static, ()>>,
    /// Whether one that killed its worker has waited long enough for its turn.
    is_impatient: bool,
}

impl Driver {
    /// Does all that is due, then waits for the next write or the next due moment; and so on, until
    /// the server stops.
    async fn work(&mut self, shared: &Arc<Shared>) -> Result<(), StoreError> {
        // From here on others notice if this worker dies.
        shared.lease().await?;
        let store = &shared.ledger.store;
        // Whatever is written from here on ends the wait.
        let seen = match self.seen {
            Some(seen) => seen,
            None => store.position().await?,
        };
        self.seen = Some(seen);
        // They go on while there is work: under a load without end, too, deaths and cancels are heard.
        let (mut deaths, mut changes) = (store.deaths(0), store.changes(seen));
        loop {
            if shared.closing.is_cancelled() {
                return Ok(());
            }
            // What becomes due behind this moment is waited for, so none is between the two.
            let now = shared.host().now();
            let worked = shared.sweep().await?
                | self.claims(shared, now).await?
                | alarms(shared, &self.left_alone, now).await?;
            let due = if worked {
                None
            } else {
                store.next_due(&shared.pool, now).await?
            };
            tokio::select! {
                // A server that stops claims nothing any more, whatever is due in the same moment.
                biased;
                () = shared.closing.cancelled() => return Ok(()),
                died = &mut deaths => {
                    let died = died?;
                    shared.recover(&died.workers).await?;
                    deaths = store.deaths(died.upto);
                }
                written = &mut changes => {
                    let written = written?;
                    stop_ended(shared, &written.ids).await?;
                    self.look_at_trials(shared).await?;
                    self.seen = Some(written.upto);
                    changes = store.changes(written.upto);
                }
                () = reached(&mut self.moment) => {
                    self.moment = None;
                    self.is_impatient = !self.trials.is_trying();
                    self.trials.have_lived();
                }
                () = shared.wake.notified() => {}
                () = shared.host().reached(due) => {}
                () = std::future::ready(()), if worked => {}
            }
        }
    }

    /// Runs the next legs of what can run. Tells whether there was any.
    async fn claims(&mut self, shared: &Arc<Shared>, now: Timestamp) -> Result<bool, StoreError> {
        let tools: Vec<_> = shared
            .tools
            .values()
            .map(|tool| (tool.definition.name, tool.fingerprint.as_str()))
            .collect();
        let mut limit = BATCH;
        let (group, innocent) = loop {
            let runnable = shared.ledger.store.runnable(Runnable {
                pool: &shared.pool,
                tools: &tools,
                now,
                limit,
            });
            let runnable = runnable.await?;
            let is_all = runnable.len() < limit;
            let readable = runnable
                .into_iter()
                .filter(|record| !leaves_alone(&self.left_alone, record));
            let (suspects, innocent): (Vec<_>, Vec<_>) =
                readable.partition(|record| record.suspect.is_some());
            let group = self.next_trial(shared, suspects);
            // What cannot begin yet is not in the way of what can.
            if is_all || !innocent.is_empty() || !group.suspects.is_empty() {
                break (group, innocent);
            }
            limit *= 4;
        };
        let some = !innocent.is_empty() || !group.suspects.is_empty();
        let lease = shared.lease().await?;
        let trial = Lease {
            trial: Some(group.size),
            ..lease.clone()
        };
        let since = shared.host().steady();
        let claim = |lease: &Lease, record: Arc<Record>| {
            let lease = lease.clone();
            async move { (record.clone(), shared.claim(record, lease).await) }
        };
        let innocent = innocent
            .into_iter()
            .take(BATCH)
            .map(|record| claim(&lease, record));
        let tried = group
            .suspects
            .into_iter()
            .map(|record| claim(&trial, record));
        let (innocent, tried) = tokio::join!(join_all(innocent), join_all(tried));
        let mut failed = None;
        let mut began = Vec::new();
        let count = innocent.len();
        for (index, (record, claimed)) in innocent.into_iter().chain(tried).enumerate() {
            match claimed {
                Ok(Some((record, journal))) => {
                    if index >= count {
                        began.push((record.id().clone(), record.fence));
                    }
                    shared.spawn_leg(Claimed::unattended(record, journal, since));
                }
                Ok(None) => {}
                Err(error) if error.is_unreadable() => {
                    tracing::error!(task = %record.id(), %error, "left a task to others");
                    self.left_alone
                        .insert(record.id().clone(), record.version());
                }
                Err(error) => drop(failed.get_or_insert(error)),
            }
        }
        if !began.is_empty() {
            self.is_impatient = false;
            self.moment = Some(shared.host().sleep(LIVED));
            self.trials.begin(group.size, began);
        }
        failed.map_or(Ok(some), Err)
    }

    fn next_trial(&mut self, shared: &Shared, suspects: Vec<Arc<Record>>) -> Group {
        if suspects.is_empty() {
            if !self.trials.is_trying() {
                self.trials.are_over();
                self.is_impatient = false;
            }
            return Group::default();
        }
        let is_quiet = self.is_impatient || shared.running().is_empty();
        let group = self.trials.next(suspects, is_quiet);
        if group.suspects.is_empty() && self.moment.is_none() {
            self.moment = Some(shared.host().sleep(QUIET));
        }
        group
    }

    /// Sees which of those that are tried have made an entry, parked or ended.
    async fn look_at_trials(&mut self, shared: &Shared) -> Result<(), StoreError> {
        if !self.trials.is_trying() {
            return Ok(());
        }
        for (id, fence) in self.trials.under().to_vec() {
            let record = shared.ledger.store.load(&id).await?;
            let still_tried = record.is_some_and(|record| {
                let trial = record.lease.as_ref().and_then(|lease| lease.trial);
                record.fence == fence && trial.is_some()
            });
            if !still_tried {
                self.trials.has_shown(&id);
            }
        }
        if !self.trials.is_trying() {
            self.moment = None;
        }
        Ok(())
    }
}

async fn reached(moment: &mut Option<BoxFuture<'static, ()>>) {
    match moment {
        Some(moment) => moment.await,
        None => std::future::pending().await,
    }
}

/// Ends what is over, and forgets what was over long enough. Tells whether there was any.
async fn alarms(
    shared: &Shared,
    left_alone: &LeftAlone,
    now: Timestamp,
) -> Result<bool, StoreError> {
    let mut limit = BATCH;
    let alarmed: Vec<_> = loop {
        let alarmed = shared.ledger.store.alarmed(now, limit).await?;
        let is_all = alarmed.len() < limit;
        // What can still be cleaned up here is claimed instead.
        let is_claimed =
            |record: &Record| shared.can_clean_up(record) && !leaves_alone(left_alone, record);
        let alarmed = alarmed.into_iter().filter(|record| !is_claimed(record));
        let alarmed: Vec<_> = alarmed.take(BATCH).collect();
        if is_all || !alarmed.is_empty() {
            break alarmed;
        }
        limit *= 4;
    };
    // One record that the store cannot write keeps the others from nothing.
    let done = join_all(alarmed.iter().map(|record| alarm(shared, record, now))).await;
    done.into_iter().collect::<Result<Vec<()>, _>>()?;
    Ok(!alarmed.is_empty())
}

fn leaves_alone(left_alone: &LeftAlone, record: &Record) -> bool {
    left_alone.get(record.id()) == Some(&record.version())
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

/// Stops the legs here whose executions were ended elsewhere, or that others go on with.
async fn stop_ended(shared: &Shared, ids: &[TaskId]) -> Result<(), StoreError> {
    let running: Vec<_> = {
        let running = shared.running();
        let fence = |id: &TaskId| Some((id.clone(), running.get(id)?.0));
        ids.iter().filter_map(fence).collect()
    };
    let now = shared.host().now();
    let stops = running.into_iter().map(async |(id, fence)| {
        let record = shared.ledger.store.load(&id).await?;
        let goes_on = record.is_some_and(|record| {
            let is_over = record.status().is_terminal() || record.is_expired(now);
            let is_ours = record.worker() == Some(&shared.worker);
            record.fence == fence && is_ours && !is_over
        });
        if !goes_on {
            shared.raise_if(&id, fence);
        }
        Ok::<_, StoreError>(())
    });
    try_join_all(stops).await.map(drop)
}

impl Shared {
    /// Claims the record, and gives it with its journal. `None` if it only woke up, or somebody else
    /// has it. The journal is read before: what cannot be read here is not held either.
    pub(super) async fn claim(
        &self,
        record: Arc<Record>,
        lease: Lease,
    ) -> Result<Option<(Arc<Record>, Vec<Entry>)>, StoreError> {
        let (id, fence) = (record.id().clone(), record.fence);
        let mut journal = self.ledger.store.journal(&id).await?;
        let claimed = self.ledger.swap(&record, Event::Claimed(lease)).await;
        let Some((record, added)) = claimed.inspect_err(|_| self.orphaned(&id))? else {
            return Ok(None);
        };
        if let JournalChange::Append(entries) = added {
            journal.extend(entries);
        }
        Ok((record.fence != fence).then_some((record, journal)))
    }

    /// Whether the execution waits to be cleaned up by a tool that is here.
    fn can_clean_up(&self, record: &Record) -> bool {
        matches!(record.closing, Some(Closing::Due(_)))
            && record.drift.is_none()
            && record.origin.pool == self.pool
            && self.tools.contains_key(record.origin.tool.as_str())
    }
}
