//! Polls the author's function, and reads after every poll what became of the leg.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    task::{Context, Poll},
};

use super::{
    ends::{end, panicked, text_of},
    leg::{Fault, Leg, Parking},
};
use crate::{
    host::BoxFuture,
    record::End,
    tool::{Outcome, Registered},
};

/// What a poll of a leg came to.
#[derive(Debug)]
pub(super) enum Turn {
    /// The function is done.
    Ended(End),
    /// The function panicked.
    Panicked(End),
    /// It can only wait.
    Parked(Parking),
    /// It wants to be a task; it is to be polled again.
    Detaching,
    /// The leg is over, whatever the function says.
    Faulted(Fault),
    /// The leg was given up in the middle.
    Dropped,
}

/// The function of a tool while it runs.
pub(super) struct Running {
    tool: &'static str,
    future: Option<BoxFuture<'static, Outcome>>,
}

impl Running {
    pub(super) fn start(tool: &Registered, leg: &Arc<Leg>) -> Self {
        Self {
            tool: tool.definition.name,
            future: Some(tool.start(leg.clone())),
        }
    }

    /// Polls the function once and tells what became of the leg.
    pub(super) fn poll(&mut self, leg: &Leg, cx: &mut Context<'_>) -> Poll<Turn> {
        let Some(future) = &mut self.future else {
            return Poll::Pending;
        };
        let poll = || catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx)));
        let polled = leg.replaying.scope(poll);
        let turn = match polled {
            Err(panic) => Turn::Panicked(panicked(&leg.origin.tool, panic.as_ref())),
            Ok(polled) => match (leg.take_fault(), polled) {
                (Some(fault), _) => Turn::Faulted(fault),
                (None, Poll::Ready(outcome)) => match leg.unread() {
                    Some(fault) => Turn::Faulted(fault),
                    None => Turn::Ended(end(outcome, &leg.limits)),
                },
                (None, Poll::Pending) => {
                    if leg.wants_to_detach(cx.waker()) {
                        return Poll::Ready(Turn::Detaching);
                    }
                    match leg.parking() {
                        None => return Poll::Pending,
                        Some(parking) => leg.unread().map_or(Turn::Parked(parking), Turn::Faulted),
                    }
                }
            },
        };
        self.drop_future();
        Poll::Ready(turn)
    }

    /// Drops the function. What its values do when they are dropped is the author's code too.
    fn drop_future(&mut self) {
        let tool = self.tool;
        let future = self.future.take();
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| drop(future))) {
            tracing::error!(
                tool,
                panic = text_of(panic.as_ref()),
                "a value panicked when dropped"
            );
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.drop_future();
    }
}
