//! What a form asks, and how its answers are read.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::parse_quote;
use syn::spanned::Spanned as _;

use super::at;
use crate::form::{Choice, Field, Form, Shape};

/// Implements `Input`; for an enum also `Choice` and `Field`, by which it can stand in a struct.
pub(crate) fn form(form: &Form) -> TokenStream {
    match &form.shape {
        Shape::Fields(fields) => of_fields(form, fields),
        Shape::Options(choices) => of_choices(form, choices),
        Shape::None => refused(form),
    }
}

/// ```text
/// impl ::siding::Input for Approval {
///     fn form() -> __private::Form {
///         __private::form_of(<Self as ::siding::Input>::read)
///     }
///
///     fn read(answers: &mut __private::Answers) -> ::siding::Result<Self> {
///         let field_0 = answers.field::<bool>("approve", Some("Go ahead?"));
///         Ok(Self { approve: field_0? })
///     }
///
///     fn fill(&self, form: &mut __private::Form) {
///         use __private::FilledPlain as _;
///
///         __private::Filled(&self.approve).fill(form, "approve");
///     }
/// }
/// ```
///
/// `read` is the one place that asks something of the types of the author, so that a type that does
/// not fit is one error. It describes the form, too: then every field fails.
fn of_fields(form: &Form, fields: &[Field]) -> TokenStream {
    let Form { runtime, name, .. } = form;
    let mixed = Span::mixed_site();
    let locals: Vec<Ident> = (0..fields.len())
        .map(|index| format_ident!("field_{index}", span = mixed))
        .collect();
    let read = fields.iter().zip(&locals).map(|(field, local)| {
        let Field {
            ty,
            wire,
            description,
            ..
        } = field;
        let description = option(description.as_ref());
        quote_spanned! {at(ty.span())=>
            let #local = answers.field::<#ty>(#wire, #description);
        }
    });
    let names = || fields.iter().map(|field| &field.name);
    let (read_names, filled_names) = (names(), names());
    let wires = fields.iter().map(|field| &field.wire);
    quote_spanned! {mixed=>
        #[automatically_derived]
        impl #runtime::Input for #name {
            fn form() -> #runtime::__private::Form {
                #runtime::__private::form_of(<Self as #runtime::Input>::read)
            }

            fn read(answers: &mut #runtime::__private::Answers) -> #runtime::Result<Self> {
                #(#read)*
                ::core::result::Result::Ok(Self { #(#read_names: #locals?),* })
            }

            fn fill(&self, form: &mut #runtime::__private::Form) {
                #[allow(unused_imports)]
                use #runtime::__private::FilledPlain as _;

                #(#runtime::__private::Filled(&self.#filled_names).fill(form, #wires);)*
            }
        }
    }
}

/// ```text
/// impl ::siding::Choice for Color {
///     const OPTIONS: &'static [(&'static str, Option<&'static str>)] = &[("Red", None)];
///     fn from_index(index: usize) -> Self { match index { 0 => Self::Red, .. } }
///     fn index(&self) -> usize { match self { Self::Red => 0, .. } }
/// }
/// ```
fn of_choices(form: &Form, choices: &[Choice]) -> TokenStream {
    let Form { runtime, name, .. } = form;
    let options = choices.iter().map(|choice| {
        let (wire, title) = (&choice.wire, option(choice.title.as_ref()));
        quote!((#wire, #title))
    });
    let variants = || choices.iter().map(|choice| &choice.name);
    let (from, to) = (variants(), variants());
    let (indices, positions) = (0..choices.len(), 0..choices.len());
    quote_spanned! {Span::mixed_site()=>
        #[automatically_derived]
        impl #runtime::Choice for #name {
            const OPTIONS: &'static [(&'static str, ::core::option::Option<&'static str>)] =
                &[#(#options),*];

            fn from_index(index: usize) -> Self {
                match index {
                    #(#indices => Self::#from,)*
                    _ => #runtime::__private::no_such_option(),
                }
            }

            fn index(&self) -> usize {
                match self {
                    #(Self::#to => #positions,)*
                }
            }
        }

        #[automatically_derived]
        impl #runtime::Input for #name {
            fn form() -> #runtime::__private::Form {
                #runtime::__private::plain::<Self>()
            }

            fn read(answers: &mut #runtime::__private::Answers) -> #runtime::Result<Self> {
                #runtime::__private::read_plain::<Self>(answers)
            }

            fn fill(&self, form: &mut #runtime::__private::Form) {
                #runtime::__private::fill_plain(self, form);
            }
        }

        #[automatically_derived]
        impl #runtime::Field for #name {
            fn kind() -> #runtime::__private::FieldKind {
                #runtime::__private::choice_kind::<Self>()
            }

            fn read(
                value: #runtime::__private::FieldValue<'_>,
            ) -> ::core::result::Result<Self, ::std::string::String> {
                #runtime::__private::read_choice::<Self>(value)
            }

            fn json(&self) -> ::core::option::Option<#runtime::__private::Value> {
                #runtime::__private::choice_json(self)
            }
        }
    }
}

/// Stubs, so that what asks for this type gives no second error.
fn refused(form: &Form) -> TokenStream {
    let Form {
        runtime,
        name,
        generics,
        ..
    } = form;
    let (parameters, arguments, _) = generics.split_for_impl();
    let mut generics = generics.clone();
    generics
        .make_where_clause()
        .predicates
        .push(parse_quote!(Self: ::core::marker::Send));
    let bounds = &generics.where_clause;
    quote_spanned! {Span::mixed_site()=>
        impl #parameters #runtime::Input for #name #arguments #bounds {
            fn form() -> #runtime::__private::Form {
                #runtime::__private::refused()
            }

            fn read(_: &mut #runtime::__private::Answers) -> #runtime::Result<Self> {
                #runtime::__private::refused()
            }

            fn fill(&self, _: &mut #runtime::__private::Form) {
                #runtime::__private::refused()
            }
        }

        impl #parameters #runtime::Field for #name #arguments #bounds {
            fn kind() -> #runtime::__private::FieldKind {
                #runtime::__private::refused()
            }

            fn read(
                _: #runtime::__private::FieldValue<'_>,
            ) -> ::core::result::Result<Self, ::std::string::String> {
                #runtime::__private::refused()
            }

            fn json(&self) -> ::core::option::Option<#runtime::__private::Value> {
                #runtime::__private::refused()
            }
        }

        impl #parameters #runtime::Choice for #name #arguments #bounds {
            const OPTIONS: &'static [(&'static str, ::core::option::Option<&'static str>)] = &[];

            fn from_index(_: usize) -> Self {
                #runtime::__private::refused()
            }

            fn index(&self) -> usize {
                #runtime::__private::refused()
            }
        }
    }
}

fn option(text: Option<&String>) -> TokenStream {
    text.map_or_else(
        || quote_spanned!(Span::mixed_site()=> ::core::option::Option::None),
        |text| quote_spanned!(Span::mixed_site()=> ::core::option::Option::Some(#text)),
    )
}
