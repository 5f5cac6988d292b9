//! The model of `#[derive(Input)]`: a form of named fields, or a choice from a list.

use proc_macro2::{Ident, TokenStream};
use syn::{Attribute, Data, DataEnum, DataStruct, DeriveInput, Fields, Generics, Type};

use crate::attribute;
use crate::diagnostics::{self, Errors};
use crate::docs;
use crate::expand;
use crate::runtime::Runtime;
use crate::signature::wire_name;

/// What is asked of a person.
pub(crate) struct Form {
    pub(crate) runtime: Runtime,
    pub(crate) name: Ident,
    pub(crate) generics: Generics,
    pub(crate) shape: Shape,
}

pub(crate) enum Shape {
    /// A struct: every field is filled in.
    Fields(Vec<Field>),
    /// An enum: one variant is picked.
    Options(Vec<Choice>),
    /// It was refused.
    None,
}

/// A field of a struct.
pub(crate) struct Field {
    pub(crate) name: Ident,
    pub(crate) ty: Type,
    pub(crate) wire: String,
    pub(crate) description: Option<String>,
}

/// A variant of an enum.
pub(crate) struct Choice {
    pub(crate) name: Ident,
    pub(crate) wire: String,
    pub(crate) title: Option<String>,
}

/// Expands `#[derive(Input)]` on `item`.
pub(crate) fn expand(item: DeriveInput) -> TokenStream {
    let mut errors = Errors::default();
    let form = Form::new(item, &mut errors);
    let implementation = expand::form(&form);
    expand::untouched(errors, implementation)
}

impl Form {
    fn new(mut item: DeriveInput, errors: &mut Errors) -> Self {
        let runtime = attribute::take(&mut item.attrs, "input", &["crate"], errors)
            .first()
            .and_then(|option| option.absolute_path(errors));
        let name = &item.ident;
        let shape = if item.generics.params.is_empty() {
            match item.data {
                Data::Struct(data) => Shape::of_struct(name, data, errors),
                Data::Enum(data) => Shape::of_enum(name, data, errors),
                Data::Union(_) => {
                    errors.push(name, diagnostics::input_union(name));
                    Shape::None
                }
            }
        } else {
            errors.push(&item.generics, diagnostics::input_generic(name));
            Shape::None
        };
        Self {
            runtime: Runtime::new(runtime),
            name: item.ident,
            generics: item.generics,
            shape,
        }
    }
}

impl Shape {
    fn of_struct(name: &Ident, data: DataStruct, errors: &mut Errors) -> Self {
        let fields = match data.fields {
            Fields::Named(fields) => fields.named,
            Fields::Unnamed(fields) => {
                errors.push(fields, diagnostics::input_tuple_struct(name));
                return Self::None;
            }
            Fields::Unit => {
                errors.push(name, diagnostics::input_without_fields(name));
                return Self::None;
            }
        };
        if fields.is_empty() {
            errors.push(name, diagnostics::input_without_fields(name));
        }
        let mut kept: Vec<Field> = Vec::new();
        for mut field in fields {
            let Some(name) = field.ident else { continue };
            let wire = rename(&mut field.attrs, errors).unwrap_or_else(|| wire_name(&name));
            if kept.iter().any(|earlier| earlier.wire == wire) {
                errors.push(&name, diagnostics::repeated_field(&wire));
            }
            let description = docs::text(&field.attrs);
            kept.push(Field {
                name,
                ty: field.ty,
                wire,
                description,
            });
        }
        Self::Fields(kept)
    }

    fn of_enum(name: &Ident, data: DataEnum, errors: &mut Errors) -> Self {
        if data.variants.is_empty() {
            errors.push(name, diagnostics::input_without_fields(name));
            return Self::None;
        }
        let mut kept: Vec<Choice> = Vec::new();
        for mut variant in data.variants {
            let name = variant.ident;
            if !matches!(variant.fields, Fields::Unit) {
                errors.push(&variant.fields, diagnostics::input_enum_data(&name));
                return Self::None;
            }
            let wire = rename(&mut variant.attrs, errors).unwrap_or_else(|| wire_name(&name));
            if kept.iter().any(|earlier| earlier.wire == wire) {
                errors.push(&name, diagnostics::repeated_field(&wire));
            }
            let title = docs::text(&variant.attrs);
            kept.push(Choice { name, wire, title });
        }
        Self::Options(kept)
    }
}

fn rename(attrs: &mut Vec<Attribute>, errors: &mut Errors) -> Option<String> {
    let options = attribute::take(attrs, "input", &["rename"], errors);
    options.first()?.string(errors).map(|name| name.value())
}
