//! Carries events through the machine into the store.

use std::sync::Arc;

use super::{
    machine::{self, Event, Refusal, Report, Transition, Verdict},
    news::News,
};
use crate::{
    host::Host,
    record::{Record, TaskId},
    store::{Change, JournalChange, Store, StoreError, Swap},
};

/// A store, the clock that the machine is told, and those who want to hear of changes.
#[derive(Clone, Debug)]
pub(crate) struct Ledger {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) host: Arc<dyn Host>,
    pub(crate) news: News,
}

/// Why an event did not make it into the store.
#[derive(Debug)]
pub(crate) enum Rejected {
    /// There is no such record.
    Missing,
    /// The rules forbid it.
    Refused(Refusal),
    /// The store failed.
    Store(StoreError),
}

impl From<StoreError> for Rejected {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl Ledger {
    /// A name that nobody can guess: 128 random bits in hexadecimal.
    pub(crate) fn random_name(&self) -> String {
        TaskId::from_random(self.host.random()).to_string()
    }

    /// The record, whether or not its time is over.
    pub(crate) async fn load(&self, id: &TaskId) -> Result<Arc<Record>, Rejected> {
        self.store.load(id).await?.ok_or(Rejected::Missing)
    }

    /// Applies `event` to the record `known`, or to whatever came in between: a refused swap says
    /// nothing about the event, and neither does a refusal of what may be out of date.
    pub(crate) async fn commit(
        &self,
        mut known: Arc<Record>,
        event: Event,
    ) -> Result<(Arc<Record>, Report), Rejected> {
        let mut is_fresh = false;
        loop {
            let verdict = machine::apply(&known, event.clone(), self.host.now());
            let (Transition { record, journal }, report) = match verdict {
                Verdict::Change(transition, report) => (*transition, report),
                Verdict::Unchanged(report) if is_fresh => return Ok((known, report)),
                Verdict::Refused(refusal) if is_fresh => return Err(Rejected::Refused(refusal)),
                Verdict::Unchanged(_) | Verdict::Refused(_) => {
                    known = self.load(known.id()).await?;
                    is_fresh = true;
                    continue;
                }
            };
            let record = Arc::new(record);
            let swap = self.store.commit(Change {
                expected: known.version(),
                record: record.clone(),
                journal,
            });
            match swap.await? {
                Swap::Done => {
                    tell_of_cleanup(&known, &record);
                    self.news.tell(&record);
                    return Ok((record, report));
                }
                Swap::Refused => known = self.load(known.id()).await?,
            }
            is_fresh = true;
        }
    }

    /// Applies `event` to exactly the record `known`. `None` if the rules forbid it, or the record
    /// is another one by now.
    pub(super) async fn swap(
        &self,
        known: &Record,
        event: Event,
    ) -> Result<Option<(Arc<Record>, JournalChange)>, StoreError> {
        let Verdict::Change(transition, _) = machine::apply(known, event, self.host.now()) else {
            return Ok(None);
        };
        let Transition { record, journal } = *transition;
        let record = Arc::new(record);
        let swap = self.store.commit(Change {
            expected: known.version(),
            record: record.clone(),
            journal: journal.clone(),
        });
        Ok(match swap.await? {
            Swap::Done => {
                self.news.tell(&record);
                Some((record, journal))
            }
            Swap::Refused => None,
        })
    }

    /// The record after `event`; `None` where the rules forbid it, or there is no record any more.
    pub(super) async fn attempt(
        &self,
        known: Arc<Record>,
        event: Event,
    ) -> Result<Option<Arc<Record>>, StoreError> {
        match self.commit(known, event).await {
            Ok((record, _)) => Ok(Some(record)),
            Err(Rejected::Refused(_) | Rejected::Missing) => Ok(None),
            Err(Rejected::Store(error)) => Err(error),
        }
    }
}

/// Tells the operator what nobody cleans up any more.
fn tell_of_cleanup(before: &Record, after: &Record) {
    if let (None, Some(why)) = (&before.not_cleaned, &after.not_cleaned) {
        let tool = &after.origin.tool;
        tracing::error!(task = %after.id(), tool, why, "a task is over and was not cleaned up");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MemoryStore, host::SystemHost, record::Ttl, store::Creation, testing::record};

    #[tokio::test]
    async fn nothing_is_refused_on_the_strength_of_a_record_that_is_out_of_date() {
        let ledger = Ledger {
            store: Arc::new(MemoryStore::new()),
            host: Arc::new(SystemHost),
            news: News::default(),
        };
        let known = Arc::new(record("a"));
        let inserted = ledger.store.insert(Creation::new(known.clone())).await;
        inserted.expect("there is a place");
        // As this handle knows it, its time is over since long ago; it was lengthened elsewhere.
        let stale = Arc::new(Record {
            ttl_ms: Some(1),
            ..(*known).clone()
        });
        let longer = Event::TtlSet(Ttl(Some(1_000_000_000_000)));
        let set = ledger.commit(stale, longer).await;
        assert_eq!(
            set.expect("it is not over").0.ttl_ms,
            Some(1_000_000_000_000)
        );
    }
}
