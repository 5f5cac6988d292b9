//! Finds the operations on the context in a body, judges where they stand, and gives each question
//! the name under which its answer is kept.

mod binding;
mod chain;
mod context;
mod effects;
mod macros;
mod place;
mod prompt;
mod question;
mod replay;
mod rules;
mod step;
#[cfg(test)]
mod tests;
mod unordered;

use std::collections::HashSet;
use std::mem;

use proc_macro2::Ident;
use syn::spanned::Spanned as _;
use syn::visit_mut::{self, VisitMut};
use syn::{
    Block, Expr, ExprAssign, ExprAsync, ExprAwait, ExprCall, ExprClosure, ExprForLoop, ExprLet,
    ExprLit, ExprMethodCall, ExprReference, Item, Lit, LitStr, Local, Macro, PatIdent, Signature,
    Type,
};

use self::binding::Binding;
use self::chain::{Chain, Kind, is_context};
use self::macros::{Arguments, Role};
use self::place::Place;
pub(crate) use self::question::Point;
use self::replay::Replay;
use self::unordered::Collections;
use crate::args::{Detach, Mode};
use crate::diagnostics::{Errors, Warned, Warning};
use crate::runtime::Runtime;

/// What the rules about operations need to know of the function around them.
pub(crate) struct Surroundings<'a> {
    pub(crate) runtime: &'a Runtime,
    pub(crate) signature: &'a Signature,
    pub(crate) context: Access<'a>,
    pub(crate) mode: Option<Mode>,
    pub(crate) detach: Option<Detach>,
    /// The warnings that are not wanted.
    pub(crate) allowed: &'a [Warning],
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
    /// By a parameter that was refused; nothing more is to be said.
    Refused,
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

/// What was found in a body.
#[derive(Default)]
pub(crate) struct Found {
    /// The operations whose names are known, in the order in which they are written.
    pub(crate) operations: Vec<Operation>,
    pub(crate) warnings: Vec<Warned>,
    /// Whether the body may clean up, here or in a function that it hands the context to.
    pub(crate) may_clean_up: bool,
}

/// Rewrites `body` in place and tells what is in it.
pub(crate) fn rewrite(
    body: &mut Block,
    surroundings: &Surroundings<'_>,
    errors: &mut Errors,
) -> Found {
    let may_clean_up = match surroundings.context {
        Access::Named(context) => context::may_clean_up(body, &context.to_string()),
        Access::NotMutable(_) | Access::None | Access::Refused => false,
    };
    let mut rewriter = Rewriter {
        surroundings,
        context: match surroundings.context {
            Access::Named(name) => name.to_string(),
            Access::NotMutable(_) | Access::None | Access::Refused => "ctx".to_owned(),
        },
        reachable: true,
        shadowed: false,
        errors,
        binding: Binding::default(),
        place: Place::Function,
        lazy: false,
        replay: Replay::default(),
        collections: Collections::of_parameters(surroundings.signature),
        operations: Vec::new(),
        taken: HashSet::new(),
    };
    rewriter.visit_block_mut(body);
    Found {
        operations: rewriter.operations,
        warnings: rewriter.replay.warnings(surroundings.mode),
        may_clean_up,
    }
}

struct Rewriter<'a> {
    surroundings: &'a Surroundings<'a>,
    /// The name of the context, or the one that it would have.
    context: String,
    /// False once it is clear that the name means something else, or nothing.
    reachable: bool,
    /// Whether the name may mean something else from here on.
    shadowed: bool,
    errors: &'a mut Errors,
    /// What the expression that is visited next is bound to.
    binding: Binding,
    place: Place,
    /// Whether the code is run by another part of the program, or never.
    lazy: bool,
    replay: Replay,
    collections: Collections,
    operations: Vec<Operation>,
    taken: HashSet<Operation>,
}

