//! What `#[arg(range(..), length(..), pattern = "..")]` asks of a value beyond its type.

use std::cmp::Ordering;

use regex_lite::Regex;
use serde_json::{Map, Value};

/// A limit of a number, in whatever type it was written.
#[derive(Clone, Debug, PartialEq)]
pub struct Bound(serde_json::Number);

macro_rules! whole_numbers {
    ($($ty:ident)*) => {$(
        impl From<$ty> for Bound {
            fn from(number: $ty) -> Self {
                Self(number.into())
            }
        }
    )*};
}

whole_numbers! { u8 u16 u32 u64 usize i8 i16 i32 i64 isize }

impl From<f64> for Bound {
    /// # Panics
    ///
    /// On what is no number at all.
    fn from(number: f64) -> Self {
        Self(serde_json::Number::from_f64(number).expect("a limit is a number"))
    }
}

impl Bound {
    /// How `value` compares to this limit.
    fn compare(&self, value: &serde_json::Number) -> Option<Ordering> {
        let whole = |number: &serde_json::Number| {
            let signed = number.as_i64().map(i128::from);
            signed.or_else(|| number.as_u64().map(i128::from))
        };
        match (whole(value), whole(&self.0)) {
            (Some(value), Some(limit)) => Some(value.cmp(&limit)),
            _ => value.as_f64()?.partial_cmp(&self.0.as_f64()?),
        }
    }
}

/// One limit of an argument.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Limit {
    AtLeast(Bound),
    AtMost(Bound),
    Below(Bound),
    NoShorter(usize),
    NoLonger(usize),
    Pattern(&'static str),
}

impl Limit {
    /// Writes the limit into the schema of an argument.
    ///
    /// # Errors
    ///
    /// Where the type of the argument has no such limits, or the pattern is none.
    pub(super) fn describe(&self, schema: &mut Map<String, Value>) -> Result<(), String> {
        let is = |name: &str| schema.get("type").is_none_or(|ty| includes(ty, name));
        let number = is("integer") || is("number");
        let (keyword, value): (_, Value) = match self {
            Self::AtLeast(limit) if number => ("minimum", limit.0.clone().into()),
            Self::AtMost(limit) if number => ("maximum", limit.0.clone().into()),
            Self::Below(limit) if number => ("exclusiveMaximum", limit.0.clone().into()),
            Self::NoShorter(length) if is("string") => ("minLength", (*length).into()),
            Self::NoLonger(length) if is("string") => ("maxLength", (*length).into()),
            Self::NoShorter(length) if is("array") => ("minItems", (*length).into()),
            Self::NoLonger(length) if is("array") => ("maxItems", (*length).into()),
            Self::Pattern(pattern) if is("string") => {
                if let Err(error) = Regex::new(pattern) {
                    return Err(format!("`{pattern}` is not a regular expression: {error}"));
                }
                ("pattern", (*pattern).into())
            }
            _ => return Err(self.misfit().into()),
        };
        schema.insert(keyword.into(), value);
        Ok(())
    }

    /// What a value must be, where `value` is something else.
    pub(super) fn broken_by(&self, value: &Value) -> Option<String> {
        let compared = |limit: &Bound| match value {
            Value::Number(number) => limit.compare(number),
            _ => None,
        };
        match self {
            Self::AtLeast(limit) => (compared(limit) == Some(Ordering::Less))
                .then(|| format!("must be at least {}", limit.0)),
            Self::AtMost(limit) => (compared(limit) == Some(Ordering::Greater))
                .then(|| format!("must be at most {}", limit.0)),
            Self::Below(limit) => compared(limit)
                .is_some_and(Ordering::is_ge)
                .then(|| format!("must be below {}", limit.0)),
            Self::NoShorter(least) => {
                let (length, unit) = length(value)?;
                (length < *least)
                    .then(|| format!("must have at least {least} {unit}, not {length}"))
            }
            Self::NoLonger(most) => {
                let (length, unit) = length(value)?;
                (length > *most).then(|| format!("must have at most {most} {unit}, not {length}"))
            }
            Self::Pattern(pattern) => {
                let text = value.as_str()?;
                let matches = Regex::new(pattern).is_ok_and(|regex| regex.is_match(text));
                (!matches).then(|| format!("must match `{pattern}`"))
            }
        }
    }

    const fn misfit(&self) -> &'static str {
        match self {
            Self::AtLeast(_) | Self::AtMost(_) | Self::Below(_) => {
                "has a `range`, but is not a number"
            }
            Self::NoShorter(_) | Self::NoLonger(_) => {
                "has a `length`, but is neither a text nor a list"
            }
            Self::Pattern(_) => "has a `pattern`, but is not a text",
        }
    }
}

/// Whether `ty`, the `type` of a schema, includes the type `name`.
fn includes(ty: &Value, name: &str) -> bool {
    match ty {
        Value::Array(types) => types.iter().any(|ty| ty == name),
        ty => ty == name,
    }
}

/// The length of a text or a list, and in what it is counted.
fn length(value: &Value) -> Option<(usize, &'static str)> {
    match value {
        Value::String(text) => Some((text.chars().count(), "characters")),
        Value::Array(elements) => Some((elements.len(), "elements")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn limits_hold_at_their_ends() {
        for (limit, inside, outside) in [
            (Limit::AtLeast(1.into()), json!(1), json!(0)),
            (Limit::AtMost(10.into()), json!(10), json!(10.5)),
            (Limit::Below(10.into()), json!(9), json!(10)),
            (Limit::AtMost(0.5.into()), json!(0.5), json!(1)),
            (
                Limit::AtMost(u64::MAX.into()),
                json!(u64::MAX),
                json!(1e300),
            ),
            (Limit::NoShorter(1), json!("ä"), json!("")),
            (Limit::NoLonger(1), json!("ä"), json!("ab")),
            (Limit::NoLonger(1), json!([1]), json!([1, 2])),
            (Limit::Pattern("^v[0-9]+$"), json!("v1"), json!("1")),
        ] {
            assert_eq!(limit.broken_by(&inside), None);
            assert!(limit.broken_by(&outside).is_some(), "{limit:?} {outside}");
        }
    }

    #[test]
    fn what_is_left_out_breaks_nothing() {
        assert_eq!(Limit::AtLeast(1.into()).broken_by(&Value::Null), None);
        assert_eq!(Limit::NoShorter(1).broken_by(&Value::Null), None);
    }

    #[test]
    fn a_limit_belongs_to_a_type() {
        let mut schema = json!({ "type": ["string", "null"] });
        let Value::Object(schema) = &mut schema else {
            panic!("not an object");
        };
        assert!(Limit::AtLeast(1.into()).describe(schema).is_err());
        assert!(Limit::Pattern("(").describe(schema).is_err());
        assert!(Limit::NoLonger(3).describe(schema).is_ok());
        assert_eq!(schema["maxLength"], 3);
    }
}
