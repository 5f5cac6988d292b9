//! A worker's hold on an execution: the fence that it got with its claim.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use backon::{BackoffBuilder, ExponentialBuilder};
use tokio_util::sync::CancellationToken;

use super::{
    ledger::{Ledger, Rejected},
    leg::{Fault, Parking},
    machine::{Event, LegEvent, Refusal, Release, Told},
};
use crate::{
    journal::Entry,
    record::{Drift, End, Record},
    store::StoreError,
};

/// Lets one leg write to its execution, for as long as no other leg has claimed it.
///
/// What happened is never thrown away because the store failed: it is written again for as long as
/// the fence holds, and the leg waits.
#[derive(Debug)]
pub(crate) struct Hold {
    ledger: Ledger,
    fence: u64,
    /// The record as this leg last wrote or read it.
    latest: Mutex<Arc<Record>>,
    /// When the store last said that the fence holds, by the steady clock.
    confirmed: Mutex<Duration>,
    /// Raised when the process is about to end, and waits for no store any more.
    hurry: CancellationToken,
    /// One write at a time: each has its number.
    writing: tokio::sync::Mutex<Writing>,
}

#[derive(Debug, Default)]
struct Writing {
    /// The number of the last write that is in the store.
    written: u64,
    /// What is to be written before anything else: the one who wrote it was dropped meanwhile.
    unheard: Option<LegEvent>,
}

impl Hold {
    /// The hold on `record`, which the store was asked for at `since`.
    pub(super) fn new(
        ledger: Ledger,
        record: Arc<Record>,
        since: Duration,
        hurry: CancellationToken,
    ) -> Self {
        Self {
            confirmed: since.into(),
            ledger,
            fence: record.fence,
            latest: Mutex::new(record),
            hurry,
            writing: tokio::sync::Mutex::default(),
        }
    }

    /// Journals the entries that `take` gives when it is their turn. From then on they are kept here:
    /// dropping the future loses nothing.
    pub(super) async fn progress(&self, take: impl FnOnce() -> Vec<Entry>) -> Result<(), Fault> {
        let mut writing = self.writing.lock().await;
        self.write_unheard(&mut writing).await?;
        let entries = take();
        if entries.is_empty() {
            return self.confirm().await;
        }
        writing.unheard = Some(LegEvent::Progressed(entries));
        self.write_unheard(&mut writing).await
    }

    /// Writes what is only told: once, beside whatever else is written.
    pub(super) async fn tell(&self, told: Told) -> Result<(), StoreError> {
        match self.commit(LegEvent::Told(told), 0).await {
            Err(Fault::Store(error)) => Err(error),
            // Nobody looks at it any more.
            Ok(()) | Err(_) => Ok(()),
        }
    }

    pub(super) async fn park(
        &self,
        parking: Parking,
        told: Told,
        cut_off: bool,
    ) -> Result<(), Fault> {
        let round = (!self.latest().is_task()).then(|| self.ledger.random_name());
        let parked = LegEvent::Parked {
            parking,
            round,
            told,
            cut_off,
        };
        self.write(parked).await
    }

    /// Makes the execution a task.
    pub(super) async fn detach(&self) -> Result<(), Fault> {
        self.write(LegEvent::Detached).await
    }

    pub(super) async fn finish(&self, end: End, told: Told, cut_off: bool) -> Result<(), Fault> {
        self.write(LegEvent::Finished { end, told, cut_off }).await
    }

    pub(super) async fn fail(&self, end: End, why: String, cut_off: bool) -> Result<(), Fault> {
        self.write(LegEvent::Failed { end, why, cut_off }).await
    }

    pub(super) async fn drift(&self, drift: Drift) -> Result<(), Fault> {
        self.write(LegEvent::Drifted(drift)).await
    }

    /// Lets another worker go on at once.
    pub(super) async fn release(&self, release: Release) -> Result<(), Fault> {
        self.write(LegEvent::Released(release)).await
    }

    /// Writes what the leg was about to write when it was dropped.
    pub(super) async fn settle(&self) -> Result<(), Fault> {
        let mut writing = self.writing.lock().await;
        self.write_unheard(&mut writing).await
    }

