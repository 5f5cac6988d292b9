//! The schemas that a client is told.
//!
//! They are JSON Schema 2020-12, in words that a reader of draft 7 takes for the same, and with as
//! few ways to say a thing as there can be: they are read by models and by clients that know only
//! part of the language.

use schemars::{
    JsonSchema, Schema, SchemaGenerator,
    generate::SchemaSettings,
    transform::{RecursiveTransform, RemoveRefSiblings, Transform, transform_subschemas},
};
use serde_json::{Map, Value, json};

/// The schema of a tool's arguments, parameter by parameter.
#[derive(Debug)]
pub(super) struct ArgumentsSchema {
    generator: SchemaGenerator,
    properties: Map<String, Value>,
    required: Vec<Value>,
}

impl ArgumentsSchema {
    pub(super) fn new() -> Self {
        Self {
            generator: generator(SchemaSettings::draft2020_12()),
            properties: Map::new(),
            required: Vec::new(),
        }
    }

    /// The schema of a parameter that is a `T`.
    pub(super) fn of<T: JsonSchema>(&mut self) -> Schema {
        self.generator.subschema_for::<T>()
    }

    /// Adds a parameter, of whose schema a description and a default are part.
    pub(super) fn insert(&mut self, name: &str, mut schema: Schema, is_required: bool) {
        if is_required {
            self.required.push(name.into());
        }
        schema.ensure_object();
        self.properties.insert(name.into(), schema.to_value());
    }

    /// An object that takes nothing else.
    pub(super) fn finish(mut self) -> Map<String, Value> {
        let mut schema = Map::new();
        schema.insert("type".into(), "object".into());
        schema.insert("additionalProperties".into(), false.into());
        if !self.properties.is_empty() {
            schema.insert("properties".into(), self.properties.into());
        }
        if !self.required.is_empty() {
            schema.insert("required".into(), self.required.into());
        }
        let definitions = self.generator.take_definitions(false);
        if !definitions.is_empty() {
            schema.insert("$defs".into(), definitions.into());
        }
        let mut schema = Schema::from(schema);
        RecursiveTransform(without_null).transform(&mut schema);
        simplify(&mut schema);
        std::mem::take(schema.ensure_object())
    }
}

/// The schema of what is written for a `T`; `None` where that may be anything.
pub(super) fn written<T: JsonSchema>() -> Option<Map<String, Value>> {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let schema = generator(settings).into_root_schema_for::<T>();
    finish_written(schema, &T::schema_name())
}

fn finish_written(mut schema: Schema, rust_name: &str) -> Option<Map<String, Value>> {
    if schema.get("title").is_some_and(|title| title == rust_name) {
        schema.remove("title");
    }
    simplify(&mut schema);
    let members = std::mem::take(schema.ensure_object());
    (!members.is_empty()).then_some(members)
}

fn generator(mut settings: SchemaSettings) -> SchemaGenerator {
    // A reference is one more thing that a model or a client may get wrong.
    settings.inline_subschemas = true;
    settings.meta_schema = None;
    settings.into_generator()
}

/// Takes `null` out of the properties that may be left out: to leave one out says the same, and
/// many clients read no unions.
fn without_null(schema: &mut Schema) {
    let required = match schema.get("required") {
        Some(Value::Array(names)) => names.clone(),
        _ => Vec::new(),
    };
    let Some(Value::Object(properties)) = schema.get_mut("properties") else {
        return;
    };
    for (name, property) in properties {
        if let (false, Value::Object(members)) =
            (required.iter().any(|required| required == name), property)
        {
            drop_null(members);
        }
    }
}

fn drop_null(schema: &mut Map<String, Value>) {
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|name| name != "null");
        if let [one] = types.as_mut_slice() {
            let one = one.take();
            schema.insert("type".into(), one);
        }
    }
    if let Some(Value::Array(values)) = schema.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    if let Some(Value::Array(branches)) = schema.get_mut("anyOf") {
        branches.retain(|branch| branch.get("type") != Some(&"null".into()));
        if let [Value::Object(only)] = branches.as_mut_slice() {
            let only = std::mem::take(only);
            schema.remove("anyOf");
            for (name, value) in only {
                schema.entry(name).or_insert(value);
            }
        }
    }
    if schema.get("default").is_some_and(Value::is_null) {
        schema.remove("default");
    }
}

/// Says the same in fewer words, and in words that both drafts have.
fn simplify(schema: &mut Schema) {
    Simplify.transform(schema);
    // Draft 7 passes over what stands beside a reference.
    RemoveRefSiblings::default().transform(schema);
}

struct Simplify;

impl Transform for Simplify {
    fn transform(&mut self, schema: &mut Schema) {
        transform_subschemas(self, schema);
        // Not every client takes `true` for a schema.
        let members = schema.ensure_object();
        bounds(members);
        elements(members);
        alternatives(members);
        // In this place a bare `true` and `false` are what everyone writes and reads.
        if let Some(others) = members.get_mut("additionalProperties") {
            if *others == json!({}) {
                *others = true.into();
            } else if *others == json!({ "not": {} }) {
                *others = false.into();
            }
        }
    }
}

