//! Tells whether a body may clean up, by itself or by what it hands its context to.

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::Block;

/// The methods of a context that clean nothing up, whatever they are given.
const HARMLESS: &[&str] = &[
    "call_id",
    "cancelled",
    "choose",
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

/// Whether `body` names `cleanup`, or uses `context` for anything but a call of one of its own
/// methods. A part or a helper that is given the context may clean up, and its body is not known.
pub(super) fn may_clean_up(body: &Block, context: &str) -> bool {
    in_tokens(body.to_token_stream(), context)
}

fn in_tokens(tokens: TokenStream, context: &str) -> bool {
    let trees: Vec<TokenTree> = tokens.into_iter().collect();
    trees.iter().enumerate().any(|(index, tree)| match tree {
        TokenTree::Group(group) => in_tokens(group.stream(), context),
        TokenTree::Ident(name) if name == "cleanup" => true,
        TokenTree::Ident(name) if name == context => !calls_harmless_method(&trees[index + 1..]),
        _ => false,
    })
}

/// Whether `rest`, the tokens behind a context, calls a method that cleans nothing up.
fn calls_harmless_method(rest: &[TokenTree]) -> bool {
    match rest {
        [TokenTree::Punct(dot), TokenTree::Ident(method), ..] => {
            dot.as_char() == '.' && HARMLESS.iter().any(|name| method == name)
        }
        _ => false,
    }
}
