//! When a worker that says nothing counts as dead.

use std::collections::HashMap;

/// This many beats of the one who looks may pass without one of the worker.
const SILENT: u32 = 6;

/// What is known of the beats of other workers.
///
/// It is counted in beats of one's own that succeeded, not in time: who was stopped or suspended, or
/// could not reach the store, has not listened meanwhile. No clock can take work from a live worker.
#[derive(Debug, Default)]
pub(crate) struct Liveness {
    /// The last count of each, and how many beats of one's own ago it changed.
    heard: HashMap<String, (u64, u32)>,
}

impl Liveness {
    /// One's own beat succeeded, and the others stand at these counts. Gives those that were silent
    /// for too long.
    pub(crate) fn beat(&mut self, others: Vec<(String, u64)>) -> Vec<String> {
        let mut heard = HashMap::with_capacity(others.len());
        let mut silent = Vec::new();
        for (worker, count) in others {
            let since = match self.heard.get(&worker) {
                Some((before, since)) if *before == count => since + 1,
                _ => 0,
            };
            if since > SILENT {
                silent.push(worker.clone());
            }
            heard.insert(worker, (count, since));
        }
        self.heard = heard;
        silent
    }

    /// One's own beat failed: all are listened to anew.
    pub(crate) fn missed(&mut self) {
        self.heard.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(count: u64) -> Vec<(String, u64)> {
        vec![("other".into(), count)]
    }

    #[test]
    fn a_worker_is_dead_when_it_was_silent_for_more_than_six_beats() {
        let mut liveness = Liveness::default();
        for _ in 0..=SILENT {
            assert!(liveness.beat(at(1)).is_empty());
        }
        assert_eq!(liveness.beat(at(1)), ["other"]);
        assert!(liveness.beat(at(2)).is_empty(), "it was only stopped");
    }

    #[test]
    fn a_worker_that_beats_is_alive_however_slowly() {
        let mut liveness = Liveness::default();
        for count in 0..100 {
            for _ in 0..SILENT {
                assert!(liveness.beat(at(count)).is_empty());
            }
        }
    }

    #[test]
    fn silence_is_counted_anew_after_a_beat_of_ones_own_failed() {
        let mut liveness = Liveness::default();
        for _ in 0..3 {
            for _ in 0..=SILENT {
                assert!(liveness.beat(at(1)).is_empty());
            }
            liveness.missed();
        }
    }

    #[test]
    fn a_worker_that_is_gone_is_forgotten() {
        let mut liveness = Liveness::default();
        liveness.beat(at(1));
        liveness.beat(Vec::new());
        assert!(liveness.heard.is_empty());
    }
}
