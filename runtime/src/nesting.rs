//! How deep JSON may be that stands in a record: readers stop at 128 levels, a few of which are the
//! record's own, and a record that cannot be read again is lost.

use serde_json::Value;

/// No value in a record has more lists and objects within each other.
pub(crate) const DEEPEST: usize = 100;

/// Whether `value` is too deep to be kept.
pub(crate) fn is_too_deep(value: &Value) -> bool {
    exceeds(value, DEEPEST)
}

/// Looks no further down than `levels`.
fn exceeds(value: &Value, levels: usize) -> bool {
    let Some(left) = levels.checked_sub(1) else {
        return value.is_array() || value.is_object();
    };
    match value {
        Value::Array(items) => items.iter().any(|item| exceeds(item, left)),
        Value::Object(members) => members.values().any(|member| exceeds(member, left)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_lists_and_objects_alike() {
        let wrap = |levels: usize| {
            (0..levels).fold(Value::Null, |value, level| {
                if level % 2 == 0 {
                    serde_json::json!([value])
                } else {
                    serde_json::json!({ "value": value })
                }
            })
        };
        assert!(!is_too_deep(&wrap(DEEPEST)));
        assert!(is_too_deep(&wrap(DEEPEST + 1)));
    }
}
