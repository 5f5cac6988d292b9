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
    engine::leg::{Entered, Fault, Leg},
    host::BoxFuture,
    journal::{Entry, Kind},
};

/// A step that waits to be awaited: what `ctx.step(..)` gives.
#[must_use = "a step runs when it is awaited"]
pub struct Step<'a, T>(BoxFuture<'a, Result<T>>);

impl<'a, T> Step<'a, T> {
    pub(super) fn new<F>(leg: Arc<Leg>, name: String, future: F) -> Self
    where
        F: Future + Send + 'a,
        F::Output: StepOutcome<Value = T>,
        T: Serialize + DeserializeOwned + Send + 'a,
    {
        Self(Box::pin(run(leg, name, future)))
    }
}

impl<T> Future for Step<'_, T> {
    type Output = Result<T>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.0.as_mut().poll(cx)
    }
}

impl<T> fmt::Debug for Step<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Step").finish_non_exhaustive()
    }
}

async fn run<F, T>(leg: Arc<Leg>, name: String, future: F) -> Result<T>
where
    F: Future + Send,
    F::Output: StepOutcome<Value = T>,
    T: Serialize + DeserializeOwned + Send,
{
    let entry = match leg.enter(Kind::Step, &name, None) {
        Entered::Replayed(entry) => entry,
        Entered::Stopped => return std::future::pending().await,
        Entered::Live(key) => {
            let _in_flight = leg.step_started();
            let outcome = future.await.into_result().map_err(|error| leg.tell(error));
            let entry = Entry::step(&key, outcome);
            if !leg.record(entry.clone()).await {
                return std::future::pending().await;
            }
            entry
        }
    };
    match entry.outcome() {
        Ok(outcome) => outcome,
        Err(error) => {
            leg.stop(Fault::unreadable(Kind::Step, entry.key(), &error));
            std::future::pending().await
        }
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
