//! The model of a toolbox: an `impl` block some of whose methods are tools.

use std::mem;

use proc_macro2::{TokenStream, TokenTree};
use syn::{
    Attribute, FnArg, GenericParam, ImplItem, ImplItemFn, ItemImpl, Meta, ReceiverKind, Type,
};

use crate::args::ToolOptions;
use crate::attribute;
use crate::debug;
use crate::diagnostics::{self, Errors};
use crate::expand;
use crate::runtime::Runtime;
use crate::signature::Function;
use crate::tool::Tool;

/// An `impl` block whose marked methods are tools.
pub(crate) struct Toolbox {
    pub(crate) runtime: Runtime,
    /// The block, less what is in it.
    pub(crate) block: ItemImpl,
    pub(crate) members: Vec<Member>,
}

/// What is in the block.
pub(crate) enum Member {
    Tool(Tool),
    /// A tool with mistakes.
    Refused(Tool, TokenStream),
    Other(ImplItem),
}

/// Expands `#[mcp_tools(options)]` on `item`.
pub(crate) fn expand(options: TokenStream, item: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let block = match syn::parse2::<ItemImpl>(item.clone()) {
        Ok(block) if block.trait_.is_none() => block,
        Err(error) if is_impl(&item) => {
            errors.push_syntax(error);
            return expand::untouched(errors, TokenStream::new());
        }
        Ok(_) | Err(_) => {
            errors.push(head(item.clone()), diagnostics::tools_not_an_impl());
            return expand::untouched(errors, item);
        }
    };
    let toolbox = Toolbox::new(options, block, &mut errors);
    let expansion = expand::toolbox(&toolbox, errors);
    if let Type::Path(ty) = &*toolbox.block.self_ty
        && let Some(last) = ty.path.segments.last()
    {
        debug::print(&last.ident, &expansion);
    }
    expansion
}

impl Toolbox {
    fn new(options: TokenStream, mut block: ItemImpl, errors: &mut Errors) -> Self {
        let path = attribute::entries(options, &["crate"], errors)
            .first()
            .and_then(|option| option.absolute_path(errors));
        for parameter in &block.generics.params {
            let name = match parameter {
                GenericParam::Lifetime(lifetime) => lifetime.lifetime.to_string(),
                GenericParam::Type(ty) => ty.ident.to_string(),
                GenericParam::Const(constant) => constant.ident.to_string(),
            };
            errors.push(parameter, diagnostics::tools_generic(name));
        }
        let ty = &block.self_ty;
        let members: Vec<Member> = mem::take(&mut block.items)
            .into_iter()
            .map(|item| Member::new(item, ty, path.as_ref()))
            .collect();
        let has_tools = members
            .iter()
            .any(|member| !matches!(member, Member::Other(_)));
        if !has_tools {
            errors.push(&block.self_ty, diagnostics::tools_without_tool());
        }
        Self {
            runtime: Runtime::new(path),
            block,
            members,
        }
    }
}

impl Member {
    fn new(item: ImplItem, owner: &Type, runtime: Option<&syn::Path>) -> Self {
        let ImplItem::Fn(mut method) = item else {
            return Self::Other(item);
        };
        let Some(options) = options(&mut method) else {
            return Self::Other(ImplItem::Fn(method));
        };
        let mut errors = Errors::default();
        let mut options = ToolOptions::parse(options, &mut errors);
        options.runtime = options.runtime.or_else(|| runtime.cloned());
        let function = Function {
            attrs: method.attrs,
            vis: method.vis,
            sig: method.sig,
            body: method.block,
        };
        if let Some(FnArg::Receiver(receiver)) = function.receiver()
            && !matches!(receiver.kind, ReceiverKind::Reference(_, None, None))
        {
            let message = diagnostics::method_receiver(&function.sig.ident);
            errors.push(receiver, message);
        }
        let tool = Tool::new(options, function, Some(owner), &mut errors);
        match errors.finish() {
            Ok(()) => Self::Tool(tool),
            Err(errors) => Self::Refused(tool, errors),
        }
    }
}

/// Takes `#[mcp_tool(..)]` from a method, and gives what stands in it.
fn options(method: &mut ImplItemFn) -> Option<TokenStream> {
    let marks = |attribute: &Attribute| {
        let last = attribute.path().segments.last();
        last.is_some_and(|last| last.ident == "mcp_tool")
    };
    let position = method.attrs.iter().position(marks)?;
    match method.attrs.remove(position).meta {
        Meta::List(list) => Some(list.tokens),
        _ => Some(TokenStream::new()),
    }
}

fn is_impl(item: &TokenStream) -> bool {
    let is = |token: &TokenTree| matches!(token, TokenTree::Ident(ident) if ident == "impl");
    item.clone().into_iter().any(|token| is(&token))
}

/// What stands before the braces of an item.
fn head(item: TokenStream) -> TokenStream {
    item.into_iter()
        .take_while(|token| !matches!(token, TokenTree::Group(_)))
        .collect()
}
