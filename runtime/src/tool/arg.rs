//! A parameter of a tool, as its attributes describe it.

use serde::Serialize;
use serde_json::Value;

use super::limits::{Bound, Limit};

/// A parameter of a tool, apart from its type.
#[derive(Clone, Debug)]
pub struct Arg {
    pub(super) name: &'static str,
    pub(super) description: Option<&'static str>,
    pub(super) default: Option<Value>,
    pub(super) limits: Vec<Limit>,
}

impl Arg {
    /// The parameter called `name` on the wire.
    pub const fn new(name: &'static str) -> Self {
        Self {
            name,
            description: None,
            default: None,
            limits: Vec::new(),
        }
    }

    /// What the model reads about it.
    #[must_use]
    pub fn description(mut self, description: &'static str) -> Self {
        self.description = Some(description);
        self
    }

    /// The value it has where the call brings none.
    #[must_use]
    pub fn default(mut self, default: Value) -> Self {
        self.default = Some(default);
        self
    }

    /// The least number that it takes.
    #[must_use]
    pub fn at_least(self, number: impl Into<Bound>) -> Self {
        self.limit(Limit::AtLeast(number.into()))
    }

    /// The greatest number that it takes.
    #[must_use]
    pub fn at_most(self, number: impl Into<Bound>) -> Self {
        self.limit(Limit::AtMost(number.into()))
    }

    /// The number below which it takes them.
    #[must_use]
    pub fn below(self, number: impl Into<Bound>) -> Self {
        self.limit(Limit::Below(number.into()))
    }

    /// How few characters, or elements, it takes.
    #[must_use]
    pub fn no_shorter_than(self, length: usize) -> Self {
        self.limit(Limit::NoShorter(length))
    }

    /// How many characters, or elements, it takes.
    #[must_use]
    pub fn no_longer_than(self, length: usize) -> Self {
        self.limit(Limit::NoLonger(length))
    }

    /// The number of characters, or elements, that it does not reach.
    #[must_use]
    pub fn shorter_than(self, length: usize) -> Self {
        self.no_longer_than(length.saturating_sub(1))
    }

    /// The expression that some part of the text matches.
    #[must_use]
    pub fn pattern(self, pattern: &'static str) -> Self {
        self.limit(Limit::Pattern(pattern))
    }

    fn limit(mut self, limit: Limit) -> Self {
        self.limits.push(limit);
        self
    }
}

/// A value that can be the default of a parameter of type `T`: a `T`, a string literal for a
/// `String`, a bare value for an `Option`.
#[diagnostic::on_unimplemented(
    message = "this default is not a `{T}`",
    label = "expected a value of the parameter's own type",
    note = "a string literal does for a `String`, and a bare value for an `Option`"
)]
pub trait DefaultFor<T> {
    /// The default as it would stand in the arguments.
    fn json(self) -> Value;
}

impl<T: Serialize> DefaultFor<T> for T {
    fn json(self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}

impl DefaultFor<String> for &str {
    fn json(self) -> Value {
        self.into()
    }
}

impl<T: Serialize> DefaultFor<Option<T>> for T {
    fn json(self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}

impl DefaultFor<Option<String>> for &str {
    fn json(self) -> Value {
        self.into()
    }
}

/// The default `value` for a parameter of type `T`.
pub fn default<T, D: DefaultFor<T>>(value: D) -> Value {
    value.json()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn defaults_take_the_bare_value() {
        assert_eq!(default::<u32, _>(3), json!(3));
        assert_eq!(default::<Option<u32>, _>(3), json!(3));
        assert_eq!(default::<String, _>("a"), json!("a"));
        assert_eq!(default::<Option<String>, _>("a"), json!("a"));
        assert_eq!(default::<&str, _>("a"), json!("a"));
    }
}
