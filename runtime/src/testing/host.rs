//! A clock that only the test moves.

use std::{
    sync::{
        Arc,
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
    drawn: Arc<AtomicU64>,
}

impl TestHost {
    /// 2026-01-01T00:00:00Z
    const START: Timestamp = Timestamp::from_millis(1_767_225_600_000);

    /// A clock that shows the beginning of 2026.
    pub fn new() -> Self {
        Self {
            now: Arc::new(watch::Sender::new(Self::START)),
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
        Box::pin(async move {
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
