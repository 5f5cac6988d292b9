//! A store that fails when it is told to.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use super::around::store_around;
use crate::{
    host::BoxFuture,
    store::{Store, StoreError},
};

/// What happens to a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// It is not done, and fails.
    Lost,
    /// It is done, and fails all the same: its acknowledgement is lost.
    Unheard,
    /// It is done twice; what came of the second time is what the caller hears.
    Twice,
    /// It is done after this time.
    Late(Duration),
    /// It is done, and then the store is gone: this and all that follows fails.
    Last,
}

/// Another store, with faults at the writes that a test names. Clones share them.
///
/// ```
/// use siding::{
///     MemoryStore, Store,
///     testing::{Fault, FaultyStore},
/// };
///
/// let kept = MemoryStore::new();
/// // The acknowledgement of the second write is lost.
/// let store = FaultyStore::new(kept.clone()).on(2, Fault::Unheard);
/// // A server gets `store`; what is left after it is in `kept`.
/// assert_eq!(store.writes(), 0);
/// assert!(!store.is_durable());
/// ```
#[derive(Clone, Debug)]
pub struct FaultyStore {
    store: Arc<dyn Store>,
    plan: Arc<Mutex<Plan>>,
}

#[derive(Debug, Default)]
struct Plan {
    /// How many writes there were.
    writes: u64,
    faults: BTreeMap<u64, Fault>,
    gone: bool,
}

impl FaultyStore {
    /// The same as `store`, without faults.
    pub fn new(store: impl Store) -> Self {
        Self {
            store: Arc::new(store),
            plan: Arc::default(),
        }
    }

    /// Plans a fault at a write. The first insert, commit or remove is write number 1.
    pub fn on(self, write: u64, fault: Fault) -> Self {
        self.plan().faults.insert(write, fault);
        self
    }

    /// How many writes there were, those that failed among them.
    pub fn writes(&self) -> u64 {
        self.plan().writes
    }

    fn plan(&self) -> MutexGuard<'_, Plan> {
        self.plan.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does `write` with the fault that is planned for it.
    async fn write<'a, T>(
        &'a self,
        write: impl Fn() -> BoxFuture<'a, Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        let fault = self.next_fault()?;
        match fault {
            None => return write().await,
            Some(Fault::Late(pause)) => {
                pass(pause).await;
                return write().await;
            }
            Some(Fault::Twice) => {
                write().await?;
                return write().await;
            }
            Some(Fault::Lost) => {}
            Some(Fault::Unheard | Fault::Last) => drop(write().await?),
        }
        Err(StoreError::new("a fault that the test planned"))
    }

    fn next_fault(&self) -> Result<Option<Fault>, StoreError> {
        self.alive()?;
        let mut plan = self.plan();
        plan.writes += 1;
        let number = plan.writes;
        let fault = plan.faults.remove(&number);
        plan.gone = fault == Some(Fault::Last);
        Ok(fault)
    }

    fn alive(&self) -> Result<(), StoreError> {
        if self.plan().gone {
            return Err(StoreError::new("the store is gone, as the test planned"));
        }
        Ok(())
    }

    async fn read<T>(&self, read: BoxFuture<'_, Result<T, StoreError>>) -> Result<T, StoreError> {
        self.alive()?;
        read.await
    }
}

store_around! { FaultyStore, is_durable: |around| around.store.is_durable() }

#[expect(
    clippy::disallowed_methods,
    reason = "a fault waits on the clock of the test, which may be virtual"
)]
async fn pass(pause: Duration) {
    tokio::time::sleep(pause).await;
}
