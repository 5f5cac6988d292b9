//! Functions that ask on behalf of a tool.

use std::sync::Arc;

use super::Ctx;
use crate::engine::leg::Leg;

/// While it is held, operations carry the name of a part in their keys.
#[derive(Debug)]
pub struct Part {
    leg: Arc<Leg>,
    /// The part from which this one was called.
    outer: Option<&'static str>,
}

impl Drop for Part {
    fn drop(&mut self) {
        self.leg.go_to(self.outer);
    }
}

/// A context, with whatever state: what the one `&mut` parameter of a part must be.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the context of a tool",
    label = "expected `Ctx`, or `Ctx<App>` for a server with a state",
    note = "a part asks on behalf of a tool, by whose context it is called: `ctx: &mut Ctx`"
)]
pub trait InPart {
    /// Goes into the part `name`, until what is given is dropped.
    fn part(&self, name: &'static str) -> Part;
}

impl<S: ?Sized> InPart for Ctx<S> {
    fn part(&self, name: &'static str) -> Part {
        Part {
            outer: self.leg.go_to(Some(name)),
            leg: self.leg.clone(),
        }
    }
}

/// Goes into the part `name` of the tool whose context is `ctx`.
pub fn part<C: InPart + ?Sized>(ctx: &C, name: &'static str) -> Part {
    ctx.part(name)
}
