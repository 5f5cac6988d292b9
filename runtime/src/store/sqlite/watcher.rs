//! Sees the writes of other processes, which SQLite tells nobody of.

use std::{
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread::{self, JoinHandle},
    time::Duration,
};

use rusqlite::Connection;
use tokio::sync::watch;

use super::statement;
use crate::store::StoreError;

/// How long a write of another process may stay unseen.
const INTERVAL: Duration = Duration::from_millis(100);

/// The number of the last write, as far as this process has seen it.
#[derive(Debug)]
pub(super) struct Seen {
    seq: watch::Sender<i64>,
    attention: Mutex<Attention>,
    wake: Condvar,
}

#[derive(Debug, Default)]
struct Attention {
    /// How many wait for a write.
    waiting: usize,
    stopped: bool,
}

/// Looks for writes of other processes, on a thread of its own, while somebody waits for one. Stops
/// when it is dropped.
#[derive(Debug)]
pub(super) struct Watcher {
    seen: Arc<Seen>,
    thread: Option<JoinHandle<()>>,
}

/// Somebody who waits for a write.
struct Waiting<'a>(&'a Seen);

impl Watcher {
    pub(super) fn start(connection: Connection, seq: i64) -> Result<Self, StoreError> {
        let seen = Arc::new(Seen {
            seq: watch::Sender::new(seq),
            attention: Mutex::default(),
            wake: Condvar::new(),
        });
        let watched = seen.clone();
        let thread = thread::Builder::new().name("siding-sqlite".into());
        let thread = thread.spawn(move || watched.look(&connection));
        Ok(Self {
            seen,
            thread: Some(thread.map_err(StoreError::new)?),
        })
    }

    pub(super) fn seen(&self) -> &Arc<Seen> {
        &self.seen
    }
}

impl Drop for Watcher {
    /// Waits until the connection is closed: SQLite clears its log away with the last one.
    fn drop(&mut self) {
        self.seen.attention().stopped = true;
        self.seen.wake.notify_one();
        if let Some(thread) = self.thread.take() {
            // It has nothing to tell, not even of a panic.
            let _ = thread.join();
        }
    }
}

impl Seen {
    /// There is a write of this number.
    pub(super) fn saw(&self, seq: i64) {
        self.seq.send_if_modified(|seen| {
            let newer = seq > *seen;
            *seen = seq.max(*seen);
            newer
        });
    }

    /// Waits for a write after the number `after`.
    pub(super) async fn after(&self, after: i64) -> Result<(), StoreError> {
        let mut seqs = self.seq.subscribe();
        if *seqs.borrow() > after {
            return Ok(());
        }
        let _waiting = Waiting::new(self);
        let seq = seqs.wait_for(|seq| *seq > after).await;
        seq.map(drop).map_err(StoreError::new)
    }

    fn attention(&self) -> MutexGuard<'_, Attention> {
        self.attention
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn look(&self, connection: &Connection) {
        // Of this connection: it changes when another one, in whatever process, has committed.
        let mut version = None;
        loop {
            let idle = |attention: &mut Attention| attention.waiting == 0 && !attention.stopped;
            let attention = self.wake.wait_while(self.attention(), idle);
            if attention.unwrap_or_else(PoisonError::into_inner).stopped {
                return;
            }
            // Where it fails there is another look; a failure that stays is met by every read.
            if let Ok(Some(seq)) = seq_if_new(connection, &mut version) {
                self.saw(seq);
            }
            let going_on = |attention: &mut Attention| !attention.stopped;
            let pause = self
                .wake
                .wait_timeout_while(self.attention(), INTERVAL, going_on);
            drop(pause);
        }
    }
}

/// The number of the last write, if there was one since the last look.
fn seq_if_new(connection: &Connection, seen: &mut Option<i64>) -> rusqlite::Result<Option<i64>> {
    let mut read = connection.prepare_cached(statement::DATA_VERSION)?;
    // Before the number: what is written between the two is met by the next look.
    let version = read.query_row([], |row| row.get(0))?;
    if *seen == Some(version) {
        return Ok(None);
    }
    let seq = connection
        .prepare_cached(statement::SEQ)?
        .query_row([], |row| row.get(0))?;
    *seen = Some(version);
    Ok(Some(seq))
}

impl<'a> Waiting<'a> {
    fn new(seen: &'a Seen) -> Self {
        seen.attention().waiting += 1;
        seen.wake.notify_one();
        Self(seen)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.attention().waiting -= 1;
    }
}
