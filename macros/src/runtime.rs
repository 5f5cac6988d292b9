//! Where the expansion finds the runtime crate.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::Path;

/// The absolute path of the runtime crate.
pub(crate) struct Runtime {
    /// As the author gave it; `None` for `::siding`.
    path: Option<Path>,
}

impl Runtime {
    pub(crate) fn new(path: Option<Path>) -> Self {
        Self { path }
    }

    /// The path at `span`, for an expression whose place is told to someone.
    ///
    /// What the author wrote keeps its meaning, which in `$crate` is a matter of the span.
    pub(crate) fn at(&self, span: Span) -> TokenStream {
        let Some(path) = &self.path else {
            return quote_spanned!(span=> ::siding);
        };
        path.to_token_stream()
            .into_iter()
            .map(|mut token| {
                token.set_span(token.span().located_at(span));
                token
            })
            .collect()
    }
}

impl ToTokens for Runtime {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        match &self.path {
            Some(path) => path.to_tokens(tokens),
            None => tokens.extend(quote_spanned!(Span::mixed_site()=> ::siding)),
        }
    }
}
