//! Finds the operations on the context in a body, judges where they stand, and gives each question
//! the name under which its answer is kept.

mod binding;
mod chain;
mod macros;
mod question;
mod rules;
mod step;
#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::mem;

use proc_macro2::Ident;
use syn::visit_mut::{self, VisitMut};
use syn::{
    Block, Expr, ExprAssign, ExprAsync, ExprClosure, ExprLet, ExprLit, ExprMethodCall, Item, Lit,
    LitStr, Local, Macro, PatIdent, Type,
};

use self::binding::Binding;
use self::chain::{Chain, Kind};
use crate::args::{Detach, Mode};
use crate::diagnostics::{self, Errors};
use crate::runtime::Runtime;

/// What the rules about operations need to know of the function around them.
pub(crate) struct Surroundings<'a> {
    pub(crate) runtime: &'a Runtime,
    pub(crate) context: Access<'a>,
    pub(crate) mode: Option<Mode>,
    pub(crate) detach: Detach,
}

/// How the body gets at the context.
#[derive(Clone, Copy)]
pub(crate) enum Access<'a> {
    /// By the one `&mut` parameter, which has this name.
    Named(&'a Ident),
    /// By a parameter that is called `ctx`, but is not `&mut`.
    NotMutable(&'a Type),
    /// Not at all.
    None,
}

/// An operation with a name that is known before it runs.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Operation {
    pub(crate) kind: &'static str,
    pub(crate) key: String,
}

impl Operation {
    fn question(key: &str) -> Self {
        Self {
            kind: "input",
            key: key.to_owned(),
        }
    }
}

/// Rewrites `body` in place and returns its operations in the order in which they are written.
pub(crate) fn rewrite(
    body: &mut Block,
    surroundings: &Surroundings<'_>,
    errors: &mut Errors,
) -> Vec<Operation> {
    let mut rewriter = Rewriter {
        surroundings,
        context: match surroundings.context {
            Access::Named(name) => name.to_string(),
            Access::NotMutable(_) | Access::None => "ctx".to_owned(),
        },
        reachable: true,
        errors,
        binding: Binding::default(),
        place: Place::Function,
        operations: Vec::new(),
        taken: HashSet::new(),
    };
    rewriter.visit_block_mut(body);
    rewriter.operations
}

/// The innermost code around an expression that has its own rules.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Function,
    Closure,
    AsyncBlock,
    Step,
}

impl Place {
    /// How it is called, and what to do with an operation inside.
    fn refusal(self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::Function => None,
            Self::Closure => Some((
                "a closure",
                "call it in the body itself, in a loop if there are several",
            )),
            Self::AsyncBlock => Some((
                "an `async` block, whose turn is open",
                "call and await it in the body itself",
            )),
            Self::Step => Some((
                "a step, which is skipped when the body runs again",
                "call it before the step and use what it gave",
            )),
        }
    }
}

struct Rewriter<'a> {
    surroundings: &'a Surroundings<'a>,
    /// The name of the context, or the one that it would have.
    context: String,
    /// False once it is clear that the name means something else, or nothing.
    reachable: bool,
    errors: &'a mut Errors,
    /// What the expression that is visited next is bound to.
    binding: Binding,
    place: Place,
    operations: Vec<Operation>,
    taken: HashSet<Operation>,
}

