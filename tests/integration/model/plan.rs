//! What a tool does and what happens to it, from a seed.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::dice::Dice;

/// One thing that a tool does. The place in its plan is its name in the history.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(super) enum Op {
    Step {
        millis: u64,
        fails: bool,
    },
    Once {
        millis: u64,
    },
    All {
        members: u64,
        millis: u64,
    },
    Ask {
        timeout: Option<u64>,
    },
    Sleep {
        millis: u64,
    },
    Part {
        millis: u64,
    },
    /// What is undone in the end, or when the task is cancelled.
    Reserve {
        millis: u64,
    },
}

/// What happens to the servers and what they stand on.
#[derive(Clone, Copy, Debug)]
pub(super) enum Fault {
    /// Killed, and started again after a while.
    Kill {
        server: usize,
        down: Duration,
        /// Also where it is stopped.
        stopped: bool,
    },
    /// Stopped, and continued after a while.
    Stop { server: usize, still: Duration },
    /// Another program keeps the file locked.
    Lock { held: Duration },
    /// There is no space left.
    Full { full: Duration },
    /// The wall clock of one of them jumps by so many milliseconds.
    Jump { server: usize, by: i64 },
}

/// What is done from outside.
#[derive(Clone, Debug)]
pub(super) enum Act {
    Call {
        server: usize,
        plan: Vec<Op>,
    },
    /// Cancels one of those that are known by then.
    Cancel {
        server: usize,
        which: u64,
    },
    Fault(Fault),
}

/// All that happens in a run, in the order of its time.
pub(super) struct Script {
    pub(super) acts: Vec<(Duration, Act)>,
    pub(super) length: Duration,
}

impl Script {
    /// `length` is for how long there are faults.
    pub(super) fn new(seed: u64, length: Duration) -> Self {
        let mut dice = Dice::new(seed);
        let whole = u64::try_from(length.as_millis()).unwrap();
        // Where less else happens, more lives long enough to be taken for dead, and to wake up again.
        let moods = [
            (400, 3_000, 4_000),
            (700, 1_200, 4_000),
            (2_500, 600, u64::MAX),
        ];
        let (kills, stops, disks) = moods[dice.index(3)];
        let mut acts = Vec::new();
        let mut add = |dice: &mut Dice, every: u64, act: &mut dyn FnMut(&mut Dice) -> Act| {
            // At least once, unless it is never.
            let times = if every == u64::MAX {
                0
            } else {
                whole.div_ceil(every)
            };
            for _ in 0..times {
                acts.push((dice.millis(0..whole), act(dice)));
            }
        };
        add(&mut dice, 250, &mut |dice| Act::Call {
            server: dice.server(),
            plan: plan(dice),
        });
        add(&mut dice, 700, &mut |dice| Act::Cancel {
            server: dice.server(),
            which: dice.throw(),
        });
        add(&mut dice, kills, &mut |dice| {
            Act::Fault(Fault::Kill {
                server: dice.server(),
                down: dice.millis(0..600),
                stopped: dice.one_in(4),
            })
        });
        add(&mut dice, stops, &mut |dice| {
            let long = !dice.one_in(3);
            let still = dice.millis(if long { 2_000..3_500 } else { 50..700 });
            let server = dice.server();
            Act::Fault(Fault::Stop { server, still })
        });
        add(&mut dice, disks, &mut |dice| {
            let long = dice.one_in(8);
            // Longer than a write waits.
            let held = dice.millis(if long { 5_200..6_500 } else { 100..2_000 });
            Act::Fault(Fault::Lock { held })
        });
        add(&mut dice, disks, &mut |dice| {
            Act::Fault(Fault::Full {
                full: dice.millis(200..1_500),
            })
        });
        add(&mut dice, 1_500, &mut |dice| {
            let by = i64::try_from(dice.within(1_000..3_600_000)).unwrap();
            let back = dice.one_in(3);
            Act::Fault(Fault::Jump {
                server: dice.server(),
                by: if back { -by } else { by },
            })
        });
        acts.sort_by_key(|(at, _)| *at);
        Self { acts, length }
    }
}

fn plan(dice: &mut Dice) -> Vec<Op> {
    let length = dice.within(2..8);
    (0..length).map(|_| op(dice)).collect()
}

fn op(dice: &mut Dice) -> Op {
    let millis = dice.within(1..200);
    match dice.within(0..12) {
        0..3 => Op::Step {
            millis,
            fails: dice.one_in(5),
        },
        3 | 11 => Op::Once { millis },
        4 => Op::All {
            members: dice.within(1..5),
            millis,
        },
        5 | 6 => Op::Ask {
            timeout: dice.one_in(3).then(|| dice.within(50..1_000)),
        },
        7 => Op::Sleep { millis },
        8 => Op::Part { millis },
        _ => Op::Reserve { millis },
    }
}
