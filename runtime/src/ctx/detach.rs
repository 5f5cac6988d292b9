//! From a call to a task.

use std::{
    fmt,
    future::Future,
    marker::PhantomData,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use crate::{Result, engine::leg::Leg};

/// A wish to be a task that waits to be awaited: what `ctx.detach()` gives.
#[must_use = "the call becomes a task when it is awaited"]
pub struct Detaching<'a> {
    leg: Arc<Leg>,
    asked: bool,
    borrows: PhantomData<&'a mut ()>,
}

impl Detaching<'_> {
    pub(super) const fn new(leg: Arc<Leg>) -> Self {
        Self {
            leg,
            asked: false,
            borrows: PhantomData,
        }
    }
}

impl Future for Detaching<'_> {
    type Output = Result<()>;

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Self::Output> {
        if self.asked {
            return self.leg.detached().map_or(Poll::Pending, Poll::Ready);
        }
        self.asked = true;
        if !self.leg.can_detach() {
            return Poll::Ready(Ok(()));
        }
        self.leg.ask_to_detach();
        Poll::Pending
    }
}

impl fmt::Debug for Detaching<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Detaching").finish_non_exhaustive()
    }
}
