//! Durable sleeps.

use std::{
    fmt,
    future::Future,
    marker::PhantomData,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use crate::{
    Result, ToolError,
    engine::leg::{Entered, Leg, Mark, Operation, Waiting},
    host::BoxFuture,
    journal::Kind,
};

/// A sleep that waits to be awaited: what `ctx.sleep(..)` gives.
#[must_use = "a sleep begins when it is awaited"]
pub struct Sleeping<'a> {
    leg: Arc<Leg>,
    pause: Duration,
    stage: Stage,
    borrows: PhantomData<&'a mut ()>,
}

enum Stage {
    New,
    /// In a call, which cannot park.
    Waiting(BoxFuture<'static, ()>),
    Marked {
        _mark: Mark,
    },
    Done,
}

impl Sleeping<'_> {
    pub(super) const fn new(leg: Arc<Leg>, pause: Duration) -> Self {
        Self {
            leg,
            pause,
            stage: Stage::New,
            borrows: PhantomData,
        }
    }

    fn begin(&mut self) -> Poll<Result<()>> {
        let leg = &self.leg;
        let entered = leg.enter(Operation {
            kind: Kind::Asleep,
            name: "sleep",
            was: &[],
            place: None,
        });
        let until = leg.host.now().after(self.pause);
        let (key, until) = match entered {
            Entered::Stopped => return Poll::Pending,
            Entered::Closed(error) => return Poll::Ready(Err(error)),
            Entered::Live(_) if !leg.can_park() => {
                self.stage = Stage::Waiting(leg.host.sleep_until(until));
                return Poll::Pending;
            }
            Entered::Live(key) => (key, Some(until)),
            Entered::Replayed(entry) if leg.belonging(Kind::Woke, entry.key()).is_some() => {
                return Poll::Ready(Ok(()));
            }
            Entered::Replayed(_) if leg.is_closing() => {
                return Poll::Ready(Err(ToolError::cancelled()));
            }
            Entered::Replayed(entry) => (entry.key().into(), None),
        };
        let mark = leg.mark(Waiting::Moment { key, until });
        self.stage = Stage::Marked { _mark: mark };
        Poll::Pending
    }
}

impl Future for Sleeping<'_> {
    type Output = Result<()>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        if let Stage::New = self.stage {
            self.stage = Stage::Done;
            if let Poll::Ready(done) = self.begin() {
                return Poll::Ready(done);
            }
        }
        match &mut self.stage {
            Stage::Waiting(sleep) => sleep.as_mut().poll(cx).map(Ok),
            Stage::New | Stage::Marked { .. } | Stage::Done => Poll::Pending,
        }
    }
}

impl fmt::Debug for Sleeping<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sleeping")
            .field("pause", &self.pause)
            .finish_non_exhaustive()
    }
}
