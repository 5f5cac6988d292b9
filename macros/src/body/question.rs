//! Gives questions their names, and the park points that carry them.

use std::iter;

use quote::ToTokens;
use syn::visit_mut::visit_expr_method_call_mut;
use syn::{Expr, ExprMethodCall};

use super::binding::Binding;
use super::chain::Chain;
use super::{Operation, Rewriter, literal, prompt};
use crate::diagnostics;
use crate::expand;
use crate::signature::wire_name;

/// What is written behind a question.
pub(crate) struct Point {
    /// The name under which the answer is kept; empty if `.key(..)` computes it.
    pub(crate) key: String,
    /// The digest of the words of the question, if they are known.
    pub(crate) template: Option<u64>,
}

/// The name under which an answer is kept.
enum Name<'a> {
    /// It is known here, from these tokens.
    Known(String, &'a dyn ToTokens),
    /// The call computes it.
    Computed,
    Missing,
}

impl<'a> Name<'a> {
    /// `.key(..)` goes before the variable to which the answer is bound.
    fn of(chain: &'a Chain, binding: &'a Binding) -> Self {
        match (&chain.key, binding.name()) {
            (Some(key), _) => match literal(key) {
                Some(key) => Self::Known(key.value(), key),
                None => Self::Computed,
            },
            (None, Some(name)) if chain.direct => Self::Known(wire_name(name), name),
            (None, _) => Self::Missing,
        }
    }
}

impl Rewriter<'_> {
    /// Visits `question`, which is a call of `ctx.input` or the like, and names it.
    pub(super) fn question(&mut self, question: &mut Expr, chain: &Chain, binding: &Binding) {
        let Expr::MethodCall(call) = &mut *question else {
            return;
        };
        let span = call.method.span();
        let template = call.args.first().and_then(prompt::template);
        visit_expr_method_call_mut(self, call);
        match Name::of(chain, binding) {
            Name::Known(key, tokens) => {
                self.take(Operation::question(&key), tokens);
                let point = Point { key, template };
                expand::body::at(question, self.surroundings.runtime, &point, span);
            }
            Name::Computed if template.is_some() => {
                let key = String::new();
                let point = Point { key, template };
                expand::body::at(question, self.surroundings.runtime, &point, span);
            }
            Name::Computed => {}
            Name::Missing => {
                let message = diagnostics::unnamed_question(self.spelled(&call.method));
                self.errors.push(&call.method, message);
            }
        }
    }

    /// Visits `questions`, which is a call of `ctx.input_all`, and names each of them.
    pub(super) fn questions(&mut self, questions: &mut Expr, binding: &Binding) {
        let Expr::MethodCall(call) = &mut *questions else {
            return;
        };
        let templates = templates(call);
        visit_expr_method_call_mut(self, call);
        let names = binding.names().filter(|names| fits(call, names.len()));
        let Some(names) = names else {
            self.errors
                .push(&call.method, diagnostics::unnamed_questions());
            return;
        };
        let span = call.method.span();
        let mut points = Vec::new();
        let templates = templates.into_iter().chain(iter::repeat(None));
        for (name, template) in names.iter().zip(templates) {
            let key = wire_name(name);
            self.take(Operation::question(&key), name);
            points.push(Point { key, template });
        }
        expand::body::at_all(questions, self.surroundings.runtime, &points, span);
    }
}

/// The templates of the prompts that `call` is given, if they are written there.
fn templates(call: &ExprMethodCall) -> Vec<Option<u64>> {
    match call.args.first() {
        Some(Expr::Tuple(prompts)) => prompts.elems.iter().map(prompt::template).collect(),
        _ => Vec::new(),
    }
}

/// Whether `call` may ask as many questions as there are names.
fn fits(call: &ExprMethodCall, names: usize) -> bool {
    match call.args.first() {
        Some(Expr::Tuple(questions)) => questions.elems.len() == names,
        _ => true,
    }
}
