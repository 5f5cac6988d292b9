//! Durable sleeps.

use std::{
    fmt,
    future::Future,
    marker::PhantomData,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use crate::{
    Result, ToolError,
    engine::leg::{Entered, Leg, Mark, Operation, Waiting},
    host::BoxFuture,
    journal::{Entry, Kind},
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
    /// In a call, for which somebody waits.
    Waiting {
        key: String,
        moment: BoxFuture<'static, ()>,
    },
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
        let (key, known) = match entered {
            Entered::Stopped => return Poll::Pending,
            Entered::Closed(error) => return Poll::Ready(Err(error)),
            Entered::Live(key) => (key, None),
            Entered::Replayed(entry) if leg.belonging(Kind::Woke, entry.key()).is_some() => {
                return Poll::Ready(Ok(()));
            }
            Entered::Replayed(_) if leg.is_closing() => {
                return Poll::Ready(Err(ToolError::cancelled()));
            }
            Entered::Replayed(entry) => match leg.read(&entry, entry.tells()) {
                Some(until) => (entry.key().into(), Some(until)),
                None => return Poll::Pending,
            },
        };
        let until = known.unwrap_or_else(|| leg.host.now().after(self.pause));
        if !leg.parks_to_sleep() {
            if known.is_none() {
                leg.note(Entry::asleep(&key, until));
            }
            let moment = leg.host.sleep_until(until);
            self.stage = Stage::Waiting { key, moment };
            return Poll::Pending;
        }
        let begins = known.is_none();
        let mark = leg.mark(Waiting::Moment { key, until, begins });
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
        let Stage::Waiting { key, moment } = &mut self.stage else {
            return Poll::Pending;
        };
        ready!(moment.as_mut().poll(cx));
        let woke = Entry::woke(key);
        self.stage = Stage::Done;
        self.leg.note(woke);
        Poll::Ready(Ok(()))
    }
}

impl fmt::Debug for Sleeping<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sleeping")
            .field("pause", &self.pause)
            .finish_non_exhaustive()
    }
}
