//! What macro calls do with their tokens, as far as it is known.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::parse::{ParseStream, Parser as _};
use syn::punctuated::{Pair, Punctuated};
use syn::{Expr, Macro, Token};

use super::chain::Kind;

/// Macros that evaluate a list of expressions in its order, each at most once.
const LISTS: &[&str] = &[
    "anyhow",
    "assert",
    "assert_eq",
    "assert_ne",
    "bail",
    "dbg",
    "ensure",
    "eprint",
    "eprintln",
    "format",
    "format_args",
    "panic",
    "print",
    "println",
    "todo",
    "unimplemented",
    "unreachable",
    "vec",
    "write",
    "writeln",
];

/// Macros that poll several futures, and await them.
const JOINS: &[&str] = &["join", "select", "select_biased", "try_join"];

/// What a macro is to the body around it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// Its tokens are expressions.
    List,
    /// It polls several futures.
    Join,
    /// Nobody knows.
    Unknown,
}

impl Role {
    pub(super) fn of(name: &str) -> Self {
        if LISTS.contains(&name) {
            Self::List
        } else if JOINS.contains(&name) {
            Self::Join
        } else {
            Self::Unknown
        }
    }
}

/// The name by which a macro is called.
pub(super) fn name(call: &Macro) -> String {
    let last = call.path.segments.last();
    last.map(|segment| segment.ident.to_string())
        .unwrap_or_default()
}

/// The expressions that a macro was given, with what stands between them.
pub(super) struct Arguments(Vec<Pair<Expr, TokenStream>>);

impl Arguments {
    /// Reads `tokens`; `None` if they are something else.
    pub(super) fn parse(tokens: TokenStream) -> Option<Self> {
        Self::parse_list.parse2(tokens).ok()
    }

    /// `a, b` or, as in `vec!`, `a; b`.
    fn parse_list(input: ParseStream<'_>) -> syn::Result<Self> {
        let first: Option<Expr> = (!input.is_empty()).then(|| input.parse()).transpose()?;
        let mut pairs = Vec::new();
        if let Some(first) = first {
            if input.peek(Token![;]) {
                let semicolon: Token![;] = input.parse()?;
                pairs.push(Pair::Punctuated(first, semicolon.to_token_stream()));
            } else if input.peek(Token![,]) {
                let comma: Token![,] = input.parse()?;
                pairs.push(Pair::Punctuated(first, comma.to_token_stream()));
            } else {
                pairs.push(Pair::End(first));
            }
        }
        let rest = Punctuated::<Expr, Token![,]>::parse_terminated(input)?;
        pairs.extend(rest.into_pairs().map(|pair| match pair {
            Pair::Punctuated(expr, comma) => Pair::Punctuated(expr, comma.to_token_stream()),
            Pair::End(expr) => Pair::End(expr),
        }));
        Ok(Self(pairs))
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Expr> {
        self.0.iter_mut().map(Pair::value_mut)
    }

    pub(super) fn into_tokens(self) -> TokenStream {
        let mut tokens = TokenStream::new();
        for pair in &self.0 {
            pair.to_tokens(&mut tokens);
        }
        tokens
    }
}

/// The first operation on `context` in `tokens`, at any depth.
pub(super) fn operation(tokens: TokenStream, context: &str) -> Option<Ident> {
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
