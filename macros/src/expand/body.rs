//! What is put around the author's own expressions.

use std::mem;

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote_spanned;
use syn::spanned::Spanned as _;
use syn::{Expr, parse_quote_spanned};

use crate::body::Point;
use crate::diagnostics::Warned;
use crate::runtime::Runtime;

/// Appends the park point to a question.
///
/// ```text
/// Input:   ctx.input("Which?")
/// Output:  ctx.input("Which?").at(const { &::siding::__private::Point::new("region").worded(7) })
/// ```
///
/// `span` is the author's: the point reads its own place in the source from it.
pub(crate) fn at(question: &mut Expr, runtime: &Runtime, at: &Point, span: Span) {
    let asked = mem::replace(question, Expr::PLACEHOLDER);
    let point = point(at, runtime, span);
    *question = parse_quote_spanned!(span=> #asked.at(const { &#point }));
}

/// As [`at`], for several questions.
pub(crate) fn at_all(questions: &mut Expr, runtime: &Runtime, points: &[Point], span: Span) {
    let asked = mem::replace(questions, Expr::PLACEHOLDER);
    let points = points.iter().map(|at| point(at, runtime, span));
    *questions = parse_quote_spanned!(span=> #asked.at_all(const { &[#(#points),*] }));
}

fn point(Point { key, template }: &Point, runtime: &Runtime, span: Span) -> TokenStream {
    let runtime = runtime.at(span);
    let worded = template.map(|template| quote_spanned!(span=> .worded(#template)));
    quote_spanned!(span=> #runtime::__private::Point::new(#key) #worded)
}

/// Says that an `async` block ends in a `siding::Result`.
pub(crate) fn step_block(block: &mut Expr, runtime: &Runtime) {
    wrap(block, runtime, "step_block");
}

/// Converts the error of a result to the one of `siding::Result`.
pub(crate) fn step_result(result: &mut Expr, runtime: &Runtime) {
    wrap(result, runtime, "step_result");
}

/// A use of something deprecated for each warning: on stable, nothing else shows a warning at the
/// author's own tokens.
///
/// ```text
/// const _: () = {
///     #[deprecated(note = "it runs again each time the call resumes; ..")]
///     const await_outside_step: () = ();
///     await_outside_step
/// };
/// ```
pub(crate) fn warnings(warnings: &[Warned]) -> TokenStream {
    let mixed = Span::mixed_site();
    let consts = warnings.iter().map(|warned| {
        let message = &warned.message;
        let name = Ident::new(warned.warning.id(), mixed);
        let used = Ident::new(warned.warning.id(), warned.span);
        quote_spanned! {mixed=>
            #[allow(non_upper_case_globals)]
            const _: () = {
                #[deprecated(note = #message)]
                const #name: () = ();
                #used
            };
        }
    });
    consts.collect()
}

fn wrap(expr: &mut Expr, runtime: &Runtime, function: &str) {
    let span = super::at(expr.span());
    let function = Ident::new(function, span);
    let inner = mem::replace(expr, Expr::PLACEHOLDER);
    *expr = parse_quote_spanned!(span=> #runtime::__private::#function(#inner));
}
