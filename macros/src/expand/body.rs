//! What is put around the author's own expressions.

use std::mem;

use proc_macro2::{Ident, Span};
use syn::spanned::Spanned as _;
use syn::{Expr, parse_quote_spanned};

use crate::runtime::Runtime;

/// Appends the park point to a question.
///
/// ```text
/// Input:   ctx.input("Which?")
/// Output:  ctx.input("Which?").at(const { &::siding::__private::Point::new("region") })
/// ```
///
/// `span` is the author's: the point reads its own place in the source from it.
pub(crate) fn at(question: &mut Expr, runtime: &Runtime, key: &str, span: Span) {
    let runtime = runtime.at(span);
    let asked = mem::replace(question, Expr::PLACEHOLDER);
    *question = parse_quote_spanned! {span=>
        #asked.at(const { &#runtime::__private::Point::new(#key) })
    };
}

/// As [`at`], for several questions.
pub(crate) fn at_all(questions: &mut Expr, runtime: &Runtime, keys: &[String], span: Span) {
    let runtime = runtime.at(span);
    let asked = mem::replace(questions, Expr::PLACEHOLDER);
    *questions = parse_quote_spanned! {span=>
        #asked.at_all(const { &[#(#runtime::__private::Point::new(#keys)),*] })
    };
}

/// Says that an `async` block ends in a `siding::Result`.
pub(crate) fn step_block(block: &mut Expr, runtime: &Runtime) {
    wrap(block, runtime, "step_block");
}

/// Converts the error of a result to the one of `siding::Result`.
pub(crate) fn step_result(result: &mut Expr, runtime: &Runtime) {
    wrap(result, runtime, "step_result");
}

fn wrap(expr: &mut Expr, runtime: &Runtime, function: &str) {
    let span = super::at(expr.span());
    let function = Ident::new(function, span);
    let inner = mem::replace(expr, Expr::PLACEHOLDER);
    *expr = parse_quote_spanned!(span=> #runtime::__private::#function(#inner));
}
