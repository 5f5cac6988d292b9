//! Doc comments as plain text.

use syn::{Attribute, Expr, ExprLit, Lit, Meta};

/// Joins the doc comments in `attrs` as rustdoc does: the indentation common to all lines is not
/// part of the text. `None` if there is nothing to read.
pub(crate) fn text(attrs: &[Attribute]) -> Option<String> {
    let comments: Vec<String> = attrs.iter().filter_map(comment).collect();
    let lines: Vec<&str> = comments
        .iter()
        .flat_map(|comment| comment.split('\n'))
        .collect();
    let indentation = lines
        .iter()
        .filter(|line| !line.trim().is_empty())
        .map(|line| line.len() - line.trim_start().len())
        .min()?;
    let lines: Vec<&str> = lines
        .iter()
        .map(|line| line.get(indentation..).unwrap_or_default().trim_end())
        .collect();
    Some(lines.join("\n").trim().to_owned())
}

/// The first doc comment that is another macro's, and not known yet.
pub(crate) fn unread(attrs: &[Attribute]) -> Option<&Expr> {
    attrs.iter().find_map(|attribute| match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => {
            comment(attribute).is_none().then_some(&pair.value)
        }
        _ => None,
    })
}

/// Takes the doc comments out of `attrs`, where rustc would not have them.
pub(crate) fn take(attrs: &mut Vec<Attribute>) -> Option<String> {
    let text = text(attrs);
    attrs.retain(|attribute| !attribute.path().is_ident("doc"));
    text
}

fn comment(attribute: &Attribute) -> Option<String> {
    match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
            Expr::Lit(ExprLit {
                lit: Lit::Str(text),
                ..
            }) => Some(text.value()),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use syn::parse_quote;

    #[test]
    fn common_indentation_is_not_text() {
        let attrs: [Attribute; 4] = [
            parse_quote!(#[doc = " First."]),
            parse_quote!(#[doc = ""]),
            parse_quote!(#[doc = "   * item "]),
            parse_quote!(#[doc = ""]),
        ];
        assert_eq!(text(&attrs).as_deref(), Some("First.\n\n  * item"));
    }

    #[test]
    fn nothing_written_is_no_description() {
        assert_eq!(
            text(&[parse_quote!(#[doc = "  "]), parse_quote!(#[inline])]),
            None
        );
    }
}
