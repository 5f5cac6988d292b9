//! The arguments of a tool: described, checked and read by one walk over its parameters.

use std::fmt;

use schemars::Schema;
use serde::{
    Deserialize,
    de::{Visitor, value::Error as DeError},
    forward_to_deserialize_any,
};
use serde_json::{Map, Number, Value};

use super::{Arg, Argument, Output, schema::ArgumentsSchema};
use crate::{
    input::form::whole,
    nesting::{DEEPEST, is_too_deep},
};

/// A walk over the parameters of a tool.
#[derive(Debug)]
pub struct Inputs<'a>(Walk<'a>);

#[derive(Debug)]
enum Walk<'a> {
    Describe(Box<Description>),
    Check(Check<'a>),
    Read {
        arguments: &'a Map<String, Value>,
        /// Why the arguments cannot be read any more.
        failure: Option<String>,
    },
}

/// What the walk finds out about a tool.
#[derive(Debug)]
pub(super) struct Description {
    pub(super) schema: ArgumentsSchema,
    /// The values that parameters have where a call brings none.
    pub(super) defaults: Map<String, Value>,
    /// What cannot be as it was declared.
    pub(super) misfits: Vec<Violation>,
    pub(super) output_schema: Option<Map<String, Value>>,
}

/// What the walk makes of arguments as they came.
#[derive(Debug)]
struct Check<'a> {
    raw: &'a Map<String, Value>,
    /// What they may have been meant for, where that is something else.
    reread: &'a Map<String, Value>,
    names: Vec<&'static str>,
    accepted: Map<String, Value>,
    violations: Vec<Violation>,
}

