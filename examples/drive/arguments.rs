//! `key=value` as the arguments of a tool.

use rmcp::model::Tool;
use serde_json::{Map, Value};

/// Why a call cannot be made of the command line.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Refused {
    #[error("there is no tool `{name}`; there are: {}", known.join(", "))]
    Tool { name: String, known: Vec<String> },
    #[error("`{0}` is no argument; write `key=value`")]
    Shape(String),
    #[error("`{key}` is {wanted}, and `{value}` cannot be read as JSON: {source}")]
    Json {
        key: String,
        value: String,
        wanted: String,
        source: serde_json::Error,
    },
}

/// The arguments in `words` for the tool `name`, one of `tools`.
pub(crate) fn read(
    tools: &[Tool],
    name: &str,
    words: &[String],
) -> Result<Map<String, Value>, Refused> {
    let Some(tool) = tools.iter().find(|tool| tool.name == name) else {
        return Err(Refused::Tool {
            name: name.to_owned(),
            known: tools.iter().map(|tool| tool.name.to_string()).collect(),
        });
    };
    let properties = tool.input_schema.get("properties");
    let arguments = words.iter().map(|word| {
        let (key, value) = word
            .split_once('=')
            .ok_or_else(|| Refused::Shape(word.clone()))?;
        let schema = properties.and_then(|properties| properties.get(key));
        Ok((key.to_owned(), typed(key, value, schema)?))
    });
    arguments.collect()
}

/// The types that a schema allows, in a word each; none where it does not say.
pub(crate) fn types(schema: &Value) -> Vec<&str> {
    match &schema["type"] {
        Value::String(one) => vec![one],
        Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// JSON where the schema wants something other than a string.
fn typed(key: &str, value: &str, schema: Option<&Value>) -> Result<Value, Refused> {
    let types = schema.map(types).unwrap_or_default();
    if types.is_empty() || types.contains(&"string") {
        return Ok(value.into());
    }
    serde_json::from_str(value).map_err(|source| Refused::Json {
        key: key.to_owned(),
        value: value.to_owned(),
        wanted: types.join(" or "),
        source,
    })
}
