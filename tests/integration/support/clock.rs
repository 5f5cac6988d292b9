//! Time for tests.

use siding::host::{BoxFuture, Host, SystemHost, Timestamp};
use tokio::time::{Duration, Instant, sleep_until};

/// The virtual clock of tokio (`#[tokio::test(start_paused = true)]`): it stands still while
/// anything can run, and jumps to the next timer when nothing can.
#[derive(Clone, Copy, Debug)]
pub(crate) struct VirtualHost {
    start: Instant,
}

impl VirtualHost {
    /// 2026-11-29T12:00:00Z
    const BASE: u64 = 1_795_953_600_000;

    pub(crate) fn new() -> Self {
        Self {
            start: Instant::now(),
        }
    }
}

impl Host for VirtualHost {
    fn now(&self) -> Timestamp {
        let elapsed = self.start.elapsed().as_millis();
        Timestamp::from_millis(Self::BASE + u64::try_from(elapsed).unwrap_or(u64::MAX / 2))
    }

    fn sleep_until(&self, time: Timestamp) -> BoxFuture<'static, ()> {
        let offset = time.as_millis().saturating_sub(Self::BASE);
        // As far as tokio's timers reach.
        let offset = Duration::from_millis(offset.min(60 * 60 * 24 * 365 * 1_000));
        Box::pin(sleep_until(self.start + offset))
    }

    fn sleep(&self, pause: Duration) -> BoxFuture<'static, ()> {
        SystemHost.sleep(pause)
    }

    fn random(&self) -> [u8; 16] {
        SystemHost.random()
    }
}
