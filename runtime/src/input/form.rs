//! What a person is asked to fill in, and whether what came back fits.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::Field;

/// A flat form: the only shape that an elicitation may have (2026-07-28, elicitation).
///
/// It is pinned in the journal when the question is put, so its JSON is storage format.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Form {
    pub(crate) fields: Vec<FormField>,
}

/// The name of the one field that a plain type has as a form.
pub(super) const VALUE: &str = "value";

/// One field of a form.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct FormField {
    pub(crate) name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) description: Option<String>,
    pub(crate) required: bool,
    pub(crate) kind: FieldKind,
    /// What the person finds filled in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) default: Option<Value>,
}

/// What a field takes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FieldKind {
    /// `true` or `false`.
    Boolean,
    /// A text.
    Text,
    /// A whole number, within the bounds where there are any.
    Integer {
        /// The least value.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        minimum: Option<i64>,
        /// The greatest value.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        maximum: Option<i64>,
    },
    /// A number.
    Number,
    /// One of some options.
    Choice(Vec<Choosable>),
    /// Any number of some options.
    Choices(Vec<Choosable>),
}

/// An option of a choice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Choosable {
    pub(crate) value: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) title: Option<String>,
}

impl Form {
    pub(super) fn push<T: Field>(&mut self, name: &str, description: Option<&str>) {
        self.fields.push(FormField {
            name: name.into(),
            description: description.map(Into::into),
            required: T::REQUIRED,
            kind: T::kind(),
            default: None,
        });
    }

    /// A form with the one field `value`, to pick one of `options`.
    pub(super) fn choice<'a>(labels: impl Iterator<Item = &'a String>) -> Self {
        let mut options: Vec<Choosable> = Vec::new();
        for label in labels {
            // Of two that look the same, the first is picked.
            if !options.iter().any(|option| option.value == *label) {
                let (value, title) = (label.clone(), None);
                options.push(Choosable { value, title });
            }
        }
        Self {
            fields: vec![FormField {
                name: VALUE.into(),
                description: None,
                required: true,
                kind: FieldKind::Choice(options),
                default: None,
            }],
        }
    }

    /// Fills in the field `name` beforehand.
    pub(super) fn fill<T: Field>(&mut self, name: &str, value: &T) {
        if let Some(field) = self.fields.iter_mut().find(|field| field.name == name) {
            field.default = value.json();
        }
    }

    /// Fills in the one field of a plain type beforehand.
    pub(super) fn fill_value<T: Field>(&mut self, value: &T) {
        self.fill(VALUE, value);
    }

    /// Whether an answer to this form is an answer to `other`: the same fields of the same kinds.
    /// Texts may differ.
    pub(crate) fn same_shape(&self, other: &Self) -> bool {
        self.fields.len() == other.fields.len()
            && self.fields.iter().zip(&other.fields).all(|(a, b)| {
                a.name == b.name && a.required == b.required && a.kind.same_shape(&b.kind)
            })
    }

    /// The members of `content` that the form asks for; surplus ones are left out.
    ///
    /// # Errors
    ///
    /// What does not fit, in words.
    pub(crate) fn fit(
        &self,
        mut content: Map<String, Value>,
    ) -> Result<Map<String, Value>, String> {
        let mut fitting = Map::new();
        let mut wrong = Vec::new();
        for field in &self.fields {
            match content.remove(&field.name) {
                Some(value) => match field.kind.refuse(&value) {
                    None => {
                        fitting.insert(field.name.clone(), value);
                    }
                    Some(wanted) => wrong.push(format!("`{}` must be {wanted}", field.name)),
                },
                None if field.required => wrong.push(format!("`{}` is missing", field.name)),
                None => {}
            }
        }
        if wrong.is_empty() {
            Ok(fitting)
        } else {
            Err(wrong.join(", "))
        }
    }
}

impl FieldKind {
    fn same_shape(&self, other: &Self) -> bool {
        let values = |options: &[Choosable]| -> Vec<String> {
            options.iter().map(|option| option.value.clone()).collect()
        };
        match (self, other) {
            (Self::Choice(a), Self::Choice(b)) | (Self::Choices(a), Self::Choices(b)) => {
                values(a) == values(b)
            }
            _ => self == other,
        }
    }

    /// What the field must be, where `value` is something else.
    fn refuse(&self, value: &Value) -> Option<String> {
        let fits = match self {
            Self::Boolean => value.is_boolean(),
            Self::Text => value.is_string(),
            Self::Number => value.is_number(),
            Self::Integer { minimum, maximum } => whole(value).is_some_and(|n| {
                minimum.is_none_or(|least| n >= i128::from(least))
                    && maximum.is_none_or(|most| n <= i128::from(most))
            }),
            Self::Choice(options) => is_option(options, value),
            Self::Choices(options) => value
                .as_array()
                .is_some_and(|values| values.iter().all(|value| is_option(options, value))),
        };
        (!fits).then(|| self.wanted())
    }

    fn wanted(&self) -> String {
        let list = |options: &[Choosable]| {
            let values: Vec<_> = options.iter().map(|o| format!("`{}`", o.value)).collect();
            values.join(", ")
        };
        match self {
            Self::Boolean => "`true` or `false`".into(),
            Self::Text => "a string".into(),
            Self::Number => "a number".into(),
            Self::Integer { minimum, maximum } => match (minimum, maximum) {
                (None, None) => "a whole number".into(),
                (Some(least), None) => format!("a whole number, at least {least}"),
                (None, Some(most)) => format!("a whole number, at most {most}"),
                (Some(least), Some(most)) => format!("a whole number from {least} to {most}"),
            },
            Self::Choice(options) => format!("one of {}", list(options)),
            Self::Choices(options) => format!("a list of any of {}", list(options)),
        }
    }
}