    /// The record as this leg knows it.
    pub(super) fn latest(&self) -> Arc<Record> {
        self.latest
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    async fn write(&self, event: LegEvent) -> Result<(), Fault> {
        let mut writing = self.writing.lock().await;
        self.write_unheard(&mut writing).await?;
        writing.unheard = Some(event);
        self.write_unheard(&mut writing).await
    }

    /// Makes sure that the fence still holds, unless the store has just said so: a process that was
    /// stopped may have been taken for dead meanwhile.
    async fn confirm(&self) -> Result<(), Fault> {
        let now = self.ledger.host.steady();
        if now.saturating_sub(*self.confirmed()) < STALE {
            return Ok(());
        }
        let id = self.latest().id().clone();
        let loaded = self.ledger.load(&id).await;
        match loaded {
            Ok(record) if record.fence == self.fence && record.lease.is_some() => {
                *self.confirmed() = now;
                Ok(())
            }
            // The outcome of the step will meet the same store, and is kept.
            Err(Rejected::Store(_)) => Ok(()),
            Ok(_) | Err(_) => Err(Fault::Superseded),
        }
    }

    fn confirmed(&self) -> MutexGuard<'_, Duration> {
        self.confirmed
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes again and again until the store took it, or the fence is another's. When the process is
    /// about to end, it is tried once more.
    async fn write_unheard(&self, writing: &mut Writing) -> Result<(), Fault> {
        let Some(event) = writing.unheard.clone() else {
            return Ok(());
        };
        let number = writing.written + 1;
        let mut pauses = pauses();
        loop {
            let hurries = self.hurry.is_cancelled();
            let error = match self.commit(event.clone(), number).await {
                Err(Fault::Store(error)) => error,
                written => {
                    // Otherwise the leg is over.
                    writing.unheard = None;
                    writing.written = number;
                    return written;
                }
            };
            let (task, what) = (&self.latest().origin.id.clone(), described(&event));
            if hurries {
                tracing::error!(%task, what, %error, "lost as the process ends: the store failed");
                return Err(Fault::Store(error));
            }
            tracing::error!(%task, what, %error, "not written yet: the store failed; trying again");
            let pause = pauses.next().unwrap_or(LONGEST);
            tokio::select! {
                () = self.ledger.host.sleep(pause) => {}
                () = self.hurry.cancelled() => {}
            }
        }
    }

    async fn commit(&self, event: LegEvent, number: u64) -> Result<(), Fault> {
        let fence = self.fence;
        let asked = self.ledger.host.steady();
        let event = Event::Leg {
            fence,
            number,
            event,
        };
        match self.ledger.commit(self.latest(), event).await {
            Ok((record, _)) => {
                *self.confirmed() = asked;
                let mut latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
                if record.version() > latest.version() {
                    *latest = record;
                }
                Ok(())
            }
            Err(Rejected::Store(error)) => Err(Fault::Store(error)),
            Err(Rejected::Refused(refusal)) => Err(refusal.into()),
            Err(Rejected::Missing) => Err(Fault::Superseded),
        }
    }
}

/// A leg that has not heard from the store for so long asks before its next effect: less than after
/// what a process that stands still is taken for dead.
const STALE: Duration = Duration::from_secs(5);
/// The longest pause between two tries.
const LONGEST: Duration = Duration::from_secs(2);

fn pauses() -> impl Iterator<Item = Duration> {
    ExponentialBuilder::new()
        .with_min_delay(Duration::from_millis(50))
        .with_max_delay(LONGEST)
        .without_max_times()
        .build()
}

/// What a write tells, for the log.
fn described(event: &LegEvent) -> String {
    match event {
        LegEvent::Progressed(entries) => {
            let entries = entries.iter();
            let named = entries.map(|entry| format!("{} `{}`", entry.kind().noun(), entry.key()));
            named.collect::<Vec<_>>().join(", ")
        }
        LegEvent::Finished { .. } | LegEvent::Failed { .. } => "the end".into(),
        LegEvent::Parked { .. } => "the park".into(),
        LegEvent::Detached => "the change to a task".into(),
        LegEvent::Told(_) => "the status".into(),
        LegEvent::Drifted(_) => "that the code does not fit".into(),
        LegEvent::Released(_) => "that the leg let go".into(),
    }
}

impl From<Refusal> for Fault {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::KeyReused(key) => {
                Self::Misuse(format!("the question `{key}` was put twice under one key"))
            }
            _ => Self::Superseded,
        }
    }
}
