//! A worker's hold on an execution: the fence that it got with its claim.

use std::sync::{Arc, Mutex, PoisonError};

use super::{
    ledger::{Ledger, Rejected},
    leg::{Fault, Parking},
    machine::{Event, LegEvent, Refusal},
};
use crate::{
    host::Timestamp,
    journal::Entry,
    record::{End, Record},
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

    /// Journals an entry.
    pub(super) async fn progress(&self, entry: Entry) -> Result<(), Fault> {
        self.commit(LegEvent::Progressed(entry)).await
    }

    pub(super) async fn status(&self, message: String) -> Result<(), Fault> {
        self.commit(LegEvent::Status(message)).await
    }

    /// Says that the leg is still at work, so that nobody else claims it before `until`.
    pub(super) async fn renew(&self, until: Timestamp) -> Result<(), Fault> {
        self.commit(LegEvent::Renewed { until }).await
    }

    pub(super) async fn park(&self, parking: Parking) -> Result<(), Fault> {
        self.commit(LegEvent::Parked(parking)).await
    }

    pub(super) async fn finish(&self, end: End) -> Result<(), Fault> {
        self.commit(LegEvent::Finished(end)).await
    }

    async fn commit(&self, event: LegEvent) -> Result<(), Fault> {
        let known = self
            .latest
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        let fence = self.fence;
        match self.ledger.commit(known, Event::Leg { fence, event }).await {
            Ok((record, _)) => {
                let mut latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
                if record.version() > latest.version() {
                    *latest = record;
                }
                Ok(())
            }
            Err(Rejected::Store(error)) => Err(Fault::Store(error)),
            Err(Rejected::Refused(Refusal::KeyReused(key))) => Err(Fault::Misuse(format!(
                "the question `{key}` was put twice under one key"
            ))),
            Err(Rejected::Refused(_) | Rejected::Missing) => Err(Fault::Superseded),
        }
    }
}