/// Puts bounds in the place of the formats that only Rust has, which strict clients refuse.
///
/// A number of 64 bits gets none: its bounds are more than a client can be trusted to read exactly.
fn bounds(schema: &mut Map<String, Value>) {
    let bounds: Option<(i64, i64)> = match schema.get("format").and_then(Value::as_str) {
        Some("int8") => Some((i8::MIN.into(), i8::MAX.into())),
        Some("int16") => Some((i16::MIN.into(), i16::MAX.into())),
        Some("int32") => Some((i32::MIN.into(), i32::MAX.into())),
        Some("uint8") => Some((u8::MIN.into(), u8::MAX.into())),
        Some("uint16") => Some((u16::MIN.into(), u16::MAX.into())),
        Some("uint32") => Some((u32::MIN.into(), u32::MAX.into())),
        Some(
            "int64" | "int128" | "int" | "uint64" | "uint128" | "uint" | "float" | "double"
            | "partial-date-time" | "partial-time" | "ip",
        ) => None,
        _ => return,
    };
    schema.remove("format");
    if let Some((least, most)) = bounds {
        // The author may have asked for narrower ones.
        schema.entry("minimum").or_insert(least.into());
        schema.entry("maximum").or_insert(most.into());
    }
}

/// Says of a tuple's elements what draft 7 can, which has no `prefixItems`: strict clients refuse
/// an array without `items`. Where all are alike, there is no more to say.
fn elements(schema: &mut Map<String, Value>) {
    let Some(Value::Array(prefix)) = schema.get("prefixItems") else {
        return;
    };
    let is_closed = schema.get("maxItems") == Some(&prefix.len().into());
    if !is_closed || schema.contains_key("items") {
        return;
    }
    let mut kinds: Vec<Value> = Vec::new();
    for element in prefix {
        if !kinds.contains(element) {
            kinds.push(element.clone());
        }
    }
    let items = if let [one] = kinds.as_mut_slice() {
        let one = one.take();
        schema.remove("prefixItems");
        one
    } else {
        json!({ "anyOf": kinds })
    };
    schema.insert("items".into(), items);
}

/// Leaves out the alternatives that no value has, which strict clients refuse, and says beside the
/// others what type they all are, which some clients look for.
fn alternatives(schema: &mut Map<String, Value>) {
    for keyword in ["oneOf", "anyOf"] {
        let Some(Value::Array(branches)) = schema.get_mut(keyword) else {
            continue;
        };
        branches.retain(|branch| branch.get("enum") != Some(&json!([])));
        let mut types = branches.iter().map(|branch| branch.get("type"));
        if let Some(Some(Value::String(first))) = types.next()
            && types.all(|other| other.is_some_and(|other| other == first))
        {
            let first = first.clone();
            schema.entry("type").or_insert(first.into());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn simplified(schema: Value) -> Value {
        let mut schema = Schema::try_from(schema).unwrap();
        simplify(&mut schema);
        schema.to_value()
    }

    #[test]
    fn bounds_that_the_author_gave_stay() {
        let given = json!({ "type": "integer", "format": "int32", "minimum": 1 });
        let wanted = json!({ "type": "integer", "minimum": 1, "maximum": i32::MAX });
        assert_eq!(simplified(given), wanted);
    }

    #[test]
    fn formats_that_json_schema_has_or_that_the_author_made_up_stay() {
        for format in ["date-time", "uuid", "uri", "phone"] {
            let given = json!({ "type": "string", "format": format });
            assert_eq!(simplified(given.clone()), given);
        }
    }

    #[test]
    fn a_reference_stands_alone() {
        let given = json!({ "$ref": "#/$defs/Tree", "description": "A branch." });
        let wanted = json!({ "allOf": [{ "$ref": "#/$defs/Tree" }], "description": "A branch." });
        assert_eq!(simplified(given), wanted);
    }

    #[test]
    fn alternatives_of_one_type_say_so_and_impossible_ones_are_left_out() {
        let given = json!({ "oneOf": [{ "type": "string", "enum": [] }, { "type": "object" }] });
        let wanted = json!({ "oneOf": [{ "type": "object" }], "type": "object" });
        assert_eq!(simplified(given), wanted);
        let given = json!({ "anyOf": [{ "type": "string" }, { "type": "object" }] });
        assert_eq!(simplified(given.clone()), given);
    }

    #[test]
    fn true_and_false_stay_only_where_everyone_reads_them() {
        let given = json!({ "properties": { "any": true }, "additionalProperties": false });
        let wanted = json!({ "properties": { "any": {} }, "additionalProperties": false });
        assert_eq!(simplified(given), wanted);
        let given = json!({ "additionalProperties": true, "items": true });
        assert_eq!(
            simplified(given),
            json!({ "additionalProperties": true, "items": {} })
        );
    }

    #[test]
    fn properties_are_not_taken_for_keywords() {
        let nullable = json!({ "type": ["string", "null"] });
        let of = |required: &Value, kind: &Value| {
            json!({ "properties": { "properties": {
                "properties": { "type": kind },
                "required": required,
                "default": { "properties": { "type": { "type": ["string", "null"] } } },
            } } })
        };
        for (required, wanted) in [
            (json!(["type"]), nullable.clone()),
            (json!([]), json!({ "type": "string" })),
        ] {
            let schema = of(&required, &nullable);
            let mut schema = Schema::try_from(schema).unwrap();
            RecursiveTransform(without_null).transform(&mut schema);
            assert_eq!(schema.to_value(), of(&required, &wanted));
        }
    }
}
