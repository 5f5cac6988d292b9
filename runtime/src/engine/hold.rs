//! A worker's hold on an execution: the fence that it got with its claim.

use std::sync::{Arc, Mutex, PoisonError};

use super::{
    ledger::{Ledger, Rejected},
    leg::{Fault, Parking},
    machine::{Event, LegEvent, Refusal, Told},
};
use crate::{
    host::Timestamp,
    journal::Entry,
    record::{Drift, End, Record},
};

/// Lets one leg write to its execution, for as long as no other leg has claimed it.
#[derive(Debug)]
pub(crate) struct Hold {
    ledger: Ledger,
    fence: u64,
    /// The record as this leg last wrote or read it.
    latest: Mutex<Arc<Record>>,
}

impl Hold {
    pub(super) fn new(ledger: Ledger, record: Arc<Record>) -> Self {
        Self {
            ledger,
            fence: record.fence,
            latest: Mutex::new(record),
        }
    }

    /// Journals entries.
    pub(super) async fn progress(&self, entries: Vec<Entry>) -> Result<(), Fault> {
        self.commit(LegEvent::Progressed(entries)).await
    }

    pub(super) async fn tell(&self, told: Told) -> Result<(), Fault> {
        self.commit(LegEvent::Told(told)).await
    }

    /// Says that the leg is still at work, so that nobody else claims it before `until`.
    pub(super) async fn renew(&self, until: Timestamp) -> Result<(), Fault> {
        self.commit(LegEvent::Renewed { until }).await
    }

    pub(super) async fn park(&self, parking: Parking) -> Result<(), Fault> {
        let round = (!self.latest().is_task()).then(|| self.ledger.random_name());
        self.commit(LegEvent::Parked { parking, round }).await
    }

    /// Makes the execution a task.
    pub(super) async fn detach(&self) -> Result<(), Fault> {
        self.commit(LegEvent::Detached).await
    }

    pub(super) async fn finish(&self, end: End) -> Result<(), Fault> {
        self.commit(LegEvent::Finished(end)).await
    }

    pub(super) async fn drift(&self, drift: Drift) -> Result<(), Fault> {
        self.commit(LegEvent::Drifted(drift)).await
    }

    /// Lets another worker go on at once.
    pub(super) async fn release(&self) -> Result<(), Fault> {
        self.commit(LegEvent::Released).await
    }

    /// The record as this leg knows it.
    pub(super) fn latest(&self) -> Arc<Record> {
        self.latest
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Whether the execution is over for everyone who looks, as this leg knows it.
    pub(super) fn is_over(&self) -> bool {
        let latest = self.latest();
        latest.status().is_terminal() || latest.is_expired(self.ledger.host.now())
    }

    async fn commit(&self, event: LegEvent) -> Result<(), Fault> {
        let fence = self.fence;
        let event = Event::Leg { fence, event };
        match self.ledger.commit(self.latest(), event).await {
            Ok((record, _)) => {
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
