//! A tool that is in order.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::Attribute;
use syn::spanned::Spanned as _;

use super::at;
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
///     /// Greets.
///     async fn greet(ctx: &mut Ctx, name: String) -> Result<String> { .. }
///
///     struct greet {}
///
///     impl ::siding::Tool for greet {
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
///             Some(__private::call(async move { output.finish(greet(ctx, argument_0).await) }))
///         }
///     }
/// ```
///
/// `run` is the one place that names the types of the author, so that a type that does not fit is
/// one error. It describes the tool, too: then there is no context, and nothing is called.
pub(crate) fn tool(tool: &Tool) -> TokenStream {
    let function = &tool.function;
    let (definition, run) = (definition(tool), run(tool));
    let item = item(tool, &quote!(#definition #run));
    quote!(#function #item)
}

/// The type that stands for the tool, and its implementation with `methods` in it.
pub(super) fn item(tool: &Tool, methods: &TokenStream) -> TokenStream {
    let Tool {
        runtime,
        function,
        wire,
        ..
    } = tool;
    let (name, vis) = (&function.sig.ident, &function.vis);
    let cfg: Vec<&Attribute> = function
        .attrs
        .iter()
        .filter(|attribute| attribute.path().is_ident("cfg"))
        .collect();
    let docs = format!("The tool `{wire}`, to be registered with `Server::tool` or `tools!`.");
    let state = tool.context().map_or_else(
        || quote!(#runtime::__private::StateOf<#runtime::Ctx>),
        |Context { ty, .. }| {
            let span = at(ty.span());
            let runtime = runtime.at(span);
            quote_spanned!(span=> #runtime::__private::StateOf<#ty>)
        },
    );
    quote_spanned! {Span::mixed_site()=>
        #(#cfg)*
        #[allow(non_camel_case_types)]
        #[doc = #docs]
        #vis struct #name {}

        #(#cfg)*
        #[automatically_derived]
        impl #runtime::Tool for #name {
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
        operations,
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
        Detach::Always => (None, None),
        Detach::After(delay) => (Some(millis(delay)), None),
        Detach::Manual => (None, Some(quote!(.detach_manual()))),
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
    let operations = (!operations.is_empty()).then(|| {
        let pairs = operations.iter().map(|operation| {
            let (kind, key) = (operation.kind, &operation.key);
            quote!((#kind, #key))
        });
        quote!(.operations(&[#(#pairs),*]))
    });
    quote_spanned! {Span::mixed_site()=>
        fn definition() -> #runtime::__private::Definition {
            #runtime::__private::Definition::new(#wire, #runtime::Mode::#mode)
                #(#settings)*
                #operations
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
        ..
    } = tool;
    let name = &function.sig.ident;
    let mixed = Span::mixed_site();
    let returned = function
        .output()
        .map_or_else(|| quote!(()), ToTokens::to_token_stream);
    let span = at(function.output_span());
    let located = runtime.at(span);
    let output = quote_spanned! {span=>
        let output = #located::__private::Probe::<#returned>::new().peel().output();
        inputs.returns(&output);
    };

    let locals: Vec<Ident> = parameters
        .iter()
        .enumerate()
        .map(|(index, parameter)| match parameter {
            Parameter::Context(_) => Ident::new("ctx", mixed),
            Parameter::Argument(_) => format_ident!("argument_{index}", span = mixed),
        })
        .collect();
    let arguments = parameters
        .iter()
        .zip(&locals)
        .filter_map(|(parameter, local)| {
            let Parameter::Argument(argument) = parameter else {
                return None;
            };
            Some(argument_tokens(argument, local, runtime))
        });
    // Without a context there still is one where the tool is called, and none where it is described.
    let (unused, absent) = match tool.context() {
        Some(_) => (None, None),
        None => (
            Some(quote_spanned!(mixed=> ::core::option::Option::Some(_),)),
            Some(quote_spanned!(mixed=> ctx,)),
        ),
    };
    let span = at(name.span());
    let located = runtime.at(span);
    let call = quote_spanned! {span=>
        #located::__private::call(async move { output.finish(#name(#(#locals),*).await) })
    };
    quote_spanned! {mixed=>
        fn run<'a>(
            inputs: &mut #runtime::__private::Inputs<'a>,
            ctx: ::core::option::Option<&'a mut #runtime::Ctx<Self::State>>,
        ) -> ::core::option::Option<#runtime::__private::Call<'a>> {
            #[allow(unused_imports)]
            use #runtime::__private::{EncodePlain as _, PeelPlain as _};

            #output
            #(#arguments)*
            let (#unused #(::core::option::Option::Some(#locals),)*) = (#absent #(#locals,)*) else {
                return ::core::option::Option::None;
            };
            ::core::option::Option::Some(#call)
        }
    }
}

/// The statement that declares an argument and, in a call, decodes it.
fn argument_tokens(argument: &Argument, local: &Ident, runtime: &Runtime) -> TokenStream {
    let Argument {
        ty,
        wire,
        description,
        default,
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
    quote_spanned! {span=>
        let #local = inputs.argument::<#ty>(
            #runtime::__private::Arg::new(#wire) #description #default
        );
    }
}
