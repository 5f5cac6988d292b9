//! Reads beside the writer, on connections of their own.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use rusqlite::Connection;
use tokio::sync::Semaphore;

use super::{blocking, connection, failure::Failure, identity::Identity};
use crate::store::StoreError;

/// How many reads go on at the same time.
const CONNECTIONS: usize = 4;

/// A few connections that only read.
#[derive(Debug)]
pub(super) struct Readers {
    path: PathBuf,
    identity: Arc<Identity>,
    slots: Arc<Semaphore>,
    /// Those that nobody reads with.
    idle: Mutex<Vec<Connection>>,
}

impl Readers {
    pub(super) fn new(path: PathBuf, identity: Arc<Identity>) -> Self {
        Self {
            path,
            identity,
            slots: Arc::new(Semaphore::new(CONNECTIONS)),
            idle: Mutex::default(),
        }
    }

    /// Reads by `query` on a thread that may wait.
    pub(super) async fn read<T: Send + 'static>(
        self: &Arc<Self>,
        query: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let slot = self.slots.clone().acquire_owned().await;
        let slot = slot.map_err(StoreError::new)?;
        let readers = self.clone();
        blocking(move || {
            // Until the end of the read, also where nobody waits for it any more.
            let _slot = slot;
            Ok(readers.query(query)?)
        })
        .await
    }

    fn query<T>(
        &self,
        query: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, Failure> {
        self.identity.check()?;
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let connection = idle().pop();
        let connection = match connection {
            Some(connection) => connection,
            None => connection::reading(&self.path)?,
        };
        let found = query(&connection);
        idle().push(connection);
        found.map_err(|error| Failure::new(&self.path, error))
    }
}
