//! A clock that only the test moves.

use std::{
    collections::BTreeMap,
    ops::Bound::{Excluded, Unbounded},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use sha2::{Digest, Sha256};
use tokio::sync::watch;

use crate::host::{BoxFuture, Host, Timestamp};

/// Time that stands still until it is moved, and random bits that are the same in every run.
/// Clones are one clock.
///
/// ```
/// use siding::{host::Host, testing::TestHost};
/// use std::time::Duration;
///
/// let host = TestHost::new();
/// let before = host.now();
/// host.advance(Duration::from_secs(5));
/// assert_eq!(host.now().since(before), Duration::from_secs(5));
/// ```
#[derive(Clone, Debug)]
pub struct TestHost {
    now: Arc<watch::Sender<Timestamp>>,
    /// How many sleep until which moment.
    sleepers: Arc<Mutex<BTreeMap<Timestamp, usize>>>,
    drawn: Arc<AtomicU64>,
}

impl TestHost {
    /// 2026-01-01T00:00:00Z
    const START: Timestamp = Timestamp::from_millis(1_767_225_600_000);

    /// A clock that shows the beginning of 2026.
    pub fn new() -> Self {
        Self {
            now: Arc::new(watch::Sender::new(Self::START)),
            sleepers: Arc::default(),
            drawn: Arc::default(),
        }
    }

    /// Moves the clock forward.
    pub fn advance(&self, by: Duration) {
        self.now.send_modify(|now| *now = now.after(by));
    }

    /// Moves the clock to `time`, unless it is past.
    pub fn advance_to(&self, time: Timestamp) {
        self.now.send_modify(|now| *now = time.max(*now));
    }
}

impl TestHost {
    /// The first moment after now until which something sleeps.
    pub(super) fn next_timer(&self) -> Option<Timestamp> {
        let sleepers = self.sleepers.lock().unwrap_or_else(PoisonError::into_inner);
        let behind = (Excluded(self.now()), Unbounded);
        sleepers.range(behind).next().map(|(time, _)| *time)
    }
}

/// Something that sleeps, for as long as it does.
struct Sleeper {
    sleepers: Arc<Mutex<BTreeMap<Timestamp, usize>>>,
    until: Timestamp,
}

impl Sleeper {
    fn new(sleepers: Arc<Mutex<BTreeMap<Timestamp, usize>>>, until: Timestamp) -> Self {
        let mut times = sleepers.lock().unwrap_or_else(PoisonError::into_inner);
        *times.entry(until).or_default() += 1;
        drop(times);
        Self { sleepers, until }
    }
}

impl Drop for Sleeper {
    fn drop(&mut self) {
        let mut times = self.sleepers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = times.get_mut(&self.until) {
            *count -= 1;
            if *count == 0 {
                times.remove(&self.until);
            }
        }
    }
}

impl Default for TestHost {
    fn default() -> Self {
        Self::new()
    }
}

impl Host for TestHost {
    fn now(&self) -> Timestamp {
        *self.now.borrow()
    }

    fn sleep_until(&self, time: Timestamp) -> BoxFuture<'static, ()> {
        let mut now = self.now.subscribe();
        let sleeper = Sleeper::new(self.sleepers.clone(), time);
        Box::pin(async move {
            let _sleeper = sleeper;
            if now.wait_for(|now| *now >= time).await.is_err() {
                // Nobody is left to move the clock.
                std::future::pending::<()>().await;
            }
        })
    }

    fn random(&self) -> [u8; 16] {
        let drawn = self.drawn.fetch_add(1, Relaxed);
        let bits = Sha256::digest(drawn.to_be_bytes());
        let mut random = [0; 16];
        random.copy_from_slice(&bits[..16]);
        random
    }
}
