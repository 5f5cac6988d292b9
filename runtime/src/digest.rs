//! Digests of JSON: the same for the same value, in whatever order its members came.

use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// The SHA-256 of `members`, in hexadecimal.
pub(crate) fn digest<'a>(members: impl IntoIterator<Item = (&'a String, &'a Value)>) -> String {
    let mut hash = Sha256::new();
    object(&mut hash, members);
    hash.finalize()
        .iter()
        .fold(String::new(), |mut text, byte| {
            for digit in [byte >> 4, byte & 15] {
                text.extend(char::from_digit(digit.into(), 16));
            }
            text
        })
}

fn object<'a>(hash: &mut Sha256, members: impl IntoIterator<Item = (&'a String, &'a Value)>) {
    let mut members: Vec<_> = members.into_iter().collect();
    members.sort_by_key(|(name, _)| *name);
    length(hash, b'{', members.len());
    for (name, member) in members {
        text(hash, b'k', name);
        value(hash, member);
    }
}

fn value(hash: &mut Sha256, of: &Value) {
    match of {
        Value::Null => hash.update(b"n"),
        Value::Bool(true) => hash.update(b"t"),
        Value::Bool(false) => hash.update(b"f"),
        Value::Number(number) => text(hash, b'#', &number.to_string()),
        Value::String(string) => text(hash, b'"', string),
        Value::Array(items) => {
            length(hash, b'[', items.len());
            for item in items {
                value(hash, item);
            }
        }
        Value::Object(members) => object(hash, members),
    }
}

/// The length keeps ("ab", "c") and ("a", "bc") apart, and the tag values of different kinds.
fn text(hash: &mut Sha256, tag: u8, text: &str) {
    length(hash, tag, text.len());
    hash.update(text);
}

fn length(hash: &mut Sha256, tag: u8, length: usize) {
    hash.update([tag]);
    hash.update((length as u64).to_be_bytes());
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(value: &Value) -> String {
        digest(value.as_object().unwrap())
    }

    #[test]
    fn the_order_of_members_does_not_count() {
        let one: Value = serde_json::from_str(r#"{"a":1,"b":{"c":[1,2],"d":null}}"#).unwrap();
        let other: Value = serde_json::from_str(r#"{"b":{"d":null,"c":[1,2]},"a":1}"#).unwrap();
        assert_eq!(of(&one), of(&other));
        assert_eq!(of(&one).len(), 64);
    }

    #[test]
    fn everything_else_counts() {
        let values = [
            json!({}),
            json!({ "a": null }),
            json!({ "a": "" }),
            json!({ "a": false }),
            json!({ "a": 1 }),
            json!({ "a": "1" }),
            json!({ "a": [] }),
            json!({ "a": {} }),
            json!({ "a": [1, 2] }),
            json!({ "a": [2, 1] }),
            json!({ "a": [[1], 2] }),
            json!({ "ab": "c" }),
            json!({ "a": "bc" }),
        ];
        let digests: std::collections::HashSet<_> = values.iter().map(of).collect();
        assert_eq!(digests.len(), values.len());
    }
}
