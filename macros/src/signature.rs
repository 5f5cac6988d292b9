//! The annotated function, and the rules about its shape.

use proc_macro2::{Delimiter, Ident, Span, TokenStream};
use quote::ToTokens;
use syn::ext::IdentExt as _;
use syn::parse::{ParseStream, Parser as _};
use syn::spanned::Spanned;
use syn::token::Brace;
use syn::{
    AttrStyle, Attribute, Block, FnArg, GenericParam, ReturnType, Safety, Signature, Stmt, Type,
    Visibility,
};

use crate::diagnostics::{self, Errors};
use crate::types::Spelling;

/// A function as it was written.
pub(crate) struct Function {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) vis: Visibility,
    pub(crate) sig: Signature,
    pub(crate) body: Block,
}

impl Function {
    /// Reads a free function; `None` if `tokens` are something else.
    ///
    /// A body that cannot be parsed is reported, and taken for an empty one.
    pub(crate) fn parse(tokens: TokenStream, errors: &mut Errors) -> Option<Self> {
        let (mut function, body) = Self::parse_header.parse2(tokens).ok()?;
        match Self::parse_body.parse2(body) {
            Ok((attrs, stmts)) => {
                function.attrs.extend(attrs);
                function.body.stmts = stmts;
            }
            Err(error) => errors.push_syntax(error),
        }
        Some(function)
    }

    fn parse_header(input: ParseStream<'_>) -> syn::Result<(Self, TokenStream)> {
        let mut function = Self {
            attrs: input.call(Attribute::parse_outer)?,
            vis: input.parse()?,
            sig: input.parse()?,
            body: Block {
                brace_token: Brace::default(),
                stmts: Vec::new(),
            },
        };
        // Not as a `Group`: a `$body:block` of a `macro_rules!` has invisible delimiters around it.
        let (body, braces) = input.step(|cursor| {
            let (body, braces, rest) = cursor
                .group(Delimiter::Brace)
                .ok_or_else(|| cursor.error("expected a body"))?;
            Ok(((body.token_stream(), braces), rest))
        })?;
        function.body.brace_token = Brace(braces);
        Ok((function, body))
    }

    /// Attributes at the beginning of a body are those of the function.
    fn parse_body(input: ParseStream<'_>) -> syn::Result<(Vec<Attribute>, Vec<Stmt>)> {
        let mut attrs = input.call(Attribute::parse_inner)?;
        for attribute in &mut attrs {
            attribute.style = AttrStyle::Outer;
        }
        Ok((attrs, input.call(Block::parse_within)?))
    }
}

impl ToTokens for Function {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        for attribute in &self.attrs {
            attribute.to_tokens(tokens);
        }
        self.vis.to_tokens(tokens);
        self.sig.to_tokens(tokens);
        self.body.to_tokens(tokens);
    }
}

impl Function {
    /// The type after `->`, if one is written.
    pub(crate) fn output(&self) -> Option<&Type> {
        match &self.sig.output {
            ReturnType::Default => None,
            ReturnType::Type(_, ty) => Some(ty),
        }
    }

    /// Where mistakes in what the function returns are shown.
    pub(crate) fn output_span(&self) -> Span {
        self.output()
            .map_or_else(|| self.sig.ident.span(), Spanned::span)
    }

    /// The receiver, by which a method is told from a free function.
    pub(crate) fn receiver(&self) -> Option<&FnArg> {
        self.sig
            .inputs
            .first()
            .filter(|input| matches!(input, FnArg::Receiver(_)))
    }

    /// Judges all but the parameters and the body.
    pub(crate) fn check(&self, errors: &mut Errors) {
        let sig = &self.sig;
        if sig.asyncness.is_none() {
            errors.push(sig.fn_token, diagnostics::not_async(&sig.ident));
        }
        for (qualifier, tokens) in self.qualifiers() {
            errors.push(tokens, diagnostics::qualified_function(qualifier));
        }
        for parameter in &sig.generics.params {
            let message = match parameter {
                GenericParam::Lifetime(lifetime) => diagnostics::named_lifetime(&lifetime.lifetime),
                GenericParam::Type(ty) => diagnostics::generic_tool(&ty.ident),
                GenericParam::Const(constant) => diagnostics::generic_tool(&constant.ident),
            };
            errors.push(parameter, message);
        }
        if let Some(opaque) = self.output().and_then(|ty| Spelling::of(ty).impl_trait) {
            errors.push(opaque, diagnostics::impl_trait_return());
        }
    }

    /// The qualifiers that a tool cannot have.
    fn qualifiers(&self) -> impl Iterator<Item = (&'static str, TokenStream)> {
        let sig = &self.sig;
        let safety = match &sig.safety {
            Safety::Unsafe(token) => Some(("unsafe", token.to_token_stream())),
            Safety::Safe(token) => Some(("safe", token.to_token_stream())),
            Safety::Default => None,
        };
        [
            sig.constness
                .map(|token| ("const", token.to_token_stream())),
            safety,
            sig.abi
                .as_ref()
                .map(|abi| ("extern", abi.to_token_stream())),
            sig.variadic
                .as_ref()
                .map(|dots| ("...", dots.to_token_stream())),
        ]
        .into_iter()
        .flatten()
    }
}

/// The name by which clients know what is called `ident` here.
pub(crate) fn wire_name(ident: &Ident) -> String {
    ident.unraw().to_string()
}
