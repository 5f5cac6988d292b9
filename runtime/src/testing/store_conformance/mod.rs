//! What every store has to keep to, as functions that panic where one does not.
//!
//! [`all`] runs the whole list; each function of it can be run alone. They are given a function that
//! opens stores by name: a name that was never opened is an empty store, and the same name again is
//! another handle on the same executions. Run them on a runtime with a real clock.
//!
//! ```
//! use std::{collections::HashMap, sync::Mutex};
//!
//! use siding::{MemoryStore, testing::store_conformance};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! let stores = Mutex::new(HashMap::<String, MemoryStore>::new());
//! store_conformance::all(async |name| {
//!     let mut stores = stores.lock().unwrap();
//!     stores.entry(name.to_owned()).or_default().clone()
//! })
//! .await;
//! # }
//! ```

#![expect(
    clippy::missing_panics_doc,
    reason = "every function panics where the store breaks its promise"
)]

mod changes;
mod index;
mod journal;
mod record;

use std::{sync::Arc, time::Duration};

pub use self::{changes::*, index::*, journal::*, record::*};
use crate::{
    host::{Host, SystemHost},
    record::{Record, TaskId},
    store::{Change, Creation, Insertion, Store, StoreError, Swap},
};

/// How long a store may take for what it is to do at once.
const PATIENCE: Duration = Duration::from_secs(30);

/// Runs the whole list.
pub async fn all<S: Store>(open: impl AsyncFn(&str) -> S) {
    keeps_what_is_inserted(&open).await;
    refuses_an_id_that_is_there(&open).await;
    keeps_to_the_limit_of_live_records(&open).await;
    lets_one_of_many_commits_win(&open).await;
    writes_nothing_of_a_refused_commit(&open).await;
    fences_off_an_older_leg(&open).await;
    forgets_what_is_removed(&open).await;
    shows_a_thousand_parallel_creates_at_once(&open).await;
    keeps_huge_values(&open).await;
    keeps_every_character(&open).await;
    keeps_times_up_to_the_end_of_time(&open).await;
    keeps_everything_over_a_reopening(&open).await;
    writes_a_record_with_its_journal(&open).await;
    keeps_entries_in_their_order(&open).await;
    clears_journals(&open).await;
    keeps_journals_apart(&open).await;
    finds_what_can_run(&open).await;
    finds_what_the_dead_hold(&open).await;
    finds_what_can_run_in_the_order_of_its_time(&open).await;
    finds_what_is_alarmed(&open).await;
    moves_records_in_its_indexes(&open).await;
    tells_the_next_due_moment(&open).await;
    lists_by_status_in_pages(&open).await;
    tells_every_write(&open).await;
    tells_a_write_between_position_and_changes(&open).await;
    wakes_those_who_wait(&open).await;
    loses_no_write_of_many(&open).await;
}

/// The store called `name`, as the engine has it.
async fn opened<S: Store>(open: &impl AsyncFn(&str) -> S, name: &str) -> Arc<dyn Store> {
    Arc::new(open(name).await)
}

/// What a store that works gives.
fn works<T>(given: Result<T, StoreError>) -> T {
    given.unwrap_or_else(|error| panic!("{error}"))
}

async fn insert(store: &dyn Store, record: Record) -> Arc<Record> {
    let record = Arc::new(record);
    let inserted = works(store.insert(Creation::new(record.clone())).await);
    assert_eq!(inserted, Insertion::Done);
    record
}

/// Commits what has to be taken, and gives the record after it.
async fn commit(store: &dyn Store, change: Change) -> Arc<Record> {
    let record = change.record.clone();
    let swap = works(store.commit(change).await);
    assert_eq!(swap, Swap::Done, "a commit over the right version is taken");
    record
}

async fn load(store: &dyn Store, id: &str) -> Option<Arc<Record>> {
    works(store.load(&TaskId::from(id)).await)
}

/// The keys of the journal of `id`, in their order.
async fn keys(store: &dyn Store, id: &str) -> Vec<String> {
    let entries = works(store.journal(&TaskId::from(id)).await);
    entries.iter().map(|entry| entry.key().to_owned()).collect()
}

fn ids(records: &[Arc<Record>]) -> Vec<&str> {
    records.iter().map(|record| record.id().as_str()).collect()
}

/// What `future` comes to, if it does so in time.
async fn in_time<T>(what: &str, future: impl Future<Output = T>) -> T {
    let end = SystemHost.now().after(PATIENCE);
    tokio::select! {
        done = future => done,
        () = SystemHost.sleep_until(end) => panic!("{what} took longer than {PATIENCE:?}"),
    }
}
