//! From the models to tokens. Nothing can fail here, and nothing else writes `quote!`.
//!
//! Locals and the code around the author's tokens have the hygiene of a `macro_rules!`
//! ([`Span::mixed_site`]), at the place of what they were written for. Paths are absolute.

pub(crate) mod body;
mod form;
mod part;
mod refused;
mod tool;
mod toolbox;

use proc_macro2::{Span, TokenStream};

pub(crate) use self::form::form;
pub(crate) use self::part::{part, refused as refused_part};
pub(crate) use self::refused::refused;
pub(crate) use self::tool::tool;
pub(crate) use self::toolbox::toolbox;
use crate::diagnostics::Errors;

/// The mistakes in `item`, and the item as it is.
pub(crate) fn untouched(errors: Errors, item: TokenStream) -> TokenStream {
    let mut tokens = errors.finish().err().unwrap_or_default();
    tokens.extend(item);
    tokens
}

/// A span that shows where `span` is, and resolves as the expansion does.
fn at(span: Span) -> Span {
    Span::mixed_site().located_at(span)
}
