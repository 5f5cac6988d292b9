//! What is known of a tool before anybody calls it.

use std::panic::Location;

use crate::Mode;

/// What `#[mcp_tool]` found out about a function, apart from its types.
#[derive(Clone, Debug)]
pub struct Definition {
    pub(crate) name: &'static str,
    /// Where the function is written.
    pub(crate) place: &'static Location<'static>,
    pub(crate) mode: Mode,
    pub(crate) title: Option<&'static str>,
    pub(crate) description: Option<&'static str>,
    /// Milliseconds from the creation of a task until it is forgotten.
    pub(crate) ttl_ms: u64,
    /// Milliseconds that a client should leave between two polls.
    pub(crate) poll_ms: u64,
    pub(crate) detach: Detach,
    pub(crate) max_running: Option<u32>,
    pub(crate) hints: Hints,
    /// The named operations in the order of the code, as (kind, key).
    pub(crate) operations: &'static [(&'static str, &'static str)],
    /// Whether a call of it may have something to clean up when it is cancelled.
    pub(crate) may_clean_up: bool,
}

/// When a call becomes a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Detach {
    /// At once.
    Always,
    /// When it still runs after these milliseconds, or parks.
    AfterMs(u64),
    /// When it calls `ctx.detach()`.
    Manual,
}

/// What a client may be told of a tool's behaviour.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Hints {
    pub(crate) read_only: Option<bool>,
    pub(crate) destructive: Option<bool>,
    pub(crate) idempotent: Option<bool>,
    pub(crate) open_world: Option<bool>,
}

impl Definition {
    /// Tasks are forgotten an hour after their creation, unless the tool says otherwise.
    const DEFAULT_TTL_MS: u64 = 60 * 60 * 1_000;
    /// Clients are asked to poll each second, unless the tool says otherwise.
    const DEFAULT_POLL_MS: u64 = 1_000;

    /// A tool called `name` that may run in `mode`, written at the caller's place.
    #[track_caller]
    pub const fn new(name: &'static str, mode: Mode) -> Self {
        Self {
            name,
            place: Location::caller(),
            mode,
            title: None,
            description: None,
            ttl_ms: Self::DEFAULT_TTL_MS,
            poll_ms: Self::DEFAULT_POLL_MS,
            detach: Detach::Always,
            max_running: None,
            hints: Hints {
                read_only: None,
                destructive: None,
                idempotent: None,
                open_world: None,
            },
            operations: &[],
            may_clean_up: false,
        }
    }

    /// What a person sees as its name.
    pub const fn title(mut self, title: &'static str) -> Self {
        self.title = Some(title);
        self
    }

    /// What the model reads about it.
    pub const fn description(mut self, description: &'static str) -> Self {
        self.description = Some(description);
        self
    }

    /// The time to live of its tasks, from their creation.
    pub const fn ttl_ms(mut self, ttl_ms: u64) -> Self {
        self.ttl_ms = ttl_ms;
        self
    }

    /// The pause that clients should leave between two polls.
    pub const fn poll_ms(mut self, poll_ms: u64) -> Self {
        self.poll_ms = poll_ms;
        self
    }

    /// A call becomes a task when it still runs after `ms`, or parks.
    pub const fn detach_after_ms(mut self, ms: u64) -> Self {
        self.detach = Detach::AfterMs(ms);
        self
    }

    /// A call becomes a task when it says so.
    pub const fn detach_manual(mut self) -> Self {
        self.detach = Detach::Manual;
        self
    }

    /// How many legs of it may run at once.
    pub const fn max_running(mut self, legs: u32) -> Self {
        self.max_running = Some(legs);
        self
    }

    /// `readOnlyHint`: it changes nothing.
    pub const fn read_only(mut self, hint: bool) -> Self {
        self.hints.read_only = Some(hint);
        self
    }

    /// `destructiveHint`: it may destroy something.
    pub const fn destructive(mut self, hint: bool) -> Self {
        self.hints.destructive = Some(hint);
        self
    }

    /// `idempotentHint`: calling it twice does no more than calling it once.
    pub const fn idempotent(mut self, hint: bool) -> Self {
        self.hints.idempotent = Some(hint);
        self
    }

    /// `openWorldHint`: it deals with things outside of this server.
    pub const fn open_world(mut self, hint: bool) -> Self {
        self.hints.open_world = Some(hint);
        self
    }

    /// Its named operations in the order of the code, as (kind, key).
    pub const fn operations(mut self, operations: &'static [(&'static str, &'static str)]) -> Self {
        self.operations = operations;
        self
    }

    /// A call of it may have something to clean up when it is cancelled.
    pub const fn may_clean_up(mut self) -> Self {
        self.may_clean_up = true;
        self
    }

    /// Whether it has a named operation of this kind.
    pub(crate) fn has(&self, kind: &str) -> bool {
        self.operations.iter().any(|(known, _)| *known == kind)
    }
}