/// What is wrong with one argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Violation {
    pub(crate) argument: String,
    problem: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` {}", self.argument, self.problem)
    }
}

impl<'a> Inputs<'a> {
    /// Goes over the parameters by `run` to describe them.
    pub(super) fn describe(run: fn(&mut Inputs<'_>)) -> Description {
        let mut inputs = Inputs(Walk::Describe(Box::new(Description {
            schema: ArgumentsSchema::new(),
            defaults: Map::new(),
            misfits: Vec::new(),
            output_schema: None,
        })));
        run(&mut inputs);
        match inputs.0 {
            Walk::Describe(description) => *description,
            _ => unreachable!("a walk stays what it is"),
        }
    }

    /// Goes over the parameters by `run` to check `raw`: gives the arguments after coercion and
    /// with their defaults, or all that is wrong with them.
    pub(super) fn check(
        raw: &Map<String, Value>,
        run: fn(&mut Inputs<'_>),
    ) -> Result<Map<String, Value>, Vec<Violation>> {
        let reread = raw
            .iter()
            .filter_map(|(name, value)| Some((name.clone(), reread(value)?)))
            .collect();
        let mut inputs = Inputs(Walk::Check(Check {
            raw,
            reread: &reread,
            names: Vec::new(),
            accepted: Map::new(),
            violations: Vec::new(),
        }));
        run(&mut inputs);
        match inputs.0 {
            Walk::Check(check) => check.finish(),
            _ => unreachable!("a walk stays what it is"),
        }
    }

    /// A walk that reads `arguments`, which were checked when the call came in.
    pub(super) const fn read(arguments: &'a Map<String, Value>) -> Self {
        Self(Walk::Read {
            arguments,
            failure: None,
        })
    }

    /// Why a walk that reads gave up.
    pub(super) fn failure(&self) -> Option<&str> {
        match &self.0 {
            Walk::Read { failure, .. } => failure.as_deref(),
            _ => None,
        }
    }

    /// The next parameter; its value where there is one and the walk is there to read it.
    pub fn argument<T: Argument<'a>>(&mut self, arg: Arg) -> Option<T> {
        match &mut self.0 {
            Walk::Describe(description) => {
                let optional = missing::<T>().is_some();
                let schema = description.schema.of::<T>();
                description.parameter(arg, optional, schema);
                None
            }
            Walk::Check(check) => {
                let fits = |value: &'a Value| T::deserialize(value).map(drop);
                check.argument(arg, missing::<T>().is_some(), fits);
                None
            }
            Walk::Read { arguments, failure } => {
                let value = match arguments.get(arg.name) {
                    Some(value) => T::deserialize(value).map_err(|error| error.to_string()),
                    None => missing::<T>().ok_or_else(|| "it is missing".into()),
                };
                let refuse = |error| {
                    failure.get_or_insert(format!("`{}` ({error})", arg.name));
                };
                value.map_err(refuse).ok()
            }
        }
    }

    /// What the tool returns.
    pub fn returns<R, T>(&mut self, output: &Output<R, T>) {
        if let Walk::Describe(description) = &mut self.0 {
            description.output_schema = output.schema();
        }
    }
}

impl Description {
    fn parameter(&mut self, arg: Arg, optional: bool, mut schema: Schema) {
        let is_required = !optional && arg.default.is_none();
        if schema.as_bool() == Some(false) {
            self.misfit(arg.name, "has a schema that takes nothing".into());
        }
        for limit in &arg.limits {
            if let Err(problem) = limit.describe(schema.ensure_object()) {
                self.misfit(arg.name, problem);
            }
        }
        if let Some(description) = arg.description {
            schema.insert("description".into(), description.into());
        }
        if let Some(default) = arg.default {
            self.defaults.insert(arg.name.into(), default.clone());
            schema.insert("default".into(), default);
        }
        self.schema.insert(arg.name, schema, is_required);
    }

    fn misfit(&mut self, argument: &str, problem: String) {
        let argument = argument.into();
        self.misfits.push(Violation { argument, problem });
    }
}

impl<'a> Check<'a> {
    fn argument(
        &mut self,
        arg: Arg,
        optional: bool,
        fits: impl Fn(&'a Value) -> Result<(), serde_json::Error>,
    ) {
        self.names.push(arg.name);
        let Some(raw) = self.raw.get(arg.name) else {
            match arg.default {
                Some(default) => {
                    self.accepted.insert(arg.name.into(), default);
                }
                None if optional => {}
                None => self.violate(arg.name, "is missing".into()),
            }
            return;
        };
        let value = match fits(raw) {
            Ok(()) => raw,
            Err(error) => match self.reread.get(arg.name) {
                Some(reread) if fits(reread).is_ok() => reread,
                _ => return self.violate(arg.name, format!("does not fit: {error}")),
            },
        };
        if is_too_deep(value) {
            let problem = format!("has more than {DEEPEST} lists and objects within each other");
            return self.violate(arg.name, problem);
        }
        for limit in &arg.limits {
            if let Some(wanted) = limit.broken_by(value) {
                self.violate(arg.name, wanted);
            }
        }
        self.accepted.insert(arg.name.into(), value.clone());
    }

    fn violate(&mut self, argument: &str, problem: String) {
        let argument = argument.into();
        self.violations.push(Violation { argument, problem });
    }

    fn finish(mut self) -> Result<Map<String, Value>, Vec<Violation>> {
        let unknown = |name: &&String| !self.names.contains(&name.as_str());
        for name in self.raw.keys().filter(unknown).cloned().collect::<Vec<_>>() {
            let known = match self.names.as_slice() {
                [] => "it takes none".into(),
                names => format!("it takes `{}`", names.join("`, `")),
            };
            self.violate(&name, format!("is not an argument of this tool; {known}"));
        }
        if self.violations.is_empty() {
            Ok(self.accepted)
        } else {
            Err(self.violations)
        }
    }
}

/// What `value` may have been meant for, where its type does not take it: a model that wrote "6"
/// or 6.0 for 6 meant the number.
fn reread(value: &Value) -> Option<Value> {
    let mut meant = match value {
        Value::String(text) => serde_json::from_str(text).ok()?,
        other => other.clone(),
    };
    make_whole(&mut meant);
    (meant != *value).then_some(meant)
}

/// Writes each whole number as one, however deep it stands: JSON knows one kind of number.
fn make_whole(value: &mut Value) {
    match value {
        Value::Number(_) => {
            if let Some(whole) = whole(value).and_then(Number::from_i128) {
                *value = whole.into();
            }
        }
        Value::Array(items) => items.iter_mut().for_each(make_whole),
        Value::Object(members) => members.values_mut().for_each(make_whole),
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

/// The value of a parameter that the call left out, where its type has one: `None` for an
/// `Option`, also behind an alias.
fn missing<'de, T: Deserialize<'de>>() -> Option<T> {
    T::deserialize(Missing).ok()
}

/// Stands for a value that is not there. Only an `Option` can be read from it.
struct Missing;

impl<'de> serde::Deserializer<'de> for Missing {
    type Error = DeError;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, DeError> {
        Err(serde::de::Error::custom("it is missing"))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeError> {
        visitor.visit_none()
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(raw: &Value, run: fn(&mut Inputs<'_>)) -> Result<Value, Vec<String>> {
        let raw = raw.as_object().unwrap();
        let told =
            |violations: Vec<Violation>| violations.iter().map(ToString::to_string).collect();
        Inputs::check(raw, run).map(Value::Object).map_err(told)
    }

    fn parameters(inputs: &mut Inputs<'_>) {
        inputs.argument::<u8>(Arg::new("count"));
        inputs.argument::<&str>(Arg::new("name").default("you".into()));
        inputs.argument::<Option<Vec<bool>>>(Arg::new("flags"));
    }

    #[test]
    fn strings_are_read_by_the_type_they_stand_for() {
        let raw = json!({"count": "6", "name": "7", "flags": "[true]"});
        let accepted = check(&raw, parameters).unwrap();
        assert_eq!(accepted, json!({"count": 6, "name": "7", "flags": [true]}));
    }

    #[test]
    fn what_is_left_out_has_its_default_or_is_none() {
        let accepted = check(&json!({"count": 1}), parameters).unwrap();
        assert_eq!(accepted, json!({"count": 1, "name": "you"}));
        let accepted = check(&json!({"count": 1, "flags": null}), parameters).unwrap();
        assert_eq!(accepted, json!({"count": 1, "name": "you", "flags": null}));
    }

    #[test]
    fn every_violation_is_named() {
        let raw = json!({"name": 5, "flags": [1], "extra": 1});
        let violations = check(&raw, parameters).unwrap_err();
        assert_eq!(violations.len(), 4, "{violations:?}");
        for (violation, start) in violations.iter().zip([
            "`count` is missing",
            "`name` does not fit",
            "`flags` does not fit",
            "`extra` is not an argument of this tool; it takes `count`, `name`, `flags`",
        ]) {
            assert!(violation.starts_with(start), "{violation}");
        }
    }

    #[test]
    fn numbers_are_whole_where_the_type_wants_them_so() {
        let run = |inputs: &mut Inputs<'_>| {
            inputs.argument::<Vec<u8>>(Arg::new("counts"));
            inputs.argument::<f64>(Arg::new("share"));
            inputs.argument::<Value>(Arg::new("any"));
        };
        let accepted = check(&json!({"counts": [1.0], "share": 2.0, "any": 3.0}), run).unwrap();
        assert_eq!(
            accepted.to_string(),
            r#"{"any":3.0,"counts":[1],"share":2.0}"#
        );
        check(&json!({"counts": [1.5], "share": 2, "any": 3}), run).unwrap_err();
    }

    #[test]
    fn the_schema_is_a_closed_object_without_unions() {
        let description = Inputs::describe(parameters);
        let schema = Value::Object(description.schema.finish());
        assert_eq!(schema["type"], "object");
        assert_eq!(schema["additionalProperties"], false);
        assert_eq!(schema["required"], json!(["count"]));
        assert_eq!(
            schema["properties"]["name"],
            json!({"type": "string", "default": "you"})
        );
        assert_eq!(
            schema["properties"]["flags"],
            json!({"type": "array", "items": {"type": "boolean"}})
        );
    }
}
