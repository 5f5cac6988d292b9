//! The model of a part: a function that asks on behalf of the tools that call it.

use proc_macro2::{Ident, TokenStream};
use syn::{FnArg, Pat, PatType, Type};

use crate::args::{Detach, PartOptions};
use crate::body::{self, Access, Found, Surroundings};
use crate::debug;
use crate::diagnostics::{self, Errors};
use crate::expand;
use crate::runtime::Runtime;
use crate::signature::{Function, wire_name};

/// A function that is to be a part.
pub(crate) struct Part {
    pub(crate) runtime: Runtime,
    /// What stands before its keys.
    pub(crate) name: String,
    /// The function to emit: park points in the body.
    pub(crate) function: Function,
    /// The context; `None` if mistakes leave it open.
    pub(crate) context: Option<(Ident, Type)>,
    /// What is in the body.
    pub(crate) found: Found,
}

/// Expands `#[mcp_part(options)]` on `item`.
pub(crate) fn expand(options: TokenStream, item: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let Some(function) = Function::parse(item.clone(), &mut errors) else {
        errors.push(&item, diagnostics::part_not_a_function());
        return expand::untouched(errors, item);
    };
    let options = PartOptions::parse(options, &mut errors);
    let part = Part::new(&options, function, &mut errors);
    let expansion = match errors.finish() {
        Ok(()) => expand::part(&part),
        Err(errors) => expand::refused_part(&part, &errors),
    };
    debug::print(&part.function.sig.ident, &expansion);
    expansion
}

impl Part {
    fn new(options: &PartOptions, mut function: Function, errors: &mut Errors) -> Self {
        let sig = &function.sig;
        if sig.asyncness.is_none() {
            errors.push(sig.fn_token, diagnostics::part_not_async(&sig.ident));
        }
        let context = context(sig.inputs.iter());
        if context.is_none() {
            errors.push(&sig.ident, diagnostics::part_without_context(&sig.ident));
        }
        let runtime = Runtime::new(options.runtime.clone());
        let surroundings = Surroundings {
            runtime: &runtime,
            signature: &function.sig,
            context: match &context {
                Some((name, _)) => Access::Named(name),
                None => Access::Refused,
            },
            // It is the tool's, and the tool is not known.
            mode: None,
            detach: Some(Detach::Manual),
            allowed: &options.allowed,
        };
        let found = body::rewrite(&mut function.body, &surroundings, errors);
        Self {
            name: wire_name(&function.sig.ident),
            runtime,
            function,
            context,
            found,
        }
    }
}

/// The parameter called `ctx`, or else the first that is `&mut`.
fn context<'a>(inputs: impl Iterator<Item = &'a FnArg>) -> Option<(Ident, Type)> {
    let mut found: Vec<(Ident, Type)> = inputs.filter_map(exclusive).collect();
    let called_ctx = found.iter().position(|(name, _)| name == "ctx");
    (!found.is_empty()).then(|| found.swap_remove(called_ctx.unwrap_or(0)))
}

/// The name of a `&mut` parameter, and what is behind it.
fn exclusive(input: &FnArg) -> Option<(Ident, Type)> {
    let FnArg::Typed(PatType { pat, ty, .. }) = input else {
        return None;
    };
    match (&**pat, &**ty) {
        (Pat::Ident(pat), Type::Reference(reference)) if reference.mutability.is_some() => {
            Some((pat.ident.clone(), (*reference.elem).clone()))
        }
        _ => None,
    }
}
