//! The rules about operations, wherever they stand.

use std::mem;

use proc_macro2::Ident;
use quote::ToTokens;
use syn::ExprMethodCall;

use super::chain::{Chain, Kind};
use super::macros::Role;
use super::{Access, Operation, Rewriter, Surroundings};
use crate::args::{Detach, Mode};
use crate::diagnostics;

impl Rewriter<'_> {
    /// Applies the rules that hold for every operation; false if one is broken.
    pub(super) fn judge(&mut self, call: &ExprMethodCall, chain: &Chain) -> bool {
        if !self.reach(call) {
            return false;
        }
        let Surroundings { mode, detach, .. } = *self.surroundings;
        let spelled = self.spelled(&call.method);
        let waits = !matches!(chain.kind, Kind::Step(_));
        let message = if waits && mode == Some(Mode::Forbidden) {
            diagnostics::operation_without_task(spelled)
        } else if let Some(message) = self.place.refusal(&spelled, waits) {
            message
        } else if matches!(chain.kind, Kind::Detach)
            && detach.is_some_and(|detach| detach != Detach::Manual)
            && mode.is_some()
        {
            diagnostics::detach_without_manual()
        } else if !chain.awaited {
            diagnostics::operation_not_awaited(spelled)
        } else {
            return true;
        };
        self.errors.push(&call.method, message);
        false
    }

    /// Whether there is a context for `call`; says once if there is not.
    fn reach(&mut self, call: &ExprMethodCall) -> bool {
        if mem::replace(&mut self.reachable, false) {
            match self.surroundings.context {
                Access::Named(_) => self.reachable = true,
                Access::Refused => {}
                Access::NotMutable(ty) => self.errors.push(ty, diagnostics::context_not_mutable()),
                Access::None => {
                    let spelled = self.spelled(&call.method);
                    self.errors
                        .push(&call.receiver, diagnostics::context_missing(spelled));
                }
            }
        }
        self.reachable
    }

    /// Judges that something is given the context by the name `given`.
    pub(super) fn given_away(&mut self, given: &Ident) {
        if self.shadowed || !matches!(self.surroundings.context, Access::Named(_)) {
            return;
        }
        if let Some(message) = self.place.refusal_of_context(&self.context) {
            self.errors.push(given, message);
        }
    }

    /// Reports an operation in the tokens of a macro that is not known.
    pub(super) fn refuse_in_macro(&mut self, operation: &Ident, name: String, role: Role) {
        let spelled = self.spelled(operation);
        let message = match role {
            Role::Join => diagnostics::concurrent_operation(spelled, format!("{name}!")),
            Role::List | Role::Unknown => diagnostics::operation_in_macro(spelled, name),
        };
        self.errors.push(operation, message);
    }

    /// Takes the name of an operation, which no other may have.
    pub(super) fn take(&mut self, operation: Operation, tokens: impl ToTokens) {
        let key = &operation.key;
        if key.is_empty() || key.contains(['#', '/']) {
            self.errors.push(tokens, diagnostics::bad_key(key));
        } else if !self.taken.insert(operation.clone()) {
            let message = match operation.kind {
                "input" => diagnostics::repeated_question(key),
                _ => diagnostics::repeated_step(key),
            };
            self.errors.push(tokens, message);
        } else {
            self.operations.push(operation);
        }
    }
}
