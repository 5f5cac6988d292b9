//! Finds where a body gives its context away, to code that may ask, run steps or clean up with it.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::{Block, Expr, ExprMethodCall};

use super::chain::is_context;

/// The methods of a context: what they do is known.
const METHODS: &[&str] = &[
    "call_id",
    "cancelled",
    "choose",
    "cleanup",
    "client",
    "detach",
    "handle",
    "idempotency_key",
    "input",
    "input_all",
    "input_url",
    "is_cancelled",
    "now",
    "owner",
    "progress",
    "random",
    "set_meta",
    "set_ttl",
    "sleep",
    "state",
    "status",
    "step",
    "step_all",
    "step_retry",
    "task_id",
    "uuid",
];

/// Whether `body` names `cleanup`, or gives `context` away. A part or a helper that is given the
/// context may clean up, and its body is not known.
pub(super) fn may_clean_up(body: &Block, context: &str) -> bool {
    let tokens = body.to_token_stream();
    names_cleanup(tokens.clone()) || given_away(tokens, context).is_some()
}

fn names_cleanup(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|tree| match tree {
        TokenTree::Group(group) => names_cleanup(group.stream()),
        TokenTree::Ident(name) => name == "cleanup",
        _ => false,
    })
}

/// The first use of `context` in `tokens` that is neither a call of one of its methods nor a shared
/// borrow, with which no operation can be called.
pub(super) fn given_away(tokens: TokenStream, context: &str) -> Option<Ident> {
    let trees: Vec<TokenTree> = tokens.into_iter().collect();
    trees
        .iter()
        .enumerate()
        .find_map(|(index, tree)| match tree {
            TokenTree::Group(group) => given_away(group.stream(), context),
            TokenTree::Ident(name) if name == context => {
                let (before, after) = (&trees[..index], &trees[index + 1..]);
                (!calls_own_method(after) && !is_shared(before)).then(|| name.clone())
            }
            _ => None,
        })
}

/// Whether `after`, the tokens behind a context, calls one of its methods.
fn calls_own_method(after: &[TokenTree]) -> bool {
    match after {
        [TokenTree::Punct(dot), TokenTree::Ident(method), ..] => {
            dot.as_char() == '.' && is_own(method)
        }
        _ => false,
    }
}

/// Whether `before`, the tokens in front of a context, borrows it by `&` or `&*`.
fn is_shared(before: &[TokenTree]) -> bool {
    let mut marks = before.iter().rev().map(|tree| match tree {
        TokenTree::Punct(mark) => mark.as_char(),
        _ => ' ',
    });
    match marks.next() {
        Some('*') => marks.next() == Some('&'),
        mark => mark == Some('&'),
    }
}

/// Whether `call` is a method of `context`.
pub(super) fn is_own_method(call: &ExprMethodCall, context: &str) -> bool {
    is_context(&call.receiver, context) && is_own(&call.method)
}

/// The name of the context, if `expr` is nothing but that.
pub(super) fn named<'e>(expr: &'e Expr, context: &str) -> Option<&'e Ident> {
    match expr {
        Expr::Path(path) if path.qself.is_none() => {
            path.path.get_ident().filter(|name| *name == context)
        }
        _ => None,
    }
}

fn is_own(method: &Ident) -> bool {
    METHODS.iter().any(|name| method == name)
}
