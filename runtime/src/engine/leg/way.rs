//! How a leg reaches the one who waits for it.

use std::{fmt, sync::Arc, task::Waker};

use serde_json::Value;

use super::{Leg, state::Detach};
use crate::{
    ToolError,
    host::BoxFuture,
    input::form::Ask,
    record::{Elicits, TaskId},
};

/// How a leg reaches the one who waits for it.
#[derive(Clone, Debug)]
pub(crate) enum Way {
    /// By the result of the request, and nobody is asked.
    Call,
    /// By the result of the request, whose client is asked meanwhile.
    Live(Arc<dyn Link>),
    /// By the result of the request, or by its questions; the client comes back with the answers.
    Rounds {
        /// Whether `ctx.detach()` makes it a task.
        detaches: bool,
    },
    /// As a task: it is one, or becomes one when it has to wait.
    Task,
}

/// A client that can be asked while it waits for a result: those of 2025-11-25 and before.
pub(crate) trait Link: fmt::Debug + Send + Sync {
    /// Puts a question and gives the client's result for it (`ElicitResult`).
    ///
    /// # Errors
    ///
    /// Why there is none, in words.
    fn elicit<'a>(&'a self, id: &'a str, ask: &'a Ask) -> BoxFuture<'a, Result<Value, String>>;
}

/// A client that wants to hear how far its call is.
pub(crate) trait Listens: fmt::Debug + Send + Sync {
    /// Tells that `done` of `total` are done.
    fn progress(&self, done: u64, total: u64) -> BoxFuture<'_, ()>;
}

/// What the client of a request can do for the leg that works for it.
#[derive(Clone, Debug)]
pub(crate) struct Reach {
    pub(crate) way: Way,
    pub(crate) elicits: Elicits,
    pub(crate) listens: Option<Arc<dyn Listens>>,
}

impl Leg {
    /// Whether a question can be put in this leg.
    ///
    /// # Errors
    ///
    /// Why not.
    pub(crate) fn can_ask(&self, ask: &Ask) -> Result<(), &'static str> {
        let Reach { way, elicits, .. } = &self.reach;
        match ask.url {
            _ if matches!(way, Way::Call) => {
                Err("this call cannot ask: nobody can be reached from it")
            }
            None if !elicits.forms => {
                Err("this client cannot ask a person: it did not declare form elicitation")
            }
            Some(_) if !elicits.urls => {
                Err("this client cannot send a person anywhere: it did not declare URL elicitation")
            }
            _ => Ok(()),
        }
    }

    /// The client, where it is asked while it waits.
    pub(crate) const fn link(&self) -> Option<&Arc<dyn Link>> {
        match &self.reach.way {
            Way::Live(link) => Some(link),
            Way::Call | Way::Rounds { .. } | Way::Task => None,
        }
    }

    /// Whether it is a task by now.
    pub(crate) fn is_task(&self) -> bool {
        self.hold().is_some_and(|hold| hold.latest().is_task())
    }

    /// The id of the task; `None` in a call that is none.
    pub(crate) fn task_id(&self) -> Option<&TaskId> {
        self.is_task().then_some(&self.origin.id)
    }

    /// Whether it parks to sleep. Otherwise somebody waits for it meanwhile, and it waits, too.
    pub(crate) fn parks_to_sleep(&self) -> bool {
        matches!(self.reach.way, Way::Task) || self.is_task()
    }

    /// Whether `ctx.detach()` has something to do.
    pub(crate) fn can_detach(&self) -> bool {
        matches!(self.reach.way, Way::Rounds { detaches: true }) && !self.is_task()
    }

    /// Whether anybody could be told how it goes.
    pub(super) const fn has_status(&self) -> bool {
        matches!(self.reach.way, Way::Rounds { .. } | Way::Task)
    }

    /// Asks the driver of the leg to make it a task.
    pub(crate) fn ask_to_detach(&self) {
        let mut state = self.lock();
        state.detach = Some(Detach::Asked);
        state.wake();
    }

    /// What became of the wish to be a task, once there is something to tell.
    pub(crate) fn detached(&self) -> Option<Result<(), ToolError>> {
        let mut state = self.lock();
        match state.detach.take() {
            Some(Detach::Done(done)) => Some(done),
            waiting => {
                state.detach = waiting;
                None
            }
        }
    }

    /// Whether it was asked to become a task, and was not told yet what became of it.
    pub(in crate::engine) fn wants_to_detach(&self, waker: &Waker) -> bool {
        let mut state = self.lock();
        state.waker = Some(waker.clone());
        !state.stopping && matches!(state.detach, Some(Detach::Asked))
    }

    pub(in crate::engine) fn tell_detached(&self, done: Result<(), ToolError>) {
        self.lock().detach = Some(Detach::Done(done));
    }
}
