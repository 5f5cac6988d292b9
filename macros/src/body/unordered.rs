//! Loops over collections that give their items in another order each time the body runs.

use syn::{Expr, ExprForLoop, ExprMethodCall, FnArg, GenericArgument, Local, Pat, Signature, Type};

use super::binding::Binding;
use super::chain::{Chain, Kind};
use super::{Rewriter, literal};
use crate::diagnostics::{self, Warning};

/// The types whose order is random.
const UNORDERED: &[&str] = &["HashMap", "HashSet"];

/// Methods that leave the order of a collection what it is.
const KEEP_ORDER: &[&str] = &[
    "clone",
    "cloned",
    "copied",
    "drain",
    "enumerate",
    "filter",
    "filter_map",
    "inspect",
    "into_iter",
    "into_keys",
    "into_values",
    "iter",
    "iter_mut",
    "keys",
    "map",
    "skip",
    "take",
    "values",
    "values_mut",
    "zip",
];

/// What is known of the variables in a body.
#[derive(Default)]
pub(super) struct Collections {
    /// Variables, and whether each is a collection without an order; the last of a name counts.
    variables: Vec<(String, bool)>,
    /// The variable over which the innermost loop goes that has no order.
    looped: Option<String>,
}

impl Collections {
    /// The parameters of a function.
    pub(super) fn of_parameters(signature: &Signature) -> Self {
        let mut collections = Self::default();
        for input in &signature.inputs {
            if let FnArg::Typed(parameter) = input {
                collections.bind(&parameter.pat, is_unordered(&parameter.ty));
            }
        }
        collections
    }

    /// How many variables are known.
    pub(super) const fn known(&self) -> usize {
        self.variables.len()
    }

    /// Forgets the variables that were bound since `known` of them were.
    pub(super) fn forget(&mut self, known: usize) {
        self.variables.truncate(known);
    }

    /// Notes what `local` binds.
    pub(super) fn bind_local(&mut self, local: &Local) {
        let unordered = match (&local.pat, &local.init) {
            (Pat::Type(typed), _) if !matches!(&*typed.ty, Type::Infer(_)) => {
                is_unordered(&typed.ty)
            }
            (_, Some(init)) => makes_unordered(&init.expr) || self.is_copy(&init.expr),
            (_, None) => false,
        };
        self.bind(&local.pat, unordered);
    }

    fn bind(&mut self, pattern: &Pat, unordered: bool) {
        let binding = Binding::of_pattern(pattern);
        let whole = binding.name().is_some() && matches!(pattern, Pat::Ident(_) | Pat::Type(_));
        for name in binding.variables() {
            self.variables.push((name.to_string(), unordered && whole));
        }
    }

    /// Whether `expr` is another name, or a copy, of a collection without an order.
    fn is_copy(&self, expr: &Expr) -> bool {
        let copies = match expr {
            Expr::MethodCall(call) => call.method == "clone",
            Expr::Reference(_) | Expr::Path(_) => true,
            _ => false,
        };
        copies && self.source(expr).is_some()
    }

    /// The variable without an order whose items `expr` gives.
    fn source(&self, expr: &Expr) -> Option<&str> {
        match expr {
            Expr::Path(path) => {
                let name = path.path.get_ident()?;
                let mut last = self.variables.iter().rev();
                let (name, unordered) = last.find(|(known, _)| name == known)?;
                unordered.then_some(name.as_str())
            }
            Expr::MethodCall(call) if KEEP_ORDER.iter().any(|keep| call.method == keep) => {
                self.source(&call.receiver)
            }
            Expr::Reference(borrow) => self.source(&borrow.expr),
            Expr::Unary(unary) => self.source(&unary.expr),
            Expr::Paren(paren) => self.source(&paren.expr),
            Expr::Group(group) => self.source(&group.expr),
            _ => None,
        }
    }
}

impl Rewriter<'_> {
    /// Visits a loop, and notes within it whether its items have an order.
    pub(super) fn for_loop(
        &mut self,
        over: &mut ExprForLoop,
        visit: impl FnOnce(&mut Self, &mut ExprForLoop),
    ) {
        let source = self.collections.source(&over.expr).map(str::to_owned);
        let known = self.collections.known();
        self.collections.bind(&over.pat, false);
        let outer = self.collections.looped.clone();
        self.collections.looped = source.or_else(|| outer.clone());
        visit(self, over);
        self.collections.looped = outer;
        self.collections.forget(known);
    }

    /// Warns of an operation that has one name for items without an order.
    pub(super) fn in_loop(&mut self, call: &ExprMethodCall, chain: &Chain) {
        if let Some(over) = &self.collections.looped
            && has_one_name(call, chain)
        {
            let message = diagnostics::unordered_loop(over, self.spelled(&call.method));
            self.warn(Warning::Unordered, message, call.method.span());
        }
    }
}

/// Whether the name of an operation is the same each time.
fn has_one_name(call: &ExprMethodCall, chain: &Chain) -> bool {
    match chain.kind {
        Kind::Step(_) => call
            .args
            .first()
            .is_some_and(|name| literal(name).is_some()),
        Kind::Question => chain.key.as_ref().is_none_or(|key| literal(key).is_some()),
        Kind::Questions | Kind::Sleep => true,
        Kind::Detach => false,
    }
}

/// Whether `ty` is a collection without an order, or a borrow of one.
fn is_unordered(ty: &Type) -> bool {
    match ty {
        Type::Path(path) => path
            .path
            .segments
            .last()
            .is_some_and(|last| UNORDERED.iter().any(|unordered| last.ident == unordered)),
        Type::Reference(reference) => is_unordered(&reference.elem),
        Type::Paren(paren) => is_unordered(&paren.elem),
        Type::Group(group) => is_unordered(&group.elem),
        _ => false,
    }
}

/// Whether `expr` makes a collection without an order: `HashMap::new()`, `collect::<HashSet<_>>()`.
fn makes_unordered(expr: &Expr) -> bool {
    match expr {
        Expr::Call(call) => match &*call.func {
            Expr::Path(function) => {
                let of = function.path.segments.iter().rev().nth(1);
                of.is_some_and(|of| UNORDERED.iter().any(|unordered| of.ident == unordered))
            }
            _ => false,
        },
        Expr::MethodCall(call) => call.turbofish.as_ref().is_some_and(|types| {
            call.method == "collect"
                && types.args.iter().any(|argument| match argument {
                    GenericArgument::Type(ty) => is_unordered(ty),
                    _ => false,
                })
        }),
        Expr::Paren(paren) => makes_unordered(&paren.expr),
        Expr::Group(group) => makes_unordered(&group.expr),
        _ => false,
    }
}
