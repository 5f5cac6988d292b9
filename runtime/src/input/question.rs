//! One question: from `ctx.input(..)` to its answer.

use std::{
    fmt,
    future::{Future, IntoFuture},
    marker::PhantomData,
    panic::Location,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use super::{
    Answers, Input,
    form::{Answer, Ask},
};
use crate::{
    Result, ToolError,
    engine::leg::{Entered, Fault, Leg, Mark},
    journal::Kind,
};

/// Stands for the answer to come, and for the context that is borrowed until then.
pub(super) type AnswerOf<'a, T> = PhantomData<(&'a mut (), fn() -> T)>;

/// A place in the code where a call may park: the name of the question there, and where it stands.
///
/// `#[mcp_tool]` writes one behind every `ctx.input(..)`; programs do not make them.
#[derive(Debug)]
pub struct Point {
    pub(crate) key: &'static str,
    pub(crate) location: &'static Location<'static>,
}

impl Point {
    /// The point called `key`, at the caller's place.
    #[track_caller]
    pub const fn new(key: &'static str) -> Self {
        Self {
            key,
            location: Location::caller(),
        }
    }
}

/// The state of a [`Question`] that has no name yet.
#[derive(Debug)]
pub struct Unnamed(());

/// The state of a [`Question`] that has a name.
#[derive(Debug)]
pub struct Named {
    key: String,
    location: Option<&'static Location<'static>>,
}

impl Named {
    pub(super) fn at(point: &'static Point) -> Self {
        Self {
            key: point.key.into(),
            location: Some(point.location),
        }
    }
}

/// Whether a question has a name, so that it can be awaited.
#[diagnostic::on_unimplemented(
    message = "this question has no name",
    label = "the attribute did not see this call, so it cannot park here",
    note = "write it in the body of a `#[mcp_tool]` function, or name it: `ctx.input(..).key(\"name\")`"
)]
pub trait Placed {
    #[doc(hidden)]
    fn named(self) -> Named;
}

impl Placed for Named {
    fn named(self) -> Named {
        self
    }
}

/// A question that waits to be awaited: what `ctx.input(..)` gives.
///
/// Awaiting it gives the answer, or an `Err` where the person declined
/// ([`ToolError::is_declined`]) or closed the form ([`ToolError::is_dismissed`]).
#[must_use = "a question is asked when it is awaited"]
pub struct Question<'a, T, N = Named> {
    leg: Arc<Leg>,
    message: String,
    name: N,
    answer: AnswerOf<'a, T>,
}

impl<T> Question<'_, T, Unnamed> {
    pub(crate) fn new(leg: Arc<Leg>, message: String) -> Self {
        Self {
            leg,
            message,
            name: Unnamed(()),
            answer: PhantomData,
        }
    }
}

impl<'a, T> Question<'a, T, Unnamed> {
    /// Names the question by the point that the macro wrote.
    #[doc(hidden)]
    pub fn at(self, point: &'static Point) -> Question<'a, T> {
        self.named(Named::at(point))
    }
}

impl<'a, T, N> Question<'a, T, N> {
    /// Names the question: its key on the wire and in the journal, stable across deploys.
    ///
    /// A loop over unordered items needs the item in the name. `#` and `/` are kept for the
    /// runtime: where a name was used before in the execution, `#2`, `#3`, .. is appended.
    ///
    /// ```
    /// use siding::prelude::*;
    ///
    /// /// Asks about every host.
    /// #[mcp_tool(task = "required")]
    /// async fn drain(ctx: &mut Ctx, hosts: Vec<String>) -> Result<u32> {
    ///     let mut drained = 0;
    ///     for host in hosts {
    ///         let sure: bool = ctx.input(format!("Drain {host}?")).key(format!("drain-{host}")).await?;
    ///         drained += u32::from(sure);
    ///     }
    ///     Ok(drained)
    /// }
    /// ```
    pub fn key(self, key: impl Into<String>) -> Question<'a, T> {
        self.named(Named {
            key: key.into(),
            location: None,
        })
    }

    fn named(self, name: Named) -> Question<'a, T> {
        Question {
            leg: self.leg,
            message: self.message,
            name,
            answer: PhantomData,
        }
    }
}

