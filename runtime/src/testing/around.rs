//! Stores around another one.

/// Implements `Store` for a type that is around another store, its field `store`: all reads go
/// through its method `read`, and all writes through `write`, which may do one more than once.
macro_rules! store_around {
    ($around:ty, is_durable: $is_durable:expr) => {
        const _: () = {
            use std::sync::Arc;

            use $crate::{
                host::{BoxFuture, Timestamp},
                journal::Entry,
                record::{Record, TaskId},
                store::{
                    Change, Changes, Creation, Deaths, Insertion, Life, Listing, Runnable,
                    StoreError, Swap,
                },
            };

            impl $crate::store::Store for $around {
                fn insert(
                    &self,
                    creation: Creation,
                ) -> BoxFuture<'_, Result<Insertion, StoreError>> {
                    Box::pin(self.write(move || self.store.insert(creation.clone())))
                }

                fn load<'a>(
                    &'a self,
                    id: &'a TaskId,
                ) -> BoxFuture<'a, Result<Option<Arc<Record>>, StoreError>> {
                    Box::pin(self.read(self.store.load(id)))
                }

                fn journal<'a>(
                    &'a self,
                    id: &'a TaskId,
                ) -> BoxFuture<'a, Result<Vec<Entry>, StoreError>> {
                    Box::pin(self.read(self.store.journal(id)))
                }

                fn commit(&self, change: Change) -> BoxFuture<'_, Result<Swap, StoreError>> {
                    Box::pin(self.write(move || self.store.commit(change.clone())))
                }

                fn runnable<'a>(
                    &'a self,
                    query: Runnable<'a>,
                ) -> BoxFuture<'a, Result<Vec<Arc<Record>>, StoreError>> {
                    Box::pin(self.read(self.store.runnable(query)))
                }

                fn enlist<'a>(
                    &'a self,
                    worker: &'a str,
                ) -> BoxFuture<'a, Result<Life, StoreError>> {
                    Box::pin(self.read(self.store.enlist(worker)))
                }

                fn deaths(&self, after: u64) -> BoxFuture<'_, Result<Deaths, StoreError>> {
                    Box::pin(self.read(self.store.deaths(after)))
                }

                fn held<'a>(
                    &'a self,
                    worker: &'a str,
                    limit: usize,
                ) -> BoxFuture<'a, Result<Vec<Arc<Record>>, StoreError>> {
                    Box::pin(self.read(self.store.held(worker, limit)))
                }

                fn dismiss<'a>(&'a self, worker: &'a str) -> BoxFuture<'a, Result<(), StoreError>> {
                    Box::pin(self.read(self.store.dismiss(worker)))
                }

                fn alarmed(
                    &self,
                    now: Timestamp,
                    limit: usize,
                ) -> BoxFuture<'_, Result<Vec<Arc<Record>>, StoreError>> {
                    Box::pin(self.read(self.store.alarmed(now, limit)))
                }

                fn next_due<'a>(
                    &'a self,
                    pool: &'a str,
                    now: Timestamp,
                ) -> BoxFuture<'a, Result<Option<Timestamp>, StoreError>> {
                    Box::pin(self.read(self.store.next_due(pool, now)))
                }

                fn list<'a>(
                    &'a self,
                    query: Listing<'a>,
                ) -> BoxFuture<'a, Result<Vec<Arc<Record>>, StoreError>> {
                    Box::pin(self.read(self.store.list(query)))
                }

                fn remove<'a>(&'a self, id: &'a TaskId) -> BoxFuture<'a, Result<(), StoreError>> {
                    Box::pin(self.write(move || self.store.remove(id)))
                }

                fn live(&self) -> BoxFuture<'_, Result<u64, StoreError>> {
                    Box::pin(self.read(self.store.live()))
                }

                fn position(&self) -> BoxFuture<'_, Result<u64, StoreError>> {
                    Box::pin(self.read(self.store.position()))
                }

                fn changes(&self, after: u64) -> BoxFuture<'_, Result<Changes, StoreError>> {
                    Box::pin(self.read(self.store.changes(after)))
                }

                fn is_durable(&self) -> bool {
                    let is_durable: fn(&Self) -> bool = $is_durable;
                    is_durable(self)
                }
            }
        };
    };
}

pub(super) use store_around;
