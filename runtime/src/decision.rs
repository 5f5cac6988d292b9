//! The one decision of every call: in the call, by rounds, live or as a task, made before any work.

use crate::tool::Detach;

/// How a tool may run: the `task` option of `#[mcp_tool]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "the design has these three")]
pub enum Mode {
    /// Always in the call. It cannot ask.
    #[default]
    Forbidden,
    /// As a task where the client can follow one, otherwise in the call.
    Optional,
    /// Only as a task: clients that cannot follow one get `-32021`.
    Required,
}

/// What one request says about its client. Nothing that an earlier request said counts
/// (2026-07-28, statelessness).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Caller {
    pub(crate) era: Era,
    /// Whether this request declared the tasks extension.
    pub(crate) declares_tasks: bool,
}

/// The age of the protocol that a request speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Era {
    /// 2026-07-28 or later.
    Modern,
    /// 2025-11-25 or earlier; the extension key means nothing there (SEP-2663).
    Legacy,
}

/// How a call runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    /// The call waits for the result, and nobody is asked.
    InCall,
    /// The call waits for the result, and its client is asked while it waits.
    Live,
    /// The call waits for the result or the first question; the client brings the answer when it
    /// calls again (SEP-2322).
    Rounds,
    /// It becomes a task, at once or later.
    Task(Detach),
    /// The call is refused with `-32021` before anything runs.
    NeedsTasks,
}

impl Caller {
    /// Whether the client can follow a task.
    pub(crate) const fn follows_tasks(self) -> bool {
        matches!(self.era, Era::Modern) && self.declares_tasks
    }
}

/// How a call of a tool in `mode`, which becomes a task as `detach` says, runs for `caller`.
pub(crate) const fn decide(mode: Mode, detach: Detach, caller: Caller) -> Decision {
    match (mode, caller.era) {
        (Mode::Forbidden, _) => Decision::InCall,
        (Mode::Optional | Mode::Required, _) if caller.follows_tasks() => Decision::Task(detach),
        (Mode::Required, _) => Decision::NeedsTasks,
        (Mode::Optional, Era::Modern) => Decision::Rounds,
        (Mode::Optional, Era::Legacy) => Decision::Live,
    }
}

#[cfg(test)]
mod tests {
    use super::{Decision::*, Era::*, Mode::*, *};

    #[test]
    fn the_whole_table() {
        for detach in [Detach::Always, Detach::AfterMs(500), Detach::Manual] {
            let table = [
                // mode, era, declared, decision
                (Required, Modern, true, Task(detach)),
                (Required, Modern, false, NeedsTasks),
                (Required, Legacy, true, NeedsTasks),
                (Required, Legacy, false, NeedsTasks),
                (Optional, Modern, true, Task(detach)),
                (Optional, Modern, false, Rounds),
                (Optional, Legacy, true, Live),
                (Optional, Legacy, false, Live),
                (Forbidden, Modern, true, InCall),
                (Forbidden, Modern, false, InCall),
                (Forbidden, Legacy, true, InCall),
                (Forbidden, Legacy, false, InCall),
            ];
            for (mode, era, declares_tasks, expected) in table {
                let caller = Caller {
                    era,
                    declares_tasks,
                };
                assert_eq!(
                    decide(mode, detach, caller),
                    expected,
                    "{mode:?} {detach:?} {caller:?}"
                );
            }
        }
    }
}