impl<T, N: fmt::Debug> fmt::Debug for Question<'_, T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Question")
            .field("message", &self.message)
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

impl<'a, T: Input, N: Placed> IntoFuture for Question<'a, T, N> {
    type Output = Result<T>;
    type IntoFuture = Asking<'a, T>;

    fn into_future(self) -> Self::IntoFuture {
        let name = self.name.named();
        Asking {
            wait: Wait::new(
                self.leg,
                name,
                Ask {
                    message: self.message,
                    form: T::form(),
                },
            ),
            answer: PhantomData,
        }
    }
}

/// The future of a question.
#[derive(Debug)]
pub struct Asking<'a, T> {
    wait: Wait,
    answer: AnswerOf<'a, T>,
}

impl<T: Input> Future for Asking<'_, T> {
    type Output = Result<T>;

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Self::Output> {
        match self.wait.advance() {
            Poll::Pending => Poll::Pending,
            Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
            Poll::Ready(Ok(answer)) => match self.wait.value(answer) {
                Some(result) => Poll::Ready(result),
                None => Poll::Pending,
            },
        }
    }
}

/// Waiting for the answer to one question, whatever its type.
///
/// It is never woken: a leg whose only hope is an answer parks, and the answer starts a new leg.
#[derive(Debug)]
pub(super) struct Wait {
    leg: Arc<Leg>,
    stage: Stage,
    /// The key on the wire, once the question was reached.
    key: String,
}

#[derive(Debug)]
enum Stage {
    New { name: Named, ask: Ask },
    Marked(#[expect(dead_code, reason = "held for its drop")] Mark),
    Done,
}

impl Wait {
    pub(super) fn new(leg: Arc<Leg>, name: Named, ask: Ask) -> Self {
        Self {
            leg,
            stage: Stage::New { name, ask },
            key: String::new(),
        }
    }

    /// The answer, where it is in the journal; otherwise the leg is marked as waiting for it.
    pub(super) fn advance(&mut self) -> Poll<Result<Answer>> {
        let (name, ask) = match std::mem::replace(&mut self.stage, Stage::Done) {
            Stage::New { name, ask } => (name, ask),
            waiting => {
                self.stage = waiting;
                return Poll::Pending;
            }
        };
        match self.leg.enter(Kind::Asked, &name.key, name.location) {
            Entered::Stopped => Poll::Pending,
            Entered::Live(key) => {
                self.key = key;
                if let Err(fault) = self.leg.may_wait(&self.key) {
                    return self.stop(fault);
                }
                if let Err(why) = self.leg.can_ask() {
                    return Poll::Ready(Err(ToolError::cannot_ask(why)));
                }
                self.mark(Some(ask))
            }
            Entered::Replayed(entry) => {
                self.key = entry.key().into();
                match entry.ask() {
                    Ok(asked) if asked.form.same_shape(&ask.form) => {}
                    _ => {
                        let fault = Fault::form_changed(&self.key, name.location);
                        return self.stop(fault);
                    }
                }
                match self.leg.answer(&self.key) {
                    None => self.mark(None),
                    Some(Ok(answer)) => Poll::Ready(Ok(answer)),
                    Some(Err(error)) => {
                        let fault = Fault::unreadable(Kind::Answered, &self.key, &error);
                        self.stop(fault)
                    }
                }
            }
        }
    }

    /// The value of an answer, or `None` where the leg had to stop because it fits no more.
    pub(super) fn value<T: Input>(&self, answer: Answer) -> Option<Result<T>> {
        match answer {
            Answer::Declined => Some(Err(ToolError::declined(&self.key))),
            Answer::Dismissed => Some(Err(ToolError::dismissed(&self.key))),
            Answer::Accepted(content) => match T::read(&mut Answers::new(content)) {
                Ok(value) => Some(Ok(value)),
                Err(error) => {
                    self.leg
                        .stop(Fault::unreadable(Kind::Answered, &self.key, &error));
                    None
                }
            },
        }
    }

    fn mark(&mut self, ask: Option<Ask>) -> Poll<Result<Answer>> {
        self.stage = Stage::Marked(self.leg.mark(self.key.clone(), ask));
        Poll::Pending
    }

    fn stop<T>(&self, fault: Fault) -> Poll<T> {
        self.leg.stop(fault);
        Poll::Pending
    }
}
