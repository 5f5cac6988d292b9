//! The words of a question: what stays the same in its text, whatever is filled in.

use proc_macro2::TokenStream;
use syn::parse::{ParseStream, Parser as _};
use syn::{Expr, ExprCall, LitStr, Macro};

use super::{literal, macros};

/// Methods and functions that leave a text as it is.
const KEEP: &[&str] = &["as_str", "clone", "into", "to_owned", "to_string"];

/// The digest of the template from which `prompt` is made: of a string literal, or of the one in
/// `format!`. `None` if the text comes from elsewhere.
///
/// It is kept in journals, so it must never change for the same code.
pub(super) fn template(prompt: &Expr) -> Option<u64> {
    if let Some(text) = literal(prompt) {
        return Some(digest("text", &text.value()));
    }
    match prompt {
        Expr::Macro(call) => format(&call.mac),
        Expr::MethodCall(call) => {
            let keeps = call.args.is_empty() && KEEP.iter().any(|keep| call.method == keep);
            keeps.then(|| template(&call.receiver))?
        }
        Expr::Call(call) => template(made_from(call)?),
        Expr::Reference(borrow) => template(&borrow.expr),
        Expr::Paren(paren) => template(&paren.expr),
        Expr::Group(group) => template(&group.expr),
        _ => None,
    }
}

/// The argument of `String::from(..)` and the like.
fn made_from(call: &ExprCall) -> Option<&Expr> {
    let Expr::Path(function) = &*call.func else {
        return None;
    };
    let mut last = function.path.segments.iter().rev();
    let (name, of) = (&last.next()?.ident, &last.next()?.ident);
    (of == "String" && name == "from").then(|| call.args.first())?
}

/// The digest of the template in a call of `format!`.
fn format(call: &Macro) -> Option<u64> {
    let name = macros::name(call);
    if name != "format" && name != "format_args" {
        return None;
    }
    let first = |input: ParseStream<'_>| {
        let template: LitStr = input.parse()?;
        input.parse::<TokenStream>()?;
        Ok(template)
    };
    let template = first.parse2(call.tokens.clone()).ok()?;
    Some(digest("format", &template.value()))
}

/// FNV-1a, of 64 bits.
fn digest(kind: &str, text: &str) -> u64 {
    let bytes = kind.bytes().chain([0]).chain(text.bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use syn::parse_quote;

    use super::*;

    #[test]
    fn a_template_is_found_behind_what_leaves_a_text_as_it_is() {
        let one: [Expr; 7] = [
            parse_quote!(format!("Refund {name}?")),
            parse_quote!(format!("Refund {name}?", name = order.name)),
            parse_quote!(std::format!("Refund {name}?").into()),
            parse_quote!(&format!("Refund {name}?")),
            parse_quote!(format_args!("Refund {name}?").to_string()),
            parse_quote!(String::from(format!("Refund {name}?"))),
            parse_quote!((format!(r"Refund {name}?").clone())),
        ];
        for prompt in one {
            assert_eq!(template(&prompt), Some(digest("format", "Refund {name}?")));
        }
        let literals: [Expr; 3] = [
            parse_quote!("Sure?"),
            parse_quote!("Sure?".to_string()),
            parse_quote!(String::from("Sure?")),
        ];
        for prompt in literals {
            assert_eq!(template(&prompt), Some(digest("text", "Sure?")));
        }
    }

    #[test]
    fn a_text_from_elsewhere_has_no_template() {
        let prompts: [Expr; 6] = [
            parse_quote!(prompt),
            parse_quote!(prompt(name)),
            parse_quote!(prompt.clone()),
            parse_quote!(concat!("Sure", "?")),
            parse_quote!(format!("Refund {name}?").replace('a', "b")),
            parse_quote!(if a { "A?" } else { "B?" }),
        ];
        for prompt in prompts {
            assert_eq!(template(&prompt), None);
        }
    }

    #[test]
    fn a_digest_stays_what_it_is() {
        assert_eq!(digest("text", "Sure?"), digest("text", "Sure?"));
        assert_ne!(digest("text", "Sure?"), digest("format", "Sure?"));
        assert_eq!(digest("", ""), 0xaf63_bd4c_8601_b7df);
    }
}
