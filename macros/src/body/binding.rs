//! The names that a `let` or an assignment gives to what is on its right.

use proc_macro2::Ident;
use syn::visit::{self, Visit};
use syn::{Expr, ExprPath, Pat, PatIdent};

/// What a value is bound to.
#[derive(Default)]
pub(crate) struct Binding {
    /// Every variable that is bound.
    variables: Vec<Ident>,
    /// The variables of the tuple in the pattern, if each of its places is one variable.
    tuple: Option<Vec<Ident>>,
}

impl Binding {
    /// Reads the left side of a `let`.
    pub(crate) fn of_pattern(pattern: &Pat) -> Self {
        let mut binding = Self::default();
        binding.visit_pat(pattern);
        binding.tuple = tuple(pattern);
        binding
    }

    /// Reads the left side of an assignment.
    pub(crate) fn of_place(place: &Expr) -> Self {
        match place {
            Expr::Tuple(places) => {
                let names: Option<Vec<Ident>> = places.elems.iter().map(variable).collect();
                Self {
                    variables: names.clone().unwrap_or_default(),
                    tuple: names,
                }
            }
            place => Self {
                variables: variable(place).into_iter().collect(),
                tuple: None,
            },
        }
    }

    /// Every variable that is bound.
    pub(crate) fn variables(&self) -> &[Ident] {
        &self.variables
    }

    /// The name, if there is exactly one.
    pub(crate) fn name(&self) -> Option<&Ident> {
        match &self.variables[..] {
            [name] => Some(name),
            _ => None,
        }
    }

    /// The names of a tuple.
    pub(crate) fn names(&self) -> Option<&[Ident]> {
        self.tuple.as_deref()
    }
}

impl Visit<'_> for Binding {
    fn visit_pat_ident(&mut self, pattern: &PatIdent) {
        if is_variable(&pattern.ident) && !self.variables.contains(&pattern.ident) {
            self.variables.push(pattern.ident.clone());
        }
        visit::visit_pat_ident(self, pattern);
    }

    /// A constant in a pattern binds nothing.
    fn visit_expr(&mut self, _: &Expr) {}
}

/// `None` and constants look like variables in a pattern.
fn is_variable(ident: &Ident) -> bool {
    !ident.to_string().starts_with(char::is_uppercase)
}

/// The variables of the one tuple in `pattern`, also inside `Ok(..)` or `Some(..)`.
fn tuple(pattern: &Pat) -> Option<Vec<Ident>> {
    match pattern {
        Pat::Type(pattern) => tuple(&pattern.pat),
        Pat::Paren(pattern) => tuple(&pattern.pat),
        Pat::TupleStruct(pattern) if pattern.elems.len() == 1 => tuple(pattern.elems.first()?),
        Pat::Tuple(pattern) => pattern
            .elems
            .iter()
            .map(|place| Binding::of_pattern(place).name().cloned())
            .collect(),
        _ => None,
    }
}

fn variable(place: &Expr) -> Option<Ident> {
    match place {
        Expr::Path(ExprPath {
            qself: None, path, ..
        }) => path.get_ident().cloned(),
        Expr::Paren(paren) => variable(&paren.expr),
        Expr::Group(group) => variable(&group.expr),
        _ => None,
    }
}
