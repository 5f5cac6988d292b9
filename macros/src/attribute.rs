//! The grammar that all attributes share: `key`, `key = value`, `key(..)`, separated by commas.

use proc_macro2::{Group, Ident, TokenStream};
use quote::ToTokens;
use syn::ext::IdentExt as _;
use syn::parse::{Parse, ParseStream, Parser as _};
use syn::punctuated::Punctuated;
use syn::{Attribute, Expr, ExprRange, Lit, LitInt, LitStr, Meta, Path, Token, token};

use crate::diagnostics::{self, Errors};

/// One option, with the author's tokens.
pub(crate) struct Entry {
    pub(crate) key: Ident,
    value: Given,
}

/// What stands behind the key.
enum Given {
    /// Nothing: a flag.
    Nothing,
    /// `= value`
    Value(Expr),
    /// `(..)`
    List(Group),
}

impl Parse for Entry {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let key = Ident::parse_any(input)?;
        let value = if input.peek(token::Paren) {
            Given::List(input.parse()?)
        } else if input.parse::<Option<Token![=]>>()?.is_some() {
            Given::Value(input.parse()?)
        } else {
            Given::Nothing
        };
        Ok(Self { key, value })
    }
}

impl ToTokens for Entry {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        self.key.to_tokens(tokens);
        match &self.value {
            Given::Nothing => {}
            Given::Value(value) => value.to_tokens(tokens),
            Given::List(list) => list.to_tokens(tokens),
        }
    }
}

impl Entry {
    /// Reads a string, or says that one belongs here.
    pub(crate) fn string(&self, errors: &mut Errors) -> Option<LitStr> {
        self.string_with("a string", "\"..\"", errors)
    }

    /// Reads a string with a meaning, or says that one such as `example` belongs here.
    pub(crate) fn string_with(
        &self,
        wanted: &str,
        example: &str,
        errors: &mut Errors,
    ) -> Option<LitStr> {
        if let Some(Lit::Str(text)) = self.literal() {
            return Some(text.clone());
        }
        // A bare word was meant as the string.
        let word = self.word().map(|word| format!("\"{word}\""));
        self.refuse(wanted, word.as_deref().unwrap_or(example), errors)
    }

    fn word(&self) -> Option<&Ident> {
        match &self.value {
            Given::Value(Expr::Path(path)) => path.path.get_ident(),
            _ => None,
        }
    }

    /// Reads `true` or `false`; a flag alone is `true`.
    pub(crate) fn bool(&self, errors: &mut Errors) -> Option<bool> {
        match self.literal() {
            None if matches!(self.value, Given::Nothing) => Some(true),
            Some(Lit::Bool(value)) => Some(value.value),
            _ => self.refuse("`true` or `false`", "true", errors),
        }
    }

    /// Reads a number from one up.
    pub(crate) fn positive(&self, errors: &mut Errors) -> Option<u32> {
        let parse = |number: &LitInt| number.base10_parse().ok().filter(|number| *number > 0);
        match self.literal() {
            Some(Lit::Int(number)) if parse(number).is_some() => parse(number),
            _ => self.refuse("a number from 1 up", "4", errors),
        }
    }

    /// Reads any expression.
    pub(crate) fn expr(&self, errors: &mut Errors) -> Option<Expr> {
        match &self.value {
            Given::Value(value) => Some(value.clone()),
            _ => self.refuse("a value", "..", errors),
        }
    }

    /// Reads what stands in the parentheses of `key(..)`, or says that `example` belongs there.
    pub(crate) fn listed<T: Parse>(
        &self,
        wanted: &str,
        example: &str,
        errors: &mut Errors,
    ) -> Option<Vec<T>> {
        if let Given::List(list) = &self.value
            && let Ok(list) = Punctuated::<T, Token![,]>::parse_terminated.parse2(list.stream())
            && !list.is_empty()
        {
            return Some(list.into_iter().collect());
        }
        let key = &self.key;
        let example = format!("{key}({example})");
        errors.push(self, diagnostics::option_value(key, wanted, example));
        None
    }

