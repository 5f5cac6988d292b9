//! Side effects that run once.

use std::{
    fmt,
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use serde::{Serialize, de::DeserializeOwned};

use crate::{
    Result, ToolError,
    engine::leg::{Entered, Leg, Operation},
    host::BoxFuture,
    journal::{Entry, Kind},
};

/// A value that a step may give: it is written to the journal and read from it.
#[diagnostic::on_unimplemented(
    message = "a step cannot give `{Self}`",
    label = "not writable to the journal, or not readable from it",
    note = "derive `serde::Serialize` and `serde::Deserialize` for it, or give what it is made of"
)]
pub trait Journaled: Serialize + DeserializeOwned + Send {}

#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned + Send> Journaled for T {}

/// A step that waits to be awaited: what `ctx.step(..)` gives.
#[must_use = "a step runs when it is awaited"]
pub struct Step<'a, T>(Stage<'a, T>);

/// What a step does, boxed so that all around it is compiled for each type, not for each step.
type Effect<'a, T> = BoxFuture<'a, Result<T>>;

enum Stage<'a, T> {
    New {
        plan: Plan,
        /// Not yet polled.
        effect: Effect<'a, T>,
        start: fn(Plan, Effect<'a, T>) -> BoxFuture<'a, Result<T>>,
    },
    Running(BoxFuture<'a, Result<T>>),
    Done,
}

/// What is to be known of a step before it runs.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) leg: Arc<Leg>,
    pub(super) kind: Kind,
    pub(super) name: String,
    was: Vec<String>,
    at_most_once: bool,
}

impl<'a, T> Step<'a, T> {
    pub(super) fn new<F>(leg: Arc<Leg>, kind: Kind, name: String, future: F) -> Self
    where
        F: Future + Send + 'a,
        F::Output: StepOutcome<Value = T>,
        T: Serialize + DeserializeOwned + Send + 'a,
    {
        Self(Stage::New {
            plan: Plan::new(leg, kind, name),
            effect: Box::pin(async move { future.await.into_result() }),
            start: |plan, effect| Box::pin(run(plan, effect)),
        })
    }

    /// Never starts the step again where it is unknown whether it happened.
    ///
    /// The intent is journaled before the future is polled. After a crash in between, the step is
    /// an `Err` that [`is_unknown`](ToolError::is_unknown) instead of a second attempt.
    pub fn at_most_once(self) -> Self {
        self.with(|plan| plan.at_most_once = true)
    }

    /// Accepts the entries of an earlier version that called the step `name`.
    pub fn was(self, name: impl Into<String>) -> Self {
        self.with(|plan| plan.was.push(name.into()))
    }

    fn with(mut self, change: impl FnOnce(&mut Plan)) -> Self {
        if let Stage::New { plan, .. } = &mut self.0 {
            change(plan);
        }
        self
    }
}

impl<T> Future for Step<'_, T> {
    type Output = Result<T>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut running = match std::mem::replace(&mut self.0, Stage::Done) {
            Stage::New {
                plan,
                effect,
                start,
            } => start(plan, effect),
            Stage::Running(future) => future,
            Stage::Done => return Poll::Pending,
        };
        let polled = running.as_mut().poll(cx);
        if polled.is_pending() {
            self.0 = Stage::Running(running);
        }
        polled
    }
}

impl<T> fmt::Debug for Step<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Step").finish_non_exhaustive()
    }
}

impl Plan {
    fn new(leg: Arc<Leg>, kind: Kind, name: String) -> Self {
        Self {
            leg,
            kind,
            name,
            was: Vec::new(),
            at_most_once: false,
        }
    }

    pub(super) fn enter(&self) -> Entered {
        self.leg.enter(Operation {
            kind: self.kind,
            name: &self.name,
            was: &self.was,
            place: None,
        })
    }
}

async fn run<T>(plan: Plan, effect: Effect<'_, T>) -> Result<T>
where
    T: Serialize + DeserializeOwned + Send,
{
    let leg = &plan.leg;
    match plan.enter() {
        Entered::Replayed(entry) => outcome(leg, &entry).await,
        Entered::Closed(error) => Err(error),
        Entered::Stopped => std::future::pending().await,
        Entered::Live(key) => {
            // From here on the leg must not park, and what the future was made from is durable
            // before it is polled.
            let _in_flight = leg.step_started();
            let begun = plan.at_most_once && leg.belonging(Kind::Began, &key).is_some();
            if plan.at_most_once && !begun {
                leg.note(Entry::began(&key));
            }
            if !leg.flush().await {
                return std::future::pending().await;
            }
            let ended = if begun {
                Err(ToolError::unknown(&key))
            } else {
                let under_way = leg.effect_begins();
                let ended = effect.await;
                under_way.ended();
                ended.map_err(|error| leg.disclose(error))
            };
            let (entry, ended) = Entry::ended(plan.kind, &key, ended, leg.value_limit());
            keep(leg, entry, ended).await
        }
    }
}

/// Makes the end of a step durable before the function goes on with `outcome`.
pub(super) async fn keep<T>(leg: &Leg, entry: Entry, outcome: Result<T>) -> Result<T> {
    if leg.record(entry).await {
        outcome
    } else {
        std::future::pending().await
    }
}

/// What the entry of a step hands on.
pub(super) async fn outcome<T: DeserializeOwned>(leg: &Leg, entry: &Entry) -> Result<T> {
    match leg.read(entry, entry.outcome()) {
        Some(outcome) => outcome,
        None => std::future::pending().await,
    }
}

/// How a step may end.
#[diagnostic::on_unimplemented(
    message = "a step cannot end in `{Self}`",
    label = "a step ends in a `Result`",
    note = "end the future in `siding::Ok(..)`"
)]
pub trait StepOutcome {
    /// What the step gives when it goes well.
    type Value;

    #[doc(hidden)]
    fn into_result(self) -> Result<Self::Value>;
}

impl<T, E: Into<ToolError>> StepOutcome for Result<T, E> {
    type Value = T;

    fn into_result(self) -> Result<T> {
        self.map_err(Into::into)
    }
}

/// Gives an `async` block that is written in the call of a step its type.
pub const fn step_block<T, F: Future<Output = Result<T>>>(block: F) -> F {
    block
}

/// Gives what such a block ends in the type of the block.
///
/// # Errors
///
/// Those of `result`.
pub fn step_result<T, E: Into<ToolError>>(result: Result<T, E>) -> Result<T> {
    result.map_err(Into::into)
}
