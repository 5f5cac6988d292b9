//! The parameters of a tool: one context at most, and the arguments.

use proc_macro2::Ident;
use regex_lite::Regex;
use syn::visit_mut::VisitMut as _;
use syn::{Expr, ExprRange, FnArg, LitStr, Pat, PatType, Type};

use crate::attribute;
use crate::diagnostics::{self, Errors};
use crate::docs;
use crate::signature::wire_name;
use crate::types::{Spelling, WithoutSelf};

const KNOWN: &[&str] = &[
    "default",
    "rename",
    "description",
    "range",
    "length",
    "pattern",
];

/// One parameter, in the order in which they are written.
#[expect(clippy::large_enum_variant, reason = "a function has few")]
pub(crate) enum Parameter {
    Context(Context),
    Argument(Argument),
}

impl Parameter {
    /// Writes the types out for code outside of the `impl` block of a method.
    pub(crate) fn write_out(&mut self, written_out: &mut WithoutSelf<'_>) {
        match self {
            Self::Context(context) => written_out.visit_type_mut(&mut context.ty),
            Self::Argument(argument) => {
                written_out.visit_type_mut(&mut argument.ty);
                if let Some(default) = &mut argument.default {
                    written_out.visit_expr_mut(default);
                }
            }
        }
    }
}

/// The one `&mut` parameter.
pub(crate) struct Context {
    /// `None` where the pattern is `_`.
    pub(crate) name: Option<Ident>,
    /// What is behind the `&mut`.
    pub(crate) ty: Type,
}

/// A parameter that the client fills in.
pub(crate) struct Argument {
    /// `None` where the pattern is no name.
    pub(crate) name: Option<Ident>,
    pub(crate) ty: Type,
    /// The name on the wire.
    pub(crate) wire: String,
    pub(crate) description: Option<String>,
    pub(crate) default: Option<Expr>,
    /// What the value must be beyond its type.
    pub(crate) range: Option<ExprRange>,
    pub(crate) length: Option<ExprRange>,
    pub(crate) pattern: Option<LitStr>,
}

/// Reads the parameters, and takes from `inputs` the attributes that rustc does not know there.
pub(crate) fn parse<'a>(
    inputs: impl IntoIterator<Item = &'a mut FnArg>,
    errors: &mut Errors,
) -> Vec<Parameter> {
    let mut parameters: Vec<Parameter> = Vec::new();
    for input in inputs {
        let FnArg::Typed(input) = input else { continue };
        let parameter = parameter(input, errors);
        if let Some(message) = clash(&parameter, &parameters) {
            errors.push(&input.pat, message);
        }
        parameters.push(parameter);
    }
    parameters
}

fn parameter(input: &mut PatType, errors: &mut Errors) -> Parameter {
    let unread = docs::unread(&input.attrs).cloned();
    let description = docs::take(&mut input.attrs);
    let options = attribute::take(&mut input.attrs, "arg", KNOWN, errors);
    let is_described = options.iter().any(|option| option.key == "description");
    if let Some(text) = unread.filter(|_| !is_described) {
        errors.push(text, diagnostics::doc_of_macro());
    }
    for attribute in &input.attrs {
        if let Some(name) = attribute.path().get_ident().filter(|name| *name == "cfg") {
            errors.push(attribute, diagnostics::conditional_parameter(name));
        }
    }
    if let Some(lifetime) = Spelling::of(&input.ty).named_lifetime {
        errors.push(lifetime, diagnostics::named_lifetime(lifetime));
    }
    match &*input.ty {
        Type::Reference(reference) if reference.mutability.is_some() => {
            Parameter::Context(Context {
                name: name(&input.pat),
                ty: (*reference.elem).clone(),
            })
        }
        ty => {
            let mut argument = Argument::new(ty, name(&input.pat), description);
            if name(&input.pat).is_none() {
                errors.push(&input.pat, diagnostics::parameter_pattern());
            }
            if let Some(opaque) = Spelling::of(ty).impl_trait {
                errors.push(opaque, diagnostics::impl_trait_parameter());
            }
            for option in &options {
                argument.read(option, errors);
            }
            Parameter::Argument(argument)
        }
    }
}

/// The name that a pattern is, if it is nothing more.
fn name(pattern: &Pat) -> Option<Ident> {
    match pattern {
        Pat::Ident(pattern) if pattern.by_ref.is_none() && pattern.subpat.is_none() => {
            Some(pattern.ident.clone())
        }
        _ => None,
    }
}

impl Argument {
    fn new(ty: &Type, name: Option<Ident>, description: Option<String>) -> Self {
        let wire = name.as_ref().map(wire_name).unwrap_or_default();
        Self {
            name,
            ty: ty.clone(),
            wire,
            description,
            default: None,
            range: None,
            length: None,
            pattern: None,
        }
    }

    fn read(&mut self, option: &attribute::Entry, errors: &mut Errors) {
        match option.key.to_string().as_str() {
            "default" => self.default = option.expr(errors),
            "range" => self.range = option.limits(errors),
            "length" => self.length = option.limits(errors),
            "pattern" => self.pattern = pattern(option, errors),
            "rename" => {
                if let Some(name) = option.string(errors) {
                    self.wire = name.value();
                }
            }
            "description" => {
                if let Some(text) = option.string(errors) {
                    self.description = Some(text.value());
                }
            }
            other => unreachable!("`{other}` is in `KNOWN` only"),
        }
    }
}

/// Reads a regular expression.
fn pattern(option: &attribute::Entry, errors: &mut Errors) -> Option<LitStr> {
    let pattern = option.string_with("a regular expression", "\"^[a-z]+$\"", errors)?;
    match Regex::new(&pattern.value()) {
        Ok(_) => Some(pattern),
        Err(error) => {
            errors.push(&pattern, diagnostics::bad_pattern(pattern.value(), error));
            None
        }
    }
}

/// Why `parameter` cannot stand beside those before it.
fn clash(parameter: &Parameter, earlier: &[Parameter]) -> Option<String> {
    earlier
        .iter()
        .find_map(|earlier| match (parameter, earlier) {
            (Parameter::Context(context), Parameter::Context(_)) => {
                let name = context
                    .name
                    .as_ref()
                    .map_or_else(|| "_".to_owned(), ToString::to_string);
                Some(diagnostics::two_contexts(name))
            }
            (Parameter::Argument(one), Parameter::Argument(other)) => (!one.wire.is_empty()
                && one.wire == other.wire)
                .then(|| diagnostics::repeated_argument(&one.wire)),
            _ => None,
        })
}
