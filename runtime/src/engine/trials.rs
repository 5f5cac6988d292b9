//! Trying again what was under way when its worker died.
//!
//! One of it may have killed the worker, and would take the others with it again and again. So it is
//! tried one by one, then in groups that grow as long as all goes well: a task that kills its process
//! is soon alone.

use std::sync::Arc;

use crate::record::{Record, TaskId};

/// So many are tried one by one before groups begin to grow: where few were under way, none of them
/// dies twice of another.
const ALONE: u32 = 4;

/// The suspects that this worker tries now.
#[derive(Debug, Default)]
pub(super) struct Trials {
    /// The size of the group that is tried, or was tried last; zero before the first.
    size: u32,
    /// How many were tried one by one.
    alone: u32,
    /// Those that have shown nothing yet, with the fences of their legs.
    under: Vec<(TaskId, u64)>,
}

/// What may be tried next.
#[derive(Debug, Default)]
pub(super) struct Group {
    /// Its size, which is kept with the claims for the case that it kills this worker, too.
    pub(super) size: u32,
    pub(super) suspects: Vec<Arc<Record>>,
}

impl Trials {
    /// Which of `suspects` may be tried now. `is_quiet` tells that nothing would die with them.
    ///
    /// The first are tried one by one. Then the group is twice as large as the one before it; none is
    /// in one that is larger than half of the group in which it died. One that killed a worker alone
    /// comes last, when it is quiet.
    pub(super) fn next(&self, mut suspects: Vec<Arc<Record>>, is_quiet: bool) -> Group {
        if self.is_trying() || suspects.is_empty() {
            return Group::default();
        }
        let deaths = |record: &Arc<Record>| record.suspect.map_or(0, |suspect| suspect.deaths);
        suspects.sort_by_key(|record| (record.stalled, deaths(record), record.id().clone()));
        let innocent = suspects.partition_point(|record| record.stalled == 0);
        if innocent == 0 {
            suspects.truncate(usize::from(is_quiet));
            return Group { size: 1, suspects };
        }
        suspects.truncate(innocent);
        let size = match self.size {
            0 => suspects.iter().filter_map(half).min().unwrap_or(1),
            1 if self.alone < ALONE => 1,
            size => size.saturating_mul(2),
        };
        let mut members = 0;
        let mut most = size;
        for suspect in &suspects {
            let narrowed = half(suspect).map_or(most, |half| half.min(most));
            if members >= narrowed {
                break;
            }
            most = narrowed;
            members += 1;
        }
        suspects.truncate(usize::try_from(members).unwrap_or(usize::MAX));
        Group {
            size: members,
            suspects,
        }
    }

    /// Those that were claimed of a group of this size are tried from now on.
    pub(super) fn begin(&mut self, size: u32, claimed: Vec<(TaskId, u64)>) {
        if !claimed.is_empty() {
            self.size = size;
            self.alone += u32::from(size == 1);
            self.under = claimed;
        }
    }

    /// Those that have shown nothing yet.
    pub(super) fn under(&self) -> &[(TaskId, u64)] {
        &self.under
    }

    /// This one made an entry, parked or ended: it kills nothing.
    pub(super) fn has_shown(&mut self, id: &TaskId) {
        self.under.retain(|(under, _)| under != id);
    }

    /// All that are tried have lived long enough.
    pub(super) fn have_lived(&mut self) {
        self.under.clear();
    }

    pub(super) fn is_trying(&self) -> bool {
        !self.under.is_empty()
    }

    /// There is nothing left to try, so that the next group is a first one.
    pub(super) fn are_over(&mut self) {
        self.size = 0;
        self.alone = 0;
    }
}

/// Half of the group in which it died, if it died in one.
fn half(suspect: &Arc<Record>) -> Option<u32> {
    let half = suspect.suspect?.group;
    (half > 0).then_some(half)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{record::Suspect, testing::record};

    fn suspect(id: &str, stalled: u32, deaths: u32, group: u32) -> Arc<Record> {
        let mut record = record(id);
        record.stalled = stalled;
        record.suspect = Some(Suspect { deaths, group });
        Arc::new(record)
    }

    fn ids(group: &Group) -> Vec<&str> {
        let ids = group.suspects.iter().map(|record| record.id().as_str());
        ids.collect()
    }

    fn begin(trials: &mut Trials, group: &Group) {
        let claimed = group.suspects.iter().map(|record| (record.id().clone(), 1));
        trials.begin(group.size, claimed.collect());
    }

    #[test]
    fn after_some_that_were_alone_groups_grow_as_long_as_all_goes_well() {
        let mut trials = Trials::default();
        let mut pending: Vec<_> = (0..12).map(|n| suspect(&n.to_string(), 0, 1, 0)).collect();
        let mut sizes = Vec::new();
        while !pending.is_empty() {
            let group = trials.next(pending.clone(), false);
            pending.retain(|record| !group.suspects.contains(record));
            sizes.push(group.suspects.len());
            begin(&mut trials, &group);
            assert!(
                trials.next(pending.clone(), true).suspects.is_empty(),
                "one at a time"
            );
            trials.have_lived();
        }
        assert_eq!(sizes, [1, 1, 1, 1, 2, 4, 2]);
    }

    #[test]
    fn after_a_crash_the_group_is_the_half() {
        let pending = [
            suspect("a", 0, 2, 2),
            suspect("b", 0, 2, 2),
            suspect("c", 0, 1, 0),
        ];
        let group = Trials::default().next(pending.into(), false);
        assert_eq!((group.size, ids(&group)), (2, vec!["c", "a"]));
    }

    #[test]
    fn what_died_in_a_group_of_two_is_alone_the_next_time_however_well_others_do() {
        let mut trials = Trials::default();
        let fresh = (0..4).map(|n| suspect(&format!("fresh {n}"), 0, 1, 0));
        let mut pending: Vec<_> = fresh.collect();
        pending.extend(["a", "b"].map(|id| suspect(id, 0, 2, 1)));
        while !pending.is_empty() {
            let group = trials.next(pending.clone(), false);
            pending.retain(|record| !group.suspects.contains(record));
            if group
                .suspects
                .iter()
                .any(|record| record.id().as_str() < "f")
            {
                assert_eq!(group.suspects.len(), 1, "{:?}", ids(&group));
            }
            begin(&mut trials, &group);
            trials.have_lived();
        }
    }

    #[test]
    fn what_killed_a_worker_alone_comes_last_and_when_it_is_quiet() {
        let pending = vec![suspect("killer", 1, 1, 1), suspect("other", 0, 5, 1)];
        let trials = Trials::default();
        assert_eq!(ids(&trials.next(pending.clone(), true)), ["other"]);
        let killer = vec![pending[0].clone()];
        assert!(trials.next(killer.clone(), false).suspects.is_empty());
        assert_eq!(ids(&trials.next(killer, true)), ["killer"]);
    }

    #[test]
    fn a_group_is_over_when_each_of_it_has_shown_something() {
        let mut trials = Trials::default();
        let pending = vec![suspect("a", 0, 1, 2), suspect("b", 0, 1, 2)];
        let group = trials.next(pending, false);
        begin(&mut trials, &group);
        trials.has_shown(&TaskId::from("a"));
        assert!(trials.is_trying());
        trials.has_shown(&TaskId::from("b"));
        assert!(!trials.is_trying());
    }
}
