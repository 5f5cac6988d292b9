//! A toolbox.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned as _;
use syn::{ImplItem, ItemImpl};

use super::refused::{self, stub};
use super::{at, body, tool};
use crate::diagnostics::Errors;
use crate::toolbox::{Member, Toolbox};

/// Emits the block, and beside it a type for each tool.
///
/// ```text
/// Input:
///     #[mcp_tools]
///     impl Deployer {
///         #[mcp_tool]
///         async fn region(&self) -> String { .. }
///     }
///
/// Output:
///     impl Deployer {
///         async fn region(&self) -> String { .. }
///     }
///
///     const _: () = {
///         struct tool_region {}
///
///         impl ::siding::Tool for tool_region { type State = Deployer; .. }
///
///         impl ::siding::Toolbox for Deployer {
///             fn tools() -> ::siding::Tools<Self> {
///                 let tools = ::siding::Tools::new();
///                 let tools = tools.with::<tool_region>();
///                 tools
///             }
///         }
///     };
/// ```
pub(crate) fn toolbox(toolbox: &Toolbox, errors: Errors) -> TokenStream {
    let Toolbox {
        runtime,
        block,
        members,
    } = toolbox;
    let errors = errors.finish().err();
    let block = ItemImpl {
        items: members.iter().map(method).collect(),
        ..block.clone()
    };
    // Of a block that is generic the types cannot be named outside.
    if errors.is_some() && !block.generics.params.is_empty() {
        return quote!(#errors #block);
    }
    let beside = members.iter().map(beside);
    let with = members.iter().filter_map(|member| match member {
        Member::Tool(tool) => {
            let (cfg, name) = (tool::cfg(tool), tool.item_name());
            Some(quote_spanned! {Span::mixed_site()=>
                #(#cfg)*
                let tools = tools.with::<#name>();
            })
        }
        _ => None,
    });
    let ty = &block.self_ty;
    let span = at(ty.span());
    let located = runtime.at(span);
    let implementation = quote_spanned! {span=>
        #[automatically_derived]
        impl #located::Toolbox for #ty
    };
    quote_spanned! {Span::mixed_site()=>
        #errors
        #block

        const _: () = {
            #(#beside)*

            #implementation {
                fn tools() -> #runtime::Tools<Self> {
                    let tools = #runtime::Tools::new();
                    #(#with)*
                    tools
                }
            }
        };
    }
}

/// What stands in the block for `member`.
fn method(member: &Member) -> ImplItem {
    match member {
        Member::Tool(tool) => ImplItem::Verbatim(tool::function(tool)),
        Member::Refused(tool, _) => ImplItem::Verbatim(stub(&tool.function, &tool.runtime)),
        Member::Other(item) => item.clone(),
    }
}

/// What stands beside the block for `member`.
fn beside(member: &Member) -> TokenStream {
    match member {
        Member::Tool(tool) => {
            let item = tool::described(tool);
            let warnings = body::warnings(&tool.found.warnings);
            quote!(#item #warnings)
        }
        Member::Refused(tool, errors) => {
            let item = refused::item(tool);
            quote!(#errors #item)
        }
        Member::Other(_) => TokenStream::new(),
    }
}
