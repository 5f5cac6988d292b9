//! The fields of a form, as the protocol has them.

use rmcp::model::ElicitationSchema;
use serde_json::Value;

/// One field of a form.
#[derive(Clone, Debug)]
pub(crate) struct Field {
    pub(crate) name: String,
    /// What the person reads beside it.
    pub(crate) label: String,
    pub(crate) help: String,
    pub(crate) required: bool,
    pub(crate) default: Value,
    pub(crate) kind: Kind,
}

/// What a field takes.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    YesNo,
    Text {
        shortest: u64,
        longest: u64,
    },
    Number {
        whole: bool,
        least: f64,
        most: f64,
    },
    One(Vec<Choice>),
    Several {
        choices: Vec<Choice>,
        fewest: u64,
        most: u64,
    },
}

/// Something to choose.
#[derive(Clone, Debug)]
pub(crate) struct Choice {
    pub(crate) value: String,
    pub(crate) title: String,
}

/// The fields of a form, in its order.
pub(crate) fn fields(schema: &ElicitationSchema) -> Vec<Field> {
    let required = schema.required.as_deref().unwrap_or_default();
    let whole = serde_json::to_value(schema).unwrap_or_default();
    let names = match &schema.property_order {
        Some(order) => order.clone(),
        None => schema.properties.keys().cloned().collect(),
    };
    let field = |name: String| {
        let is_required = required.contains(&name);
        Field::read(&whole["properties"][&name], name, is_required)
    };
    names.into_iter().map(field).collect()
}

impl Field {
    fn read(schema: &Value, name: String, required: bool) -> Self {
        let text = |key: &str| schema[key].as_str().unwrap_or_default();
        let number = |key: &str, unless: f64| schema[key].as_f64().unwrap_or(unless);
        let count = |key: &str, unless: u64| schema[key].as_u64().unwrap_or(unless);
        let kind = match text("type") {
            "boolean" => Kind::YesNo,
            kind @ ("integer" | "number") => Kind::Number {
                whole: kind == "integer",
                least: number("minimum", f64::NEG_INFINITY),
                most: number("maximum", f64::INFINITY),
            },
            "array" => Kind::Several {
                choices: choices(&schema["items"]),
                fewest: count("minItems", 0),
                most: count("maxItems", u64::MAX),
            },
            _ if schema["enum"].is_array() || schema["oneOf"].is_array() => {
                Kind::One(choices(schema))
            }
            _ => Kind::Text {
                shortest: count("minLength", 0),
                longest: count("maxLength", u64::MAX),
            },
        };
        let label = match text("title") {
            "" => name.clone(),
            title => title.to_owned(),
        };
        let mut help = vec![text("description").to_owned(), text("format").to_owned()];
        if !required {
            help.push("optional".to_owned());
        }
        help.retain(|part| !part.is_empty());
        Self {
            label,
            help: help.join("; "),
            required,
            default: schema["default"].clone(),
            kind,
            name,
        }
    }

    /// What was typed, as the value of the field; `None` leaves the field out.
    pub(crate) fn typed(&self, text: &str) -> Result<Option<Value>, String> {
        if text.is_empty() && !self.required {
            return Ok(None);
        }
        match self.kind {
            Kind::Number { whole, least, most } => number(text, whole, least, most).map(Some),
            Kind::Text { shortest, longest } => {
                let length = u64::try_from(text.chars().count()).unwrap_or(u64::MAX);
                if length < shortest {
                    Err(format!("at least {shortest} characters"))
                } else if length > longest {
                    Err(format!("at most {longest} characters"))
                } else {
                    Ok(Some(text.into()))
                }
            }
            Kind::YesNo | Kind::One(_) | Kind::Several { .. } => Ok(Some(text.into())),
        }
    }
}

fn number(text: &str, whole: bool, least: f64, most: f64) -> Result<Value, String> {
    let value: Value = match serde_json::from_str(text.trim()) {
        Ok(Value::Number(number)) => Value::Number(number),
        _ => return Err("a number, please".to_owned()),
    };
    if whole && !value.is_i64() && !value.is_u64() {
        return Err("a whole number, please".to_owned());
    }
    let size = value.as_f64().unwrap_or_default();
    if size < least {
        Err(format!("at least {least}"))
    } else if size > most {
        Err(format!("at most {most}"))
    } else {
        Ok(value)
    }
}

/// The options of a choice, in all the ways that the protocol has had.
fn choices(schema: &Value) -> Vec<Choice> {
    let titled = schema["oneOf"].as_array().or(schema["anyOf"].as_array());
    if let Some(titled) = titled {
        let choice = |option: &Value| {
            let value = option["const"].as_str()?.to_owned();
            let title = option["title"].as_str().unwrap_or(&value).to_owned();
            Some(Choice { value, title })
        };
        return titled.iter().filter_map(choice).collect();
    }
    let names = schema["enumNames"].as_array();
    let values = schema["enum"].as_array().into_iter().flatten();
    let choice = |(at, value): (usize, &Value)| {
        let value = value.as_str()?.to_owned();
        let name = names.and_then(|names| names.get(at)?.as_str());
        let title = name.unwrap_or(&value).to_owned();
        Some(Choice { value, title })
    };
    values.enumerate().filter_map(choice).collect()
}
