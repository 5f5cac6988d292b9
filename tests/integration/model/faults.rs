//! Faults of what the servers stand on.

use std::{
    path::PathBuf,
    thread::JoinHandle,
    time::{Duration, Instant},
};

/// Another program that locks the file for a while. Tells whether it got the lock.
pub(super) fn lock(store: PathBuf, held: Duration) -> JoinHandle<bool> {
    std::thread::spawn(move || {
        let begun = Instant::now();
        let taken = || -> rusqlite::Result<_> {
            let other = rusqlite::Connection::open(&store)?;
            other.busy_timeout(Duration::from_secs(1))?;
            other.execute_batch("BEGIN IMMEDIATE")?;
            Ok(other)
        };
        let Ok(other) = taken() else { return false };
        std::thread::sleep(held.saturating_sub(begun.elapsed()));
        let _over = other.execute_batch("ROLLBACK");
        true
    })
}
