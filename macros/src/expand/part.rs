//! A part.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned as _;

use super::refused::stub;
use super::{at, body};
use crate::part::Part;

/// Emits the function, in which every operation has the name of the part in its key.
///
/// ```text
/// Input:
///     #[mcp_part]
///     async fn ask_region(ctx: &mut Ctx) -> Result<String> { .. }
///
/// Output:
///     async fn ask_region(ctx: &mut Ctx) -> Result<String> {
///         let _part = ::siding::__private::part::<Ctx>(ctx, "ask_region");
///         ..
///     }
/// ```
pub(crate) fn part(part: &Part) -> TokenStream {
    let Part {
        runtime,
        name,
        function,
        context,
        found,
    } = part;
    let (attrs, vis, sig) = (&function.attrs, &function.vis, &function.sig);
    let stmts = &function.body.stmts;
    let warnings = body::warnings(&found.warnings);
    let held = quote_spanned!(Span::mixed_site()=> _part);
    let enter = context.as_ref().map(|(ctx, ty)| {
        let span = at(ty.span());
        let runtime = runtime.at(span);
        quote_spanned!(span=> let #held = #runtime::__private::part::<#ty>(#ctx, #name);)
    });
    quote! {
        #(#attrs)*
        #vis #sig {
            #warnings
            #enter
            #(#stmts)*
        }
    }
}

/// Emits the mistakes, and a function of the same signature.
pub(crate) fn refused(part: &Part, errors: &TokenStream) -> TokenStream {
    let stub = stub(&part.function, &part.runtime);
    quote!(#errors #stub)
}
