//! A clock that only the test moves.

use std::{
    collections::BTreeMap,
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
    clock: Arc<watch::Sender<Clock>>,
    /// How many sleep until which moment.
    sleepers: Sleepers,
    drawn: Arc<AtomicU64>,
}

#[derive(Clone, Copy, Debug)]
struct Clock {
    /// What the clock shows.
    now: Timestamp,
    /// What it would show if nobody had set it.
    steady: Timestamp,
}

/// A moment by one of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Moment {
    Shown(Timestamp),
    Steady(Timestamp),
}

type Sleepers = Arc<Mutex<BTreeMap<Moment, usize>>>;

impl Clock {
    fn has_reached(&self, moment: Moment) -> bool {
        match moment {
            Moment::Shown(time) => self.now >= time,
            Moment::Steady(time) => self.steady >= time,
        }
    }

    /// When the clock shows that the moment has come, if nobody sets it.
    fn shows_at(&self, moment: Moment) -> Timestamp {
        match moment {
            Moment::Shown(time) => time,
            Moment::Steady(time) => self.now.after(time.since(self.steady)),
        }
    }
}

impl TestHost {
    /// 2026-01-01T00:00:00Z
    const START: Timestamp = Timestamp::from_millis(1_767_225_600_000);

    /// A clock that shows the beginning of 2026.
    pub fn new() -> Self {
        Self {
            clock: Arc::new(watch::Sender::new(Clock {
                now: Self::START,
                steady: Self::START,
            })),
            sleepers: Arc::default(),
            drawn: Arc::default(),
        }
    }

    /// Moves the clock forward.
    pub fn advance(&self, by: Duration) {
        self.clock.send_modify(|clock| {
            clock.now = clock.now.after(by);
            clock.steady = clock.steady.after(by);
        });
    }

    /// Moves the clock to `time`, unless it is past.
    pub fn advance_to(&self, time: Timestamp) {
        self.advance(time.since(self.now()));
    }

    /// Sets the clock, forwards or back, while no time passes: what a machine does when it resumes, or
    /// hears from a time server.
    pub fn set(&self, time: Timestamp) {
        self.clock.send_modify(|clock| clock.now = time);
    }

    /// The first moment after now until which something sleeps.
    pub(super) fn next_timer(&self) -> Option<Timestamp> {
        let sleepers = self.sleepers.lock().unwrap_or_else(PoisonError::into_inner);
        let clock = *self.clock.borrow();
        let times = sleepers.keys().map(|moment| clock.shows_at(*moment));
        times.filter(|time| *time > clock.now).min()
    }

    fn sleep_to(&self, moment: Moment) -> BoxFuture<'static, ()> {
        let mut clock = self.clock.subscribe();
        let sleeper = Sleeper::new(self.sleepers.clone(), moment);
        Box::pin(async move {
            let _sleeper = sleeper;
            let reached = clock.wait_for(|clock| clock.has_reached(moment));
            if reached.await.map(drop).is_err() {
                // Nobody is left to move the clock.
                std::future::pending::<()>().await;
            }
        })
    }
}

/// Something that sleeps, for as long as it does.
struct Sleeper {
    sleepers: Sleepers,
    until: Moment,
}

impl Sleeper {
    fn new(sleepers: Sleepers, until: Moment) -> Self {
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
        self.clock.borrow().now
    }

    fn sleep_until(&self, time: Timestamp) -> BoxFuture<'static, ()> {
        self.sleep_to(Moment::Shown(time))
    }

    fn sleep(&self, pause: Duration) -> BoxFuture<'static, ()> {
        let steady = self.clock.borrow().steady;
        self.sleep_to(Moment::Steady(steady.after(pause)))
    }

    fn random(&self) -> [u8; 16] {
        let drawn = self.drawn.fetch_add(1, Relaxed);
        let bits = Sha256::digest(drawn.to_be_bytes());
        let mut random = [0; 16];
        random.copy_from_slice(&bits[..16]);
        random
    }
}
