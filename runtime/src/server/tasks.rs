//! The operator's view of all tasks; never on the wire.

use std::{sync::Arc, time::Duration};

use crate::{
    engine::{
        ledger::{Ledger, Rejected},
        machine::Event,
    },
    record::{Record, Status, TaskId},
    store::{Listing, StoreError},
};

/// A handle on the tasks of a store, for whoever runs the server: whoever's they are.
///
/// ```
/// use siding::{prelude::*, record::Status};
///
/// # #[tokio::main] async fn main() -> Result<()> {
/// let server = Server::new("shop", "1.0.0");
/// let tasks = server.tasks();
/// for task in tasks.list(Some(Status::InputRequired)).await? {
///     tasks.cancel(task.id(), "the shop closed").await?;
/// }
/// # siding::Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct Tasks {
    ledger: Ledger,
}

/// Why nothing was done to a task.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TaskError {
    /// There is no such task, or its time is over.
    #[error("there is no such task")]
    Missing,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Tasks {
    /// No more than this many are taken from the store at a time.
    const PAGE: usize = 256;

    pub(super) const fn new(ledger: Ledger) -> Self {
        Self { ledger }
    }

    /// The tasks, all or those with one status, in the order of their ids.
    ///
    /// # Errors
    ///
    /// Where the store failed.
    pub async fn list(&self, status: Option<Status>) -> Result<Vec<Arc<Record>>, TaskError> {
        let now = self.ledger.host.now();
        self.all(status, |record| record.is_visible(now)).await
    }

    async fn all(
        &self,
        status: Option<Status>,
        is_wanted: impl Fn(&Record) -> bool,
    ) -> Result<Vec<Arc<Record>>, TaskError> {
        let mut tasks: Vec<Arc<Record>> = Vec::new();
        let mut after = None;
        loop {
            let page = self.ledger.store.list(Listing {
                status,
                after: after.as_ref(),
                limit: Self::PAGE,
            });
            let page = page.await?;
            after = page.last().map(|record| record.id().clone());
            let full = page.len() == Self::PAGE;
            tasks.extend(page.into_iter().filter(|record| is_wanted(record)));
            if !full {
                return Ok(tasks);
            }
        }
    }

    /// The executions that are over and were not cleaned up: the code that would have done it did not
    /// fit, was not there, or failed again and again. [`Record::not_cleaned`] says why. They stay in
    /// this list for a week after their time is over.
    ///
    /// # Errors
    ///
    /// If the store failed.
    pub async fn not_cleaned(&self) -> Result<Vec<Arc<Record>>, TaskError> {
        self.all(None, |record| record.not_cleaned.is_some()).await
    }

    /// One task.
    ///
    /// # Errors
    ///
    /// Where there is no such task, or the store failed.
    pub async fn get(&self, id: &TaskId) -> Result<Arc<Record>, TaskError> {
        let record = self
            .ledger
            .store
            .load(id)
            .await?
            .ok_or(TaskError::Missing)?;
        if !record.is_visible(self.ledger.host.now()) {
            return Err(TaskError::Missing);
        }
        Ok(record)
    }

    /// Cancels a task and says why in its status message. One that has ended stays as it is.
    ///
    /// # Errors
    ///
    /// Where there is no such task, or the store failed.
    pub async fn cancel(&self, id: &TaskId, reason: impl Into<String>) -> Result<(), TaskError> {
        let reason = Some(reason.into());
        self.apply(id, Event::Cancelled { reason }).await
    }

    /// Sets the time to live of a task, counted from its creation; `None` is without end.
    ///
    /// # Errors
    ///
    /// Where there is no such task, or the store failed.
    pub async fn set_ttl(&self, id: &TaskId, ttl: Option<Duration>) -> Result<(), TaskError> {
        self.apply(id, Event::TtlSet(ttl.into())).await
    }

    /// Waits until a task has ended, and gives it as it ended.
    ///
    /// # Errors
    ///
    /// Where there is no such task, or its time is over before it ended, or the store failed.
    pub async fn wait(&self, id: &TaskId) -> Result<Arc<Record>, TaskError> {
        let mut seen = self.ledger.store.position().await?;
        loop {
            let task = self.get(id).await?;
            if task.status().is_terminal() {
                return Ok(task);
            }
            tokio::select! {
                changes = self.ledger.store.changes(seen) => seen = changes?.upto,
                () = self.ledger.host.reached(task.expires_at()) => {}
            }
        }
    }

    async fn apply(&self, id: &TaskId, event: Event) -> Result<(), TaskError> {
        let known = self.get(id).await?;
        match self.ledger.commit(known, event).await {
            Ok(_) => Ok(()),
            Err(Rejected::Store(error)) => Err(error.into()),
            Err(Rejected::Missing | Rejected::Refused(_)) => Err(TaskError::Missing),
        }
    }
}
