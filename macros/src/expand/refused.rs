//! A tool with mistakes.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{ReturnType, Signature};

use super::tool;
use crate::runtime::Runtime;
use crate::signature::Function;
use crate::tool::Tool;
use crate::types::Spelling;

/// Emits the mistakes, and what the rest of the program refers to, so that it gives no second error.
///
/// ```text
/// async fn greet(name: String) -> Result<String> { ::siding::__private::refused() }
///
/// struct greet {}
///
/// impl ::siding::Tool for greet { .. each method ::siding::__private::refused() .. }
/// ```
pub(crate) fn refused(tool: &Tool, errors: &TokenStream) -> TokenStream {
    let stub = stub(&tool.function, &tool.runtime);
    let item = item(tool);
    quote! {
        #errors

        #stub

        #item
    }
}

/// The type that stands for the tool.
pub(super) fn item(tool: &Tool) -> TokenStream {
    let runtime = &tool.runtime;
    tool::item(
        tool,
        &quote_spanned! {Span::mixed_site()=>
            fn definition() -> #runtime::__private::Definition {
                #runtime::__private::refused()
            }

            fn run<'a>(
                _: &mut #runtime::__private::Inputs<'a>,
                _: ::core::option::Option<&'a mut #runtime::Ctx<Self::State>>,
            ) -> ::core::option::Option<#runtime::__private::Call<'a>> {
                #runtime::__private::refused()
            }
        },
    )
}

/// The function, without what its body does.
pub(super) fn stub(function: &Function, runtime: &Runtime) -> TokenStream {
    let (attrs, vis) = (&function.attrs, &function.vis);
    let sig = signature(&function.sig);
    quote! {
        #(#attrs)*
        #[allow(unused_variables, unused_mut, clippy::all, clippy::pedantic)]
        #vis #sig {
            #runtime::__private::refused()
        }
    }
}

/// The signature, less what a body that only panics cannot have.
fn signature(sig: &Signature) -> Signature {
    let mut sig = Signature {
        constness: None,
        ..sig.clone()
    };
    if let ReturnType::Type(_, ty) = &sig.output
        && Spelling::of(ty).impl_trait.is_some()
    {
        sig.output = ReturnType::Default;
    }
    sig
}