fn is_option(options: &[Choosable], value: &Value) -> bool {
    value
        .as_str()
        .is_some_and(|text| options.iter().any(|option| option.value == text))
}

/// The whole number that `value` is; JSON writes 5 and 5.0 for the same one.
pub(crate) fn whole(value: &Value) -> Option<i128> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if let Some(n) = value.as_i64() {
        return Some(n.into());
    }
    if let Some(n) = value.as_u64() {
        return Some(n.into());
    }
    let n = value.as_f64()?;
    #[expect(clippy::cast_possible_truncation, reason = "whole and within 2^53")]
    (n.fract() == 0.0 && n.abs() <= EXACT).then_some(n as i128)
}

/// A question as it was put to the person. Its JSON is storage format.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Ask {
    /// What the person reads.
    pub(crate) message: String,
    /// What the person fills in.
    pub(crate) form: Form,
    /// Where the person goes instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) url: Option<String>,
    /// The digest of the words in which the code asks, apart from what it fills in; `None` if they
    /// are not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) template: Option<u64>,
    /// Whether the message may be another one in a later leg.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) text_may_differ: bool,
}

/// What came back for a question. Its JSON is storage format.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Answer {
    /// The person filled in the form.
    Accepted(Map<String, Value>),
    /// The person said no.
    Declined,
    /// The person closed the form.
    Dismissed,
}

impl Ask {
    pub(crate) const fn form(message: String, form: Form) -> Self {
        Self {
            message,
            form,
            url: None,
            template: None,
            text_may_differ: false,
        }
    }

    pub(super) fn url(message: String, url: String) -> Self {
        Self {
            url: Some(url),
            ..Self::form(message, Form::default())
        }
    }

    /// The same question, put again because the answer to it did not fit.
    pub(crate) fn again(&self, violation: &str) -> Self {
        Self {
            message: format!("{violation}. {}", self.message),
            ..self.clone()
        }
    }

    /// Whether an answer to this is an answer to `other`. Texts and the address may differ.
    pub(super) fn same_shape(&self, other: &Self) -> bool {
        self.form.same_shape(&other.form) && self.url.is_some() == other.url.is_some()
    }

    /// Whether this is `earlier` with another text, although the code asks in the same words, as far
    /// as these are known, and does not allow it. Other words are a question that was reworded.
    pub(crate) fn is_filled_in_otherwise(&self, earlier: &Self) -> bool {
        self.template == earlier.template
            && self.message != earlier.message
            && !self.text_may_differ
    }

    /// Reads the client's result for this question (`ElicitResult`).
    ///
    /// # Errors
    ///
    /// What does not fit, in words.
    pub(crate) fn read(&self, response: Value) -> Result<Answer, String> {
        let Value::Object(mut response) = response else {
            return Err("the answer must be an object with an `action`".into());
        };
        match response.get("action").and_then(Value::as_str) {
            Some("decline") => Ok(Answer::Declined),
            Some("cancel") => Ok(Answer::Dismissed),
            Some("accept") => match response.remove("content") {
                Some(Value::Object(content)) => self.form.fit(content).map(Answer::Accepted),
                None if self.form.fields.iter().all(|field| !field.required) => {
                    Ok(Answer::Accepted(Map::new()))
                }
                _ => Err("`content` must be an object with the values of the form".into()),
            },
            _ => Err("`action` must be one of `accept`, `decline`, `cancel`".into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn form<Sure: Field>(description: Option<&str>) -> Form {
        let mut form = Form::default();
        form.push::<Sure>("sure", description);
        form.push::<Option<u8>>("count", None);
        form
    }

    fn ask() -> Ask {
        Ask::form("?".into(), form::<bool>(None))
    }

    #[test]
    fn answers_that_do_not_fit_are_told_what_would() {
        for (response, wanted) in [
            (json!(42), "must be an object"),
            (json!({"action": "maybe"}), "`action` must be one of"),
            (json!({"action": "accept"}), "`content` must be an object"),
            (
                json!({"action": "accept", "content": []}),
                "`content` must be an object",
            ),
            (
                json!({"action": "accept", "content": {}}),
                "`sure` is missing",
            ),
            (
                json!({"action": "accept", "content": {"sure": "banana"}}),
                "`sure` must be `true`",
            ),
            (
                json!({"action": "accept", "content": {"sure": null}}),
                "`sure` must be `true`",
            ),
            (
                json!({"action": "accept", "content": {"sure": true, "count": 256}}),
                "`count` must be a whole number from 0 to 255",
            ),
            (
                json!({"action": "accept", "content": {"sure": true, "count": null}}),
                "`count` must be a whole number",
            ),
        ] {
            let error = ask().read(response.clone()).unwrap_err();
            assert!(error.contains(wanted), "{response}: {error}");
        }
    }

    #[test]
    fn surplus_members_are_left_out_and_optional_ones_may_be_missing() {
        let response = json!({"action": "accept", "content": {"sure": true, "extra": [1]}});
        let Answer::Accepted(content) = ask().read(response).unwrap() else {
            panic!("not accepted");
        };
        assert_eq!(Value::Object(content), json!({"sure": true}));
    }

    #[test]
    fn five_point_zero_is_a_whole_number() {
        assert_eq!(whole(&json!(5.0)), Some(5));
        assert_eq!(whole(&json!(5.5)), None);
        assert_eq!(whole(&json!(u64::MAX)), Some(u64::MAX.into()));
        assert_eq!(whole(&json!(1e300)), None);
    }

    #[test]
    fn texts_do_not_belong_to_the_shape() {
        assert!(ask().form.same_shape(&form::<bool>(Some("Really?"))));
        assert!(!ask().form.same_shape(&form::<String>(None)));
    }
}
