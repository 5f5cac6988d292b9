//! How much a task, and all of them together, may take.

/// How much one call, and all tasks together, may take.
///
/// Over a limit is a clear error, and nothing is evicted for it.
///
/// ```
/// use siding::{Limits, prelude::*};
///
/// let limits = Limits {
///     result_bytes: 64 * 1024,
///     ..Limits::default()
/// };
/// let server = Server::new("small", "1.0.0").limits(limits);
/// # let _ = server;
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "made by update of the default")]
pub struct Limits {
    /// Tasks of the store that have not ended, and calls that wait for answers to a round. None is
    /// evicted for another. Beyond it, a call that would be a task, or ask by a round, is refused before
    /// any work. Where others take the last places meanwhile, one that would become a task goes on as a
    /// call, and one that would ask fails. Default: 100 000.
    pub live_tasks: u64,
    /// Bytes of a result or an error, as JSON. Beyond it the task fails and keeps none of it.
    /// Default: 1 MiB.
    pub result_bytes: usize,
    /// Bytes of the value of a step, as JSON. Beyond it the step fails. Default: 1 MiB.
    pub journal_value_bytes: usize,
    /// Bytes of a whole journal. Beyond it the task fails. Default: 16 MiB.
    pub journal_bytes: usize,
    /// Entries of a journal. Beyond it the task fails. Default: 10 000.
    pub journal_entries: usize,
}

impl Default for Limits {
    fn default() -> Self {
        const MIB: usize = 1024 * 1024;
        Self {
            live_tasks: 100_000,
            result_bytes: MIB,
            journal_value_bytes: MIB,
            journal_bytes: 16 * MIB,
            journal_entries: 10_000,
        }
    }
}