impl VisitMut for Rewriter<'_> {
    fn visit_pat_ident_mut(&mut self, pattern: &mut PatIdent) {
        if pattern.ident == self.context {
            self.shadowed = true;
            if matches!(self.surroundings.context, Access::None) {
                self.reachable = false;
            }
        }
    }

    fn visit_block_mut(&mut self, block: &mut Block) {
        let (held, known) = (self.replay.held(), self.collections.known());
        visit_mut::visit_block_mut(self, block);
        self.replay.let_go(held);
        self.collections.forget(known);
    }

    fn visit_local_mut(&mut self, local: &mut Local) {
        self.visit_pat_mut(&mut local.pat);
        if let Some(init) = &mut local.init {
            self.bound(Binding::of_pattern(&local.pat), &mut init.expr);
        }
        self.collections.bind_local(local);
        let Some(init) = &mut local.init else { return };
        if let Some((_, diverge)) = &mut init.diverge {
            self.visit_expr_mut(diverge);
        }
        self.bind_guard(local);
        self.bind_stream(local);
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
        if let Some(name) = context::named(expr, &self.context) {
            self.given_away(name);
        }
        match Chain::of(expr, &self.context) {
            Some(chain) => self.visit_chain(expr, &chain, &binding),
            None => visit_mut::visit_expr_mut(self, expr),
        }
    }

    fn visit_expr_await_mut(&mut self, expr: &mut ExprAwait) {
        if !self.takes_context(&expr.base) {
            self.awaited(expr.await_token.span);
        }
        visit_mut::visit_expr_await_mut(self, expr);
    }

    fn visit_expr_call_mut(&mut self, call: &mut ExprCall) {
        self.called(&call.func);
        let name = call_name(call).cloned();
        if let (Some(name), [Expr::Path(guard)]) =
            (&name, &call.args.iter().collect::<Vec<_>>()[..])
            && name == "drop"
            && let Some(guard) = guard.path.get_ident()
        {
            self.drop_guard(guard);
        }
        match name.as_ref().and_then(Place::of_call) {
            Some(place) => self.within(place, |rewriter| {
                visit_mut::visit_expr_call_mut(rewriter, call);
            }),
            None => visit_mut::visit_expr_call_mut(self, call),
        }
        if let Some(context) = self.context_in(call.args.iter()) {
            self.parks_at(context.span());
        }
    }

    fn visit_expr_method_call_mut(&mut self, call: &mut ExprMethodCall) {
        self.buffered(call);
        let outer = self.replay.boxes(call);
        if !context::is_own_method(call, &self.context) {
            self.visit_expr_mut(&mut call.receiver);
        }
        let mut visit = |rewriter: &mut Self| {
            for argument in &mut call.args {
                rewriter.visit_expr_mut(argument);
            }
        };
        if effects::spawns(&call.method) {
            self.within(Place::Spawned(call.method.to_string()), visit);
        } else {
            visit(self);
        }
        self.replay.boxed = outer;
        if let Some(context) = self.context_in(call.args.iter()) {
            self.parks_at(context.span());
        }
    }

    /// With a shared borrow of the context, no operation can be called.
    fn visit_expr_reference_mut(&mut self, borrow: &mut ExprReference) {
        if borrow.mutability.is_some() || !is_context(&borrow.expr, &self.context) {
            visit_mut::visit_expr_reference_mut(self, borrow);
        }
    }

    fn visit_expr_for_loop_mut(&mut self, over: &mut ExprForLoop) {
        self.for_loop(over, visit_mut::visit_expr_for_loop_mut);
    }

    fn visit_expr_closure_mut(&mut self, closure: &mut ExprClosure) {
        let outer = self.shadowed;
        for input in &mut closure.inputs {
            self.visit_pat_mut(input);
        }
        self.lazily(Place::Closure, |rewriter| {
            rewriter.visit_expr_mut(&mut closure.body);
        });
        self.shadowed = outer;
    }

    fn visit_expr_async_mut(&mut self, block: &mut ExprAsync) {
        self.lazily(Place::AsyncBlock, |rewriter| {
            rewriter.visit_block_mut(&mut block.block);
        });
    }

    fn visit_macro_mut(&mut self, call: &mut Macro) {
        let name = macros::name(call);
        let role = Role::of(&name);
        let operation = macros::operation(call.tokens.clone(), &self.context);
        let arguments = match role {
            Role::Unknown => None,
            Role::List | Role::Join => Arguments::parse(call.tokens.clone()),
        };
        if role == Role::Join
            && let Some(last) = call.path.segments.last()
        {
            self.awaited(last.ident.span());
        }
        match (arguments, operation) {
            (Some(mut arguments), operation) => {
                let mut visit = |rewriter: &mut Self| {
                    for argument in arguments.iter_mut() {
                        rewriter.visit_expr_mut(argument);
                    }
                };
                match role {
                    Role::Join => self.within(Place::Join(format!("{name}!")), visit),
                    _ => visit(self),
                }
                if operation.is_some() {
                    call.tokens = arguments.into_tokens();
                }
            }
            (None, Some(operation)) => self.refuse_in_macro(&operation, name, role),
            (None, None) => {
                let given = context::given_away(call.tokens.clone(), &self.context);
                match given {
                    Some(given) if role == Role::Join => {
                        self.within(Place::Join(format!("{name}!")), |rewriter| {
                            rewriter.given_away(&given);
                        });
                    }
                    Some(given) => self.given_away(&given),
                    None => {}
                }
            }
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
        let outer = self.place.clone();
        if outer.gives_way() {
            self.place = place;
        }
        visit(self);
        self.place = outer;
    }

    /// As [`within`](Self::within), for code that runs at another time.
    fn lazily(&mut self, place: Place, visit: impl FnOnce(&mut Self)) {
        let outer = mem::replace(&mut self.lazy, true);
        self.within(place, visit);
        self.lazy = outer;
    }

    /// The context among `arguments`.
    fn context_in<'e>(&self, mut arguments: impl Iterator<Item = &'e Expr>) -> Option<&'e Expr> {
        arguments.find(|argument| is_context(argument, &self.context))
    }

    /// Whether `expr` is something of the context, or is given it.
    fn takes_context(&self, expr: &Expr) -> bool {
        match expr {
            Expr::MethodCall(call) => {
                self.context_in(call.args.iter()).is_some() || self.takes_context(&call.receiver)
            }
            Expr::Call(call) => self.context_in(call.args.iter()).is_some(),
            other => {
                is_context(other, &self.context)
                    || chain::inner(other).is_some_and(|inner| self.takes_context(inner))
            }
        }
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
            self.in_loop(call, chain);
            if !matches!(chain.kind, Kind::Step(_)) {
                self.parks_at(call.method.span());
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
        for argument in call.args.iter().skip(1) {
            effects::check(argument, self.errors);
        }
        for argument in &mut call.args {
            self.within(Place::Step, |rewriter| rewriter.visit_expr_mut(argument));
            step::type_blocks(argument, runtime);
        }
    }

    fn spelled(&self, method: &Ident) -> String {
        format!("{}.{method}", self.context)
    }
}

/// The last name in the path of a function that is called.
fn call_name(call: &ExprCall) -> Option<&Ident> {
    match &*call.func {
        Expr::Path(function) => function.path.segments.last().map(|last| &last.ident),
        _ => None,
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
