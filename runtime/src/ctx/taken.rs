//! Which context a tool takes, and which server can give it.

use std::sync::Arc;

use super::Ctx;
use crate::engine::leg::Leg;

/// The state of a tool that takes none.
///
/// It is unsized, and so no value of it exists: that is what tells it from every state that a
/// server can have.
#[derive(Debug)]
pub struct NoState {
    _never: [()],
}

/// A state that a tool asks for, and that a server with the state `S` can give.
#[diagnostic::on_unimplemented(
    message = "this tool needs a server with another state",
    label = "it takes `&mut Ctx<{Self}>`, but the state of this server is `{S}`",
    note = "call `.state(..)` with a value of the tool's state type before this tool is added"
)]
pub trait Serves<S> {
    #[doc(hidden)]
    fn ctx(leg: Ticket, state: Arc<S>) -> Ctx<Self>;
}

/// The leg of a context, opaque to everyone else.
#[doc(hidden)]
#[derive(Debug)]
pub struct Ticket(Arc<Leg>);

impl Ticket {
    pub(crate) const fn new(leg: Arc<Leg>) -> Self {
        Self(leg)
    }
}

impl<S> Serves<S> for NoState {
    fn ctx(leg: Ticket, _: Arc<S>) -> Ctx {
        let stateful = None;
        Ctx {
            leg: leg.0,
            stateful,
        }
    }
}

impl<S> Serves<S> for S {
    fn ctx(leg: Ticket, state: Arc<S>) -> Ctx<S> {
        let plain = Ctx {
            leg: leg.0.clone(),
            stateful: None,
        };
        Ctx {
            leg: leg.0,
            stateful: Some((Box::new(plain), state)),
        }
    }
}

/// The context of a tool, whatever its state: what the one `&mut` parameter must be.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the context of a tool",
    label = "expected `Ctx`, or `Ctx<App>` for a server with a state",
    note = "the one `&mut` parameter of a tool is its context; take other arguments by value"
)]
pub trait Context {
    /// The state that it gives.
    type State: ?Sized + Send + Sync + 'static;

    #[doc(hidden)]
    fn of(ctx: &mut Ctx<Self::State>) -> &mut Self;
}

impl<S: ?Sized + Send + Sync + 'static> Context for Ctx<S> {
    type State = S;

    fn of(ctx: &mut Self) -> &mut Self {
        ctx
    }
}

/// The context of a toolbox, or the plain one in it: what the `&mut` parameter of a method must be.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a context of this toolbox",
    label = "expected `Ctx`, or `Ctx<Self>`",
    note = "the one `&mut` parameter of a tool is its context; take other arguments by value"
)]
pub trait ContextIn<S> {
    #[doc(hidden)]
    fn of(ctx: &mut Ctx<S>) -> &mut Self;
}

impl<S> ContextIn<S> for Ctx<S> {
    fn of(ctx: &mut Self) -> &mut Self {
        ctx
    }
}

impl<S> ContextIn<S> for Ctx {
    fn of(ctx: &mut Ctx<S>) -> &mut Self {
        ctx
    }
}

/// The context that a function takes.
pub fn context<C: Context>(ctx: &mut Ctx<C::State>) -> &mut C {
    C::of(ctx)
}

/// The context that a method of `S` takes.
pub fn context_in<S, C: ContextIn<S>>(ctx: &mut Ctx<S>) -> &mut C {
    C::of(ctx)
}
