//! From a call to a task.

use std::{
    fmt,
    future::Future,
    marker::PhantomData,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use crate::{
    Result,
    engine::leg::{Entered, Fault, Leg, Operation},
    journal::{Entry, Kind},
};

/// A wish to be a task that waits to be awaited: what `ctx.detach()` gives.
#[must_use = "the call becomes a task when it is awaited"]
pub struct Detaching<'a> {
    leg: Arc<Leg>,
    reached: bool,
    /// Under what the outcome is kept, once it was reached.
    key: Option<String>,
    borrows: PhantomData<&'a mut ()>,
}

impl Detaching<'_> {
    pub(super) const fn new(leg: Arc<Leg>) -> Self {
        Self {
            leg,
            reached: false,
            key: None,
            borrows: PhantomData,
        }
    }
}

impl Detaching<'_> {
    /// The outcome, where there is nothing to wait for.
    fn reach(&mut self) -> Poll<Result<()>> {
        let entered = self.leg.enter(Operation {
            kind: Kind::Detached,
            name: "detach",
            was: &[],
            place: None,
        });
        match entered {
            Entered::Stopped => Poll::Pending,
            Entered::Closed(error) => Poll::Ready(Err(error)),
            // Whatever came of it then: the code behind it went on by it.
            Entered::Replayed(entry) => match entry.outcome() {
                Ok(outcome) => Poll::Ready(outcome),
                Err(error) => {
                    self.leg
                        .stop(Fault::unreadable(entry.kind(), entry.key(), &error));
                    Poll::Pending
                }
            },
            Entered::Live(key) if self.leg.can_detach() => {
                self.key = Some(key);
                self.leg.ask_to_detach();
                Poll::Pending
            }
            Entered::Live(key) => self.done(&key, Ok(())),
        }
    }

    fn done(&self, key: &str, outcome: Result<()>) -> Poll<Result<()>> {
        let limit = self.leg.value_limit();
        self.leg
            .note(Entry::ended(Kind::Detached, key, outcome.clone(), limit));
        Poll::Ready(outcome)
    }
}

impl Future for Detaching<'_> {
    type Output = Result<()>;

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Self::Output> {
        if !self.reached {
            self.reached = true;
            return self.reach();
        }
        let Some(key) = &self.key else {
            return Poll::Pending;
        };
        match self.leg.detached() {
            Some(outcome) => self.done(key, outcome),
            None => Poll::Pending,
        }
    }
}

impl fmt::Debug for Detaching<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Detaching").finish_non_exhaustive()
    }
}
