//! What a step must not do to the code around it, since a replay skips it.

use std::collections::HashSet;

use proc_macro2::Ident;
use quote::ToTokens;
use syn::visit::{self, Visit};
use syn::{
    BinOp, Expr, ExprAssign, ExprAsync, ExprBinary, ExprCall, ExprClosure, ExprMethodCall,
    ExprReference, Item, PatIdent,
};

use super::call_name;
use crate::diagnostics::{self, Errors};

/// Functions and methods that start work at once.
const SPAWNS: &[&str] = &["spawn", "spawn_blocking", "spawn_local"];

/// Whether `name` starts work at once.
pub(super) fn spawns(name: &Ident) -> bool {
    SPAWNS.iter().any(|spawn| name == spawn)
}

/// Judges `argument`, the future of a step or a closure that makes it.
pub(super) fn check(argument: &Expr, errors: &mut Errors) {
    let mut bound = Bound::default();
    bound.visit_expr(argument);
    Effects {
        own: bound.0,
        lazy: false,
        errors,
    }
    .visit_expr(argument);
}

/// Every variable that an expression binds within itself.
#[derive(Default)]
struct Bound(HashSet<String>);

impl Visit<'_> for Bound {
    fn visit_pat_ident(&mut self, pattern: &PatIdent) {
        self.0.insert(pattern.ident.to_string());
        visit::visit_pat_ident(self, pattern);
    }
}

struct Effects<'a> {
    /// The variables that are bound within the step.
    own: HashSet<String>,
    /// Whether the code runs only where the step does.
    lazy: bool,
    errors: &'a mut Errors,
}

impl Effects<'_> {
    fn lazily(&mut self, visit: impl FnOnce(&mut Self)) {
        let outer = std::mem::replace(&mut self.lazy, true);
        visit(self);
        self.lazy = outer;
    }

    fn spawned(&mut self, name: &Ident) {
        if !self.lazy && spawns(name) {
            self.errors.push(name, diagnostics::spawned_step(name));
        }
    }

    /// Reports that something is written to `place`, if it is a variable from outside.
    fn written(&mut self, place: &Expr, at: impl ToTokens, message: fn(&Ident) -> String) {
        if let Expr::Tuple(places) = place {
            for place in &places.elems {
                self.written(place, place, message);
            }
        } else if let Some(variable) = variable(place)
            && !self.own.contains(&variable.to_string())
        {
            self.errors.push(at, message(variable));
        }
    }
}

impl Visit<'_> for Effects<'_> {
    fn visit_expr_async(&mut self, block: &ExprAsync) {
        self.lazily(|effects| visit::visit_expr_async(effects, block));
    }

    fn visit_expr_closure(&mut self, closure: &ExprClosure) {
        self.lazily(|effects| visit::visit_expr_closure(effects, closure));
    }

    fn visit_expr_call(&mut self, call: &ExprCall) {
        if let Some(name) = call_name(call) {
            self.spawned(name);
        }
        visit::visit_expr_call(self, call);
    }

    fn visit_expr_method_call(&mut self, call: &ExprMethodCall) {
        self.spawned(&call.method);
        visit::visit_expr_method_call(self, call);
    }

    fn visit_expr_reference(&mut self, borrow: &ExprReference) {
        if borrow.mutability.is_some() {
            self.written(&borrow.expr, borrow, |name| {
                diagnostics::borrow_in_step(name)
            });
        }
        visit::visit_expr_reference(self, borrow);
    }

    fn visit_expr_assign(&mut self, assignment: &ExprAssign) {
        let left = &assignment.left;
        self.written(left, left, |name| diagnostics::assignment_in_step(name));
        visit::visit_expr_assign(self, assignment);
    }

    fn visit_expr_binary(&mut self, operation: &ExprBinary) {
        if assigns(&operation.op) {
            let left = &operation.left;
            self.written(left, left, |name| diagnostics::assignment_in_step(name));
        }
        visit::visit_expr_binary(self, operation);
    }

    fn visit_item(&mut self, _: &Item) {}
}

fn assigns(operator: &BinOp) -> bool {
    matches!(
        operator,
        BinOp::AddAssign(_)
            | BinOp::SubAssign(_)
            | BinOp::MulAssign(_)
            | BinOp::DivAssign(_)
            | BinOp::RemAssign(_)
            | BinOp::BitXorAssign(_)
            | BinOp::BitAndAssign(_)
            | BinOp::BitOrAssign(_)
            | BinOp::ShlAssign(_)
            | BinOp::ShrAssign(_)
    )
}

/// The variable of which `place` is a part; what a call gives is of nobody.
fn variable(place: &Expr) -> Option<&Ident> {
    match place {
        Expr::Path(path) if path.qself.is_none() => path
            .path
            .get_ident()
            .filter(|ident| !ident.to_string().starts_with(char::is_uppercase)),
        Expr::Field(field) => variable(&field.base),
        Expr::Index(index) => variable(&index.expr),
        Expr::Unary(unary) => variable(&unary.expr),
        Expr::Paren(paren) => variable(&paren.expr),
        Expr::Group(group) => variable(&group.expr),
        _ => None,
    }
}
