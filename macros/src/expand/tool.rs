//! A tool that is in order.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned as _;
use syn::{Attribute, Expr, ExprLit, ExprRange, Lit, LitInt, RangeLimits};

use super::{at, body};
use crate::args::{Detach, Hints, Mode, millis};
use crate::inputs::{Argument, Context, Parameter};
use crate::runtime::Runtime;
use crate::tool::Tool;

/// Emits the function, the type of the same name, and what the type knows of the function.
///
/// ```text
/// Input:
///     /// Greets.
///     #[mcp_tool(task = "optional")]
///     async fn greet(ctx: &mut Ctx, name: String) -> Result<String> { .. }
///
/// Output:
///     #[allow(clippy::unused_async)]
///     /// Greets.
///     async fn greet(ctx: &mut Ctx, name: String) -> Result<String> { .. }
///
///     struct greet {}
///
///     impl ::siding::Tool for greet where Ctx: __private::Context {
///         type State = __private::StateOf<Ctx>;
///
///         fn definition() -> __private::Definition {
///             __private::Definition::new("greet", ::siding::Mode::Optional).description("Greets.")
///         }
///
///         fn run<'a>(
///             inputs: &mut __private::Inputs<'a>,
///             ctx: Option<&'a mut ::siding::Ctx<Self::State>>,
///         ) -> Option<__private::Call<'a>> {
///             use __private::{EncodePlain as _, PeelPlain as _};
///             let output = __private::Probe::<Result<String>>::new().peel().output();
///             inputs.returns(&output);
///             let argument_0 = inputs.argument::<String>(__private::Arg::new("name"));
///             let (Some(ctx), Some(argument_0)) = (ctx, argument_0) else { return None };
///             Some(__private::call(async move {
///                 output.finish(greet(__private::context::<Ctx>(ctx), argument_0).await)
///             }))
///         }
///     }
/// ```
///
/// `run` is the one place that names the types of the author, so that a type that does not fit is
/// one error. It describes the tool, too: then there is no context, and nothing is called.
pub(crate) fn tool(tool: &Tool) -> TokenStream {
    let (function, item) = (function(tool), described(tool));
    let warnings = body::warnings(&tool.found.warnings);
    quote!(#function #item #warnings)
}

/// The function as it stays callable.
pub(super) fn function(tool: &Tool) -> TokenStream {
    let function = &tool.function;
    quote! {
        #[allow(clippy::unused_async)]
        #function
    }
}

/// The type that stands for the tool, and what it knows of the function.
pub(super) fn described(tool: &Tool) -> TokenStream {
    let (definition, run) = (definition(tool), run(tool));
    item(tool, &quote!(#definition #run))
}

/// The conditions under which the function is there at all.
pub(super) fn cfg(tool: &Tool) -> impl Iterator<Item = &Attribute> {
    let attrs = tool.function.attrs.iter();
    attrs.filter(|attribute| attribute.path().is_ident("cfg"))
}

/// The type that stands for the tool, and its implementation with `methods` in it.
pub(super) fn item(tool: &Tool, methods: &TokenStream) -> TokenStream {
    let Tool { runtime, wire, .. } = tool;
    let name = tool.item_name();
    let vis = tool.owner.is_none().then_some(&tool.function.vis);
    let cfg: Vec<&Attribute> = cfg(tool).collect();
    let docs = format!("The tool `{wire}`, to be registered with `Server::tool` or `tools!`.");
    let (state, bound) = match (&tool.owner, tool.context()) {
        (Some(owner), _) => (quote!(#owner), None),
        (None, None) => (quote!(#runtime::__private::StateOf<#runtime::Ctx>), None),
        (None, Some(Context { ty, .. })) => {
            let span = at(ty.span());
            let runtime = runtime.at(span);
            (
                quote_spanned!(span=> #runtime::__private::StateOf<#ty>),
                // Here a wrong type is reported; what follows takes it for a right one.
                Some(quote_spanned!(span=> where #ty: #runtime::__private::Context)),
            )
        }
    };
    quote_spanned! {Span::mixed_site()=>
        #(#cfg)*
        #[allow(non_camel_case_types)]
        #[doc = #docs]
        #vis struct #name {}

        #(#cfg)*
        #[automatically_derived]
        #[allow(trivial_bounds)]
        impl #runtime::Tool for #name #bound {
            type State = #state;

            #methods
        }
    }
}

fn definition(tool: &Tool) -> TokenStream {
    let Tool {
        runtime,
        options,
        wire,
        found,
        ..
    } = tool;
    let mode = match options.mode {
        Some(Mode::Required) => quote!(Required),
        Some(Mode::Optional) => quote!(Optional),
        Some(Mode::Forbidden) | None => quote!(Forbidden),
    };
    let Hints {
        read_only,
        destructive,
        idempotent,
        open_world,
    } = options.hints;
    let (delay, manual) = match options.detach {
        None | Some(Detach::Always) => (None, None),
        Some(Detach::After(delay)) => (Some(millis(delay)), None),
        Some(Detach::Manual) => (None, Some(quote!(.detach_manual()))),
    };
    let settings = [
        setting("title", options.title.as_ref()),
        setting("description", tool.description.as_ref()),
        setting("ttl_ms", options.ttl.map(millis)),
        setting("poll_ms", options.poll.map(millis)),
        setting("detach_after_ms", delay),
        manual,
        setting("max_running", options.max_running),
        setting("read_only", read_only),
        setting("destructive", destructive),
        setting("idempotent", idempotent),
        setting("open_world", open_world),
    ]
    .into_iter()
    .flatten();
    // It notes where it is called, which is told of the author's own span alone.
    let span = tool.function.sig.ident.span();
    let located = runtime.at(span);
    let new = quote_spanned! {span=>
        #located::__private::Definition::new(#wire, #located::Mode::#mode)
    };
    let operations = (!found.operations.is_empty()).then(|| {
        let pairs = found.operations.iter().map(|operation| {
            let (kind, key) = (operation.kind, &operation.key);
            quote!((#kind, #key))
        });
        quote!(.operations(&[#(#pairs),*]))
    });
    let may_clean_up = found.may_clean_up.then(|| quote!(.may_clean_up()));
    quote_spanned! {Span::mixed_site()=>
        fn definition() -> #runtime::__private::Definition {
            #new
                #(#settings)*
                #operations
                #may_clean_up
        }
    }
}

/// A call of the builder, if there is something to say.
fn setting(name: &str, value: Option<impl ToTokens>) -> Option<TokenStream> {
    let name = format_ident!("{name}", span = Span::mixed_site());
    value.map(|value| quote!(.#name(#value)))
}

fn run(tool: &Tool) -> TokenStream {
    let Tool {
        runtime,
        function,
        parameters,
        returned,
        ..
    } = tool;
    let mixed = Span::mixed_site();
    let returned = returned
        .as_ref()
        .map_or_else(|| quote!(()), ToTokens::to_token_stream);
    let span = at(function.output_span());
    let located = runtime.at(span);
    let output = quote_spanned! {span=>
        let output = #located::__private::Probe::<#returned>::new().peel().output();
        inputs.returns(&output);
    };

    let local = |index: usize| format_ident!("argument_{index}", span = mixed);
    let arguments = || {
        let all = parameters.iter().enumerate();
        all.filter_map(move |(index, parameter)| match parameter {
            Parameter::Argument(argument) => Some((argument, local(index))),
            Parameter::Context(_) => None,
        })
    };
    let declared = arguments().map(|(argument, local)| argument_tokens(argument, &local, runtime));
    let decoded = arguments().map(|(_, local)| local);
    let present = arguments().map(|(_, local)| local);
    let is_method = function.receiver().is_some();
    // There is a context where the tool is called, and none where it is described.
    let ctx = if is_method || tool.context().is_some() {
        Ident::new("ctx", mixed)
    } else {
        Ident::new("_ctx", mixed)
    };
    let passed = parameters
        .iter()
        .enumerate()
        .map(|(index, parameter)| match parameter {
            Parameter::Argument(_) => local(index).to_token_stream(),
            Parameter::Context(context) => context_tokens(context, tool),
        });

    let name = &function.sig.ident;
    let span = at(name.span());
    let located = runtime.at(span);
    let callee = match &tool.owner {
        Some(owner) => quote_spanned!(span=> <#owner>::#name),
        None => name.to_token_stream(),
    };
    let (state, receiver) = if is_method {
        (
            Some(quote_spanned!(mixed=> let state = #runtime::Ctx::state(ctx);)),
            Some(quote_spanned!(mixed=> &state,)),
        )
    } else {
        (None, None)
    };
    let call = quote_spanned! {span=>
        #located::__private::call(
            async move { output.finish(#callee(#receiver #(#passed),*).await) }
        )
    };
    quote_spanned! {mixed=>
        fn run<'a>(
            inputs: &mut #runtime::__private::Inputs<'a>,
            ctx: ::core::option::Option<&'a mut #runtime::Ctx<Self::State>>,
        ) -> ::core::option::Option<#runtime::__private::Call<'a>> {
            #[allow(unused_imports)]
            use #runtime::__private::{EncodePlain as _, PeelPlain as _};

            #output
            #(#declared)*
            let (
                ::core::option::Option::Some(#ctx),
                #(::core::option::Option::Some(#decoded),)*
            ) = (ctx, #(#present,)*) else {
                return ::core::option::Option::None;
            };
            #state
            ::core::option::Option::Some(#call)
        }
    }
}

/// The context, as the function takes it.
fn context_tokens(Context { ty, .. }: &Context, tool: &Tool) -> TokenStream {
    let span = at(ty.span());
    let runtime = tool.runtime.at(span);
    if let Some(owner) = &tool.owner {
        quote_spanned!(span=> #runtime::__private::context_in::<#owner, #ty>(ctx))
    } else {
        quote_spanned!(span=> #runtime::__private::context::<#ty>(ctx))
    }
}

/// The statement that declares an argument and, in a call, decodes it.
fn argument_tokens(argument: &Argument, local: &Ident, runtime: &Runtime) -> TokenStream {
    let Argument {
        ty,
        wire,
        description,
        default,
        range,
        length,
        pattern,
        ..
    } = argument;
    let span = at(ty.span());
    let description = setting("description", description.as_ref());
    let default = default.as_ref().map(|value| {
        let span = at(value.span());
        let runtime = runtime.at(span);
        quote_spanned! {span=>
            .default(#runtime::__private::default::<#ty, _>(#value))
        }
    });
    let runtime = runtime.at(span);
    let range = limits(
        range.as_ref().map(widened).as_ref(),
        "at_least",
        ["at_most", "below"],
    );
    let length = limits(
        length.as_ref(),
        "no_shorter_than",
        ["no_longer_than", "shorter_than"],
    );
    let pattern = setting("pattern", pattern.as_ref());
    quote_spanned! {span=>
        let #local = inputs.argument::<#ty>(
            #runtime::__private::Arg::new(#wire) #description #default #range #length #pattern
        );
    }
}

/// The limits in `range`: by the method `from`, and by `to` with its end or without.
fn limits(range: Option<&ExprRange>, from: &str, to: [&str; 2]) -> Option<TokenStream> {
    let range = range?;
    let [closed, open] = to;
    let to = match range.limits {
        RangeLimits::Closed(_) => closed,
        RangeLimits::HalfOpen(_) => open,
    };
    let from = setting(from, range.start.as_ref());
    let to = setting(to, range.end.as_ref());
    Some(quote!(#from #to))
}

/// Gives the whole numbers in `range` that have no type one that holds them all.
fn widened(range: &ExprRange) -> ExprRange {
    let mut range = range.clone();
    for limit in [&mut range.start, &mut range.end].into_iter().flatten() {
        let number = match &mut **limit {
            Expr::Unary(negated) => &mut *negated.expr,
            number => number,
        };
        if let Expr::Lit(ExprLit {
            lit: Lit::Int(number),
            ..
        }) = number
            && number.suffix().is_empty()
        {
            let suffix = match number.base10_parse::<i64>() {
                Ok(_) => "i64",
                Err(_) => "u64",
            };
            *number = LitInt::new(&format!("{number}{suffix}"), number.span());
        }
    }
    range
}
