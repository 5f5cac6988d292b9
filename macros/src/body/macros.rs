//! Looks for operations in the tokens of a macro call.

use proc_macro2::{Ident, TokenStream, TokenTree};

use super::chain::Kind;

/// The first operation on `context` in `tokens`, at any depth.
pub(crate) fn operation(tokens: TokenStream, context: &str) -> Option<Ident> {
    let trees: Vec<TokenTree> = tokens.into_iter().collect();
    let here = trees.windows(3).find_map(|window| match window {
        [
            TokenTree::Ident(receiver),
            TokenTree::Punct(dot),
            TokenTree::Ident(method),
        ] if receiver == context && dot.as_char() == '.' => {
            Kind::of(&method.to_string()).map(|_| method.clone())
        }
        _ => None,
    });
    here.or_else(|| {
        trees.into_iter().find_map(|tree| match tree {
            TokenTree::Group(group) => operation(group.stream(), context),
            _ => None,
        })
    })
}
