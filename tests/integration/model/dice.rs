//! Chance that can be repeated.

use std::{ops::Range, time::Duration};

/// The same throws for the same seed (`SplitMix64`).
pub(super) struct Dice(u64);

impl Dice {
    pub(super) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(super) fn throw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    pub(super) fn within(&mut self, range: Range<u64>) -> u64 {
        range.start + self.throw() % (range.end - range.start)
    }

    /// A time of so many milliseconds.
    pub(super) fn millis(&mut self, range: Range<u64>) -> Duration {
        Duration::from_millis(self.within(range))
    }

    pub(super) fn one_in(&mut self, chances: u64) -> bool {
        self.within(0..chances) == 0
    }

    pub(super) fn index(&mut self, length: u64) -> usize {
        usize::try_from(self.within(0..length)).unwrap()
    }

    pub(super) fn server(&mut self) -> usize {
        self.index(2)
    }
}
