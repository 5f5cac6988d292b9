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
    engine::leg::{Entered, Leg, Operation},
    journal::{Entry, Kind},
};

/// A wish to be a task that waits to be awaited: what `ctx.detach()` gives.
#[must_use = "the call becomes a task when it is awaited"]
pub struct Detaching<'a> {
    leg: Arc<Leg>,
    stage: Stage,
    borrows: PhantomData<&'a mut ()>,
}

enum Stage {
    New,
    /// The driver of the leg was asked to make it a task; what comes of it is kept under this key.
    Asked {
        key: String,
    },
    Done,
}

impl Detaching<'_> {
    pub(super) const fn new(leg: Arc<Leg>) -> Self {
        Self {
            leg,
            stage: Stage::New,
            borrows: PhantomData,
        }
    }

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
            Entered::Replayed(entry) => {
                let outcome = self.leg.read(&entry, entry.outcome());
                outcome.map_or(Poll::Pending, Poll::Ready)
            }
            Entered::Live(key) if self.leg.can_detach() => {
                self.stage = Stage::Asked { key };
                self.leg.ask_to_detach();
                Poll::Pending
            }
            Entered::Live(key) => self.done(&key, Ok(())),
        }
    }

    fn done(&self, key: &str, outcome: Result<()>) -> Poll<Result<()>> {
        let limit = self.leg.value_limit();
        let (entry, outcome) = Entry::ended(Kind::Detached, key, outcome, limit);
        self.leg.note(entry);
        Poll::Ready(outcome)
    }
}

impl Future for Detaching<'_> {
    type Output = Result<()>;

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Self::Output> {
        match std::mem::replace(&mut self.stage, Stage::Done) {
            Stage::New => self.reach(),
            Stage::Asked { key } => {
                if let Some(outcome) = self.leg.detached() {
                    return self.done(&key, outcome);
                }
                self.stage = Stage::Asked { key };
                Poll::Pending
            }
            Stage::Done => Poll::Pending,
        }
    }
}

impl fmt::Debug for Detaching<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Detaching").finish_non_exhaustive()
    }
}