    /// Reads the limits in `key(1..=10)`.
    pub(crate) fn limits(&self, errors: &mut Errors) -> Option<ExprRange> {
        let (wanted, example) = ("limits in parentheses", "1..=10");
        match &self.listed(wanted, example, errors)?[..] {
            [Expr::Range(range)] if range.start.is_some() || range.end.is_some() => {
                Some(range.clone())
            }
            _ => {
                let example = format!("{}({example})", self.key);
                errors.push(self, diagnostics::option_value(&self.key, wanted, example));
                None
            }
        }
    }

    /// Reads a path that means the same in every module.
    pub(crate) fn absolute_path(&self, errors: &mut Errors) -> Option<Path> {
        let Given::Value(Expr::Path(path)) = &self.value else {
            return self.refuse("a path", "::siding", errors);
        };
        let path = &path.path;
        let first = path.segments.first()?.ident.to_string();
        if path.leading_colon.is_none() && first != "crate" && first != "$crate" {
            let spelled = path.to_token_stream().to_string().replace(' ', "");
            errors.push(path, diagnostics::relative_crate_path(spelled));
            return None;
        }
        Some(path.clone())
    }

    fn literal(&self) -> Option<&Lit> {
        match &self.value {
            Given::Value(Expr::Lit(literal)) => Some(&literal.lit),
            _ => None,
        }
    }

    fn refuse<T>(&self, wanted: &str, example: &str, errors: &mut Errors) -> Option<T> {
        let key = &self.key;
        let example = format!("{key} = {example}");
        errors.push(self, diagnostics::option_value(key, wanted, example));
        None
    }
}

/// Reads the options in `tokens`; one that is not among `known`, or is there twice, is reported and
/// left out.
pub(crate) fn entries(tokens: TokenStream, known: &[&str], errors: &mut Errors) -> Vec<Entry> {
    let parsed = Punctuated::<Entry, Token![,]>::parse_terminated.parse2(tokens);
    let mut kept: Vec<Entry> = Vec::new();
    match parsed {
        Ok(parsed) => parsed
            .into_iter()
            .for_each(|entry| keep(entry, &mut kept, known, errors)),
        Err(error) => errors.push_syntax(error),
    }
    kept
}

fn keep(entry: Entry, kept: &mut Vec<Entry>, known: &[&str], errors: &mut Errors) {
    let key = entry.key.to_string();
    if !known.contains(&key.as_str()) {
        let suggestion = diagnostics::suggestion(&key, known);
        errors.push(&entry.key, diagnostics::unknown_option(key, suggestion));
    } else if kept.iter().any(|earlier| earlier.key == key) {
        errors.push(&entry.key, diagnostics::repeated_option(key));
    } else {
        kept.push(entry);
    }
}

/// Takes the attributes named `name` out of `attrs` and reads their options.
pub(crate) fn take(
    attrs: &mut Vec<Attribute>,
    name: &str,
    known: &[&str],
    errors: &mut Errors,
) -> Vec<Entry> {
    let mut kept = Vec::new();
    for attribute in attrs.extract_if(.., |attribute| attribute.path().is_ident(name)) {
        let Meta::List(list) = attribute.meta else {
            errors.push(
                &attribute,
                diagnostics::option_value(name, "options", format!("{name}(..)")),
            );
            continue;
        };
        for entry in entries(list.tokens, known, errors) {
            keep(entry, &mut kept, known, errors);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use quote::quote;

    use super::*;

    #[test]
    fn a_bare_word_is_shown_as_the_string_that_it_was_meant_for() {
        let mut errors = Errors::default();
        let entries = entries(quote!(task = required), &["task"], &mut errors);
        assert!(entries[0].string(&mut errors).is_none());
        let told = errors.finish().expect_err("it is refused").to_string();
        assert!(told.contains("write `task = \\\"required\\\"`"), "{told}");
    }
}
