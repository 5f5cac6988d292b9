//! Questions, as the protocol puts them to a client.

use rmcp::model::{
    ElicitRequest, ElicitRequestParams, ElicitationSchema, PrimitiveSchemaDefinition,
};
use serde_json::{Value, json};

use crate::input::form::{Ask, Choosable, FieldKind, FormField};

/// Numbers beyond this are not exact in the usual readers of JSON.
const EXACT: i64 = 1 << 53;

/// The request that puts `ask` to a person.
pub(super) fn elicitation(key: &str, ask: &Ask) -> ElicitRequest {
    if let Some(url) = &ask.url {
        return ElicitRequest::new(ElicitRequestParams::UrlElicitationParams {
            meta: None,
            message: ask.message.clone(),
            url: url.clone(),
            // 2026-07-28 has no such id, but rmcp writes one, and older clients want it unique.
            elicitation_id: key.into(),
        });
    }
    let properties = ask
        .form
        .fields
        .iter()
        .map(|field| (field.name.clone(), property(field)));
    let required = ask.form.fields.iter().filter(|field| field.required);
    let required: Vec<_> = required.map(|field| field.name.clone()).collect();
    let mut schema = ElicitationSchema::new(properties.collect());
    schema.property_order = Some(
        ask.form
            .fields
            .iter()
            .map(|field| field.name.clone())
            .collect(),
    );
    schema.required = (!required.is_empty()).then_some(required);
    ElicitRequest::new(ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: ask.message.clone(),
        requested_schema: schema,
    })
}

/// The schema of a field, by the JSON that the protocol gives it.
fn property(field: &FormField) -> PrimitiveSchemaDefinition {
    let titled = |options: &[Choosable]| options.iter().any(|option| option.title.is_some());
    let values = |options: &[Choosable]| -> Vec<Value> {
        options
            .iter()
            .map(|option| option.value.as_str().into())
            .collect()
    };
    let with_titles = |options: &[Choosable]| -> Vec<Value> {
        let title =
            |option: &Choosable| option.title.clone().unwrap_or_else(|| option.value.clone());
        let titled = |option: &Choosable| json!({ "const": option.value, "title": title(option) });
        options.iter().map(titled).collect()
    };
    let exact = |bound: &Option<i64>| bound.filter(|bound| (-EXACT..=EXACT).contains(bound));
    let mut schema = match &field.kind {
        FieldKind::Boolean => json!({ "type": "boolean" }),
        FieldKind::Text => json!({ "type": "string" }),
        FieldKind::Number => json!({ "type": "number" }),
        FieldKind::Integer { minimum, maximum } => {
            let mut schema = json!({ "type": "integer" });
            if let Some(minimum) = exact(minimum) {
                schema["minimum"] = minimum.into();
            }
            if let Some(maximum) = exact(maximum) {
                schema["maximum"] = maximum.into();
            }
            schema
        }
        FieldKind::Choice(options) if titled(options) => {
            json!({ "type": "string", "oneOf": with_titles(options) })
        }
        FieldKind::Choice(options) => json!({ "type": "string", "enum": values(options) }),
        FieldKind::Choices(options) if titled(options) => {
            json!({ "type": "array", "items": { "anyOf": with_titles(options) } })
        }
        FieldKind::Choices(options) => {
            json!({ "type": "array", "items": { "type": "string", "enum": values(options) } })
        }
    };
    if let Some(description) = &field.description {
        schema["description"] = description.as_str().into();
    }
    let sendable = |default: &&Value| match field.kind {
        FieldKind::Integer { .. } => exact(&default.as_i64()).is_some(),
        _ => true,
    };
    if let Some(default) = field.default.as_ref().filter(sendable) {
        schema["default"] = default.clone();
    }
    typed(schema, &field.kind)
}

fn typed(schema: Value, kind: &FieldKind) -> PrimitiveSchemaDefinition {
    let read = match kind {
        FieldKind::Choice(_) | FieldKind::Choices(_) => {
            serde_json::from_value(schema).map(PrimitiveSchemaDefinition::Enum)
        }
        _ => serde_json::from_value(schema),
    };
    read.expect("the schemas of `property` are those of the protocol")
}