impl VisitMut for Rewriter<'_> {
    fn visit_pat_ident_mut(&mut self, pattern: &mut PatIdent) {
        if pattern.ident == self.context && matches!(self.surroundings.context, Access::None) {
            self.reachable = false;
        }
    }

    fn visit_local_mut(&mut self, local: &mut Local) {
        self.visit_pat_mut(&mut local.pat);
        let Some(init) = &mut local.init else { return };
        self.bound(Binding::of_pattern(&local.pat), &mut init.expr);
        if let Some((_, diverge)) = &mut init.diverge {
            self.visit_expr_mut(diverge);
        }
    }

    fn visit_expr_let_mut(&mut self, condition: &mut ExprLet) {
        self.visit_pat_mut(&mut condition.pat);
        self.bound(Binding::of_pattern(&condition.pat), &mut condition.expr);
    }

    fn visit_expr_assign_mut(&mut self, assignment: &mut ExprAssign) {
        self.visit_expr_mut(&mut assignment.left);
        self.bound(Binding::of_place(&assignment.left), &mut assignment.right);
    }

    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        let binding = mem::take(&mut self.binding);
        match Chain::of(expr, &self.context) {
            Some(chain) => self.visit_chain(expr, &chain, &binding),
            None => visit_mut::visit_expr_mut(self, expr),
        }
    }

    fn visit_expr_closure_mut(&mut self, closure: &mut ExprClosure) {
        self.within(Place::Closure, |rewriter| {
            rewriter.visit_expr_mut(&mut closure.body);
        });
    }

    fn visit_expr_async_mut(&mut self, block: &mut ExprAsync) {
        self.within(Place::AsyncBlock, |rewriter| {
            rewriter.visit_block_mut(&mut block.block);
        });
    }

    fn visit_macro_mut(&mut self, call: &mut Macro) {
        if let Some(operation) = macros::operation(call.tokens.clone(), &self.context) {
            let spelled = self.spelled(&operation);
            let name = call
                .path
                .segments
                .last()
                .map(|segment| segment.ident.to_string());
            let message = diagnostics::operation_in_macro(spelled, name.unwrap_or_default());
            self.errors.push(operation, message);
        }
    }

    /// An item has no part in the run of the function around it.
    fn visit_item_mut(&mut self, _: &mut Item) {}
}

impl Rewriter<'_> {
    fn bound(&mut self, binding: Binding, expr: &mut Expr) {
        self.binding = binding;
        self.visit_expr_mut(expr);
    }

    fn within(&mut self, place: Place, visit: impl FnOnce(&mut Self)) {
        let outer = self.place;
        // Of a step all is said by the step.
        if outer != Place::Step {
            self.place = place;
        }
        visit(self);
        self.place = outer;
    }

    /// Visits what `chain` was read from, down to the operation where it starts.
    fn visit_chain(&mut self, expr: &mut Expr, chain: &Chain, binding: &Binding) {
        if let Expr::MethodCall(call) = expr {
            if !chain::starts(call, &self.context) {
                self.visit_chain(&mut call.receiver, chain, binding);
                for argument in &mut call.args {
                    self.visit_expr_mut(argument);
                }
                return;
            }
            if !self.judge(call, chain) {
                return;
            }
            match chain.kind {
                Kind::Step(kind) => self.step(call, kind),
                Kind::Question => self.question(expr, chain, binding),
                Kind::Questions => self.questions(expr, binding),
                Kind::Sleep | Kind::Detach => visit_mut::visit_expr_method_call_mut(self, call),
            }
        } else if let Some(inner) = chain::inner_mut(expr) {
            self.visit_chain(inner, chain, binding);
        }
    }

    /// Notes the name of a step, and types the block in it.
    fn step(&mut self, call: &mut ExprMethodCall, kind: &'static str) {
        if let Some(key) = call.args.first().and_then(literal) {
            self.take(
                Operation {
                    kind,
                    key: key.value(),
                },
                key,
            );
        }
        let runtime = self.surroundings.runtime;
        for argument in &mut call.args {
            self.within(Place::Step, |rewriter| rewriter.visit_expr_mut(argument));
            step::type_blocks(argument, runtime);
        }
    }

    fn spelled(&self, method: &Ident) -> String {
        format!("{}.{method}", self.context)
    }
}

/// The text of a string literal.
fn literal(expr: &Expr) -> Option<&LitStr> {
    match expr {
        Expr::Lit(ExprLit {
            lit: Lit::Str(text),
            ..
        }) => Some(text),
        Expr::Group(group) => literal(&group.expr),
        Expr::Paren(paren) => literal(&paren.expr),
        _ => None,
    }
}
