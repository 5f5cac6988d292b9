//! The one door through which time, waiting and randomness come in.

use std::{
    fmt,
    future::Future,
    pin::Pin,
    sync::LazyLock,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use serde::{Deserialize, Serialize};

/// A future without a name, as the traits of this crate return it.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A point in time: milliseconds since the Unix epoch, UTC.
///
/// It prints as the protocol wants it, ISO 8601 in UTC with milliseconds.
///
/// ```
/// use siding::host::Timestamp;
///
/// assert_eq!(Timestamp::from_millis(1_000).to_string(), "1970-01-01T00:00:01.000Z");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(u64);

impl Timestamp {
    /// The last instant that ISO 8601 writes with a year of four digits.
    const LAST: u64 = 253_402_300_799_999;

    /// The point `millis` milliseconds after the Unix epoch.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis)
    }

    /// Milliseconds since the Unix epoch.
    pub const fn as_millis(self) -> u64 {
        self.0
    }

    /// The point `millis` later; `None` where no such point exists.
    pub const fn checked_add(self, millis: u64) -> Option<Self> {
        match self.0.checked_add(millis) {
            Some(sum) => Some(Self(sum)),
            None => None,
        }
    }

    /// The point `pause` later, or the last one there is.
    #[must_use]
    pub fn after(self, pause: Duration) -> Self {
        Self(self.0.saturating_add(whole_millis(pause)))
    }

    /// How long it is from `earlier` until this point, zero where that lies behind it.
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(self.0.saturating_sub(earlier.0))
    }
}

impl From<Timestamp> for SystemTime {
    fn from(time: Timestamp) -> Self {
        UNIX_EPOCH + Duration::from_millis(time.0.min(Timestamp::LAST))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", humantime::format_rfc3339_millis((*self).into()))
    }
}

/// The milliseconds of a duration, or as many as there can be.
pub(crate) fn whole_millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// Where a server takes time, waiting and randomness from.
///
/// Servers use [`SystemHost`]; a test may bring its own, with a clock that it moves.
pub trait Host: fmt::Debug + Send + Sync + 'static {
    /// The time now.
    fn now(&self) -> Timestamp;

    /// Ready at `time`, or at once if that is past.
    fn sleep_until(&self, time: Timestamp) -> BoxFuture<'static, ()>;

    /// Ready after `pause`, whatever is done to the clock meanwhile.
    fn sleep(&self, pause: Duration) -> BoxFuture<'static, ()>;

    /// 128 random bits that nobody can guess.
    fn random(&self) -> [u8; 16];

    /// How long it is since some fixed moment, whatever is done to the clock: it goes on while the
    /// process is stopped. A leg that said nothing to the store for some seconds asks it before the
    /// next step whether it still may.
    #[expect(clippy::disallowed_methods, reason = "this is the door")]
    fn steady(&self) -> Duration {
        static START: LazyLock<Instant> = LazyLock::new(Instant::now);
        START.elapsed()
    }
}

impl dyn Host + '_ {
    /// Ready at `time`; never where there is none.
    pub(crate) async fn reached(&self, time: Option<Timestamp>) {
        match time {
            Some(time) => self.sleep_until(time).await,
            None => std::future::pending().await,
        }
    }
}

/// The clock and the random source of the operating system.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemHost;

impl SystemHost {
    /// No sleep is longer, so that a change of the wall clock is noticed.
    const LONGEST_NAP: Duration = Duration::from_mins(1);
}

impl Host for SystemHost {
    #[expect(clippy::disallowed_methods, reason = "this is the door")]
    fn now(&self) -> Timestamp {
        let elapsed = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        Timestamp(whole_millis(elapsed))
    }

    #[expect(clippy::disallowed_methods, reason = "this is the door")]
    fn sleep_until(&self, time: Timestamp) -> BoxFuture<'static, ()> {
        let host = *self;
        Box::pin(async move {
            loop {
                let left = time.since(host.now());
                if left.is_zero() {
                    return;
                }
                tokio::time::sleep(left.min(Self::LONGEST_NAP)).await;
            }
        })
    }

    #[expect(clippy::disallowed_methods, reason = "this is the door")]
    fn sleep(&self, pause: Duration) -> BoxFuture<'static, ()> {
        Box::pin(tokio::time::sleep(pause))
    }

    /// # Panics
    ///
    /// If the operating system has no random source: ids that can be guessed would let anyone
    /// reach a task, so there is nothing to go on with.
    #[expect(clippy::disallowed_methods, reason = "this is the door")]
    fn random(&self) -> [u8; 16] {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).expect("the operating system has a random source");
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_utc_with_milliseconds() {
        let time = Timestamp::from_millis(1_795_958_401_007);
        assert_eq!(time.to_string(), "2026-11-29T13:20:01.007Z");
    }

    #[test]
    fn huge_times_print_the_last_writable_instant() {
        let last = Timestamp::from_millis(u64::MAX).to_string();
        assert_eq!(last, "9999-12-31T23:59:59.999Z");
    }
}
