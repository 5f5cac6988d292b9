//! The model of a tool: what is left of `#[mcp_tool]` when every rule has been applied.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident};
use syn::Type;
use syn::ext::IdentExt as _;
use syn::visit_mut::VisitMut as _;

use crate::args::{Detach, ToolOptions};
use crate::body::{self, Access, Found, Surroundings};
use crate::debug;
use crate::diagnostics::{self, Errors};
use crate::docs;
use crate::expand;
use crate::inputs::{self, Argument, Context, Parameter};
use crate::runtime::Runtime;
use crate::signature::{Function, wire_name};
use crate::types::WithoutSelf;

/// A function that is to be a tool. If mistakes were found in it, it still serves for the stub.
pub(crate) struct Tool {
    pub(crate) runtime: Runtime,
    pub(crate) options: ToolOptions,
    /// The name on the wire.
    pub(crate) wire: String,
    pub(crate) description: Option<String>,
    /// The function to emit: no attributes of ours, park points in the body.
    pub(crate) function: Function,
    /// The type whose method it is.
    pub(crate) owner: Option<Type>,
    pub(crate) parameters: Vec<Parameter>,
    /// What it returns, without `Self`.
    pub(crate) returned: Option<Type>,
    /// What is in the body.
    pub(crate) found: Found,
}

/// Expands `#[mcp_tool(options)]` on `item`.
pub(crate) fn expand(options: TokenStream, item: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let Some(function) = Function::parse(item.clone(), &mut errors) else {
        errors.push(&item, diagnostics::not_a_function());
        return expand::untouched(errors, item);
    };
    if let Some(receiver) = function.receiver() {
        errors.push(
            receiver,
            diagnostics::method_outside_tools(&function.sig.ident),
        );
        return expand::untouched(errors, item);
    }
    let options = ToolOptions::parse(options, &mut errors);
    let tool = Tool::new(options, function, None, &mut errors);
    let expansion = match errors.finish() {
        Ok(()) => expand::tool(&tool),
        Err(errors) => expand::refused(&tool, &errors),
    };
    debug::print(&tool.function.sig.ident, &expansion);
    expansion
}

impl Tool {
    pub(crate) fn new(
        options: ToolOptions,
        mut function: Function,
        owner: Option<&Type>,
        errors: &mut Errors,
    ) -> Self {
        function.check(errors);
        let runtime = Runtime::new(options.runtime.clone());
        let mut parameters = inputs::parse(&mut function.sig.inputs, errors);
        let mut returned = function.output().cloned();
        if let Some(owner) = owner {
            let mut written_out = WithoutSelf(owner);
            for parameter in &mut parameters {
                parameter.write_out(&mut written_out);
            }
            if let Some(ty) = &mut returned {
                written_out.visit_type_mut(ty);
            }
        }
        if options.detach == Some(Detach::Manual) && context(&parameters).is_none() {
            errors.push(&function.sig.ident, diagnostics::manual_without_context());
        }
        let surroundings = Surroundings {
            runtime: &runtime,
            signature: &function.sig,
            context: access(&parameters),
            mode: options.mode,
            detach: options.detach,
            allowed: &options.allowed,
        };
        if let (None, Some(text)) = (&options.description, docs::unread(&function.attrs)) {
            errors.push(text, diagnostics::doc_of_macro());
        }
        let found = body::rewrite(&mut function.body, &surroundings, errors);
        Self {
            wire: wire(&options, &function, errors),
            description: match &options.description {
                Some(text) => Some(text.value()),
                None => docs::text(&function.attrs),
            },
            runtime,
            options,
            function,
            owner: owner.cloned(),
            parameters,
            returned,
            found,
        }
    }

    /// The name of the type that stands for it.
    pub(crate) fn item_name(&self) -> Ident {
        let function = &self.function.sig.ident;
        match self.owner {
            Some(_) => format_ident!("tool_{}", function.unraw(), span = Span::mixed_site()),
            None => function.clone(),
        }
    }

    pub(crate) fn context(&self) -> Option<&Context> {
        context(&self.parameters)
    }
}

/// The name that clients call, checked.
fn wire(options: &ToolOptions, function: &Function, errors: &mut Errors) -> String {
    let (name, tokens): (_, &dyn ToTokens) = match &options.name {
        Some(name) => (name.value(), name),
        None => (wire_name(&function.sig.ident), &function.sig.ident),
    };
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
    if !(1..=128).contains(&name.len()) || !name.bytes().all(fits) {
        errors.push(tokens, diagnostics::bad_tool_name(&name));
    }
    name
}

fn context(parameters: &[Parameter]) -> Option<&Context> {
    parameters.iter().find_map(|parameter| match parameter {
        Parameter::Context(context) => Some(context),
        Parameter::Argument(_) => None,
    })
}

fn access(parameters: &[Parameter]) -> Access<'_> {
    let named = |argument: &Argument| argument.name.as_ref().is_some_and(|name| name == "ctx");
    match context(parameters) {
        Some(Context {
            name: Some(name), ..
        }) => Access::Named(name),
        Some(Context { name: None, .. }) => Access::None,
        None => parameters
            .iter()
            .find_map(|parameter| match parameter {
                Parameter::Argument(argument) if named(argument) => {
                    Some(Access::NotMutable(&argument.ty))
                }
                _ => None,
            })
            .unwrap_or(Access::None),
    }
}
