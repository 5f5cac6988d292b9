//! Fingerprints of values, by which one that changed on its way through JSON is found.

use std::hash::{DefaultHasher, Hash, Hasher as _};

use serde::{
    Serialize, Serializer,
    ser::{
        SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
        SerializeTupleStruct, SerializeTupleVariant,
    },
};
use serde_json::Error;

/// Hashes all that `value` would write.
///
/// The elements of a collection may come in any order: a `HashMap` that was read has another one
/// than the `HashMap` that was written. Options are told apart from what is in them, and floats by
/// their bits, because JSON has `null` for `None`, for `()` and for numbers that are not finite.
///
/// # Errors
///
/// The error of the value's own `Serialize`.
pub(crate) fn fingerprint<T: Serialize + ?Sized>(value: &T) -> Result<u64, Error> {
    value.serialize(Fingerprint)
}

struct Fingerprint;

/// A collection whose elements come one by one.
struct Elements {
    tag: &'static str,
    count: u64,
    sum: u64,
    /// The key whose value comes next.
    key: u64,
}

impl Elements {
    const fn new(tag: &'static str) -> Self {
        Self {
            tag,
            count: 0,
            sum: 0,
            key: 0,
        }
    }

    /// The sum does not depend on the order.
    fn add(&mut self, element: u64) {
        self.count += 1;
        self.sum = self.sum.wrapping_add(element);
    }

    fn element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.add(fingerprint(value)?);
        Ok(())
    }

    fn member<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) -> Result<(), Error> {
        self.add(hash((text(name), fingerprint(value)?)));
        Ok(())
    }

    fn hash(&self) -> u64 {
        hash((self.tag, self.count, self.sum))
    }
}

fn hash(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

fn text(text: &str) -> u64 {
    hash(("text", text))
}

fn whole(number: impl Into<i128>) -> u64 {
    hash(("whole", number.into()))
}

impl Serializer for Fingerprint {
    type Ok = u64;
    type Error = Error;
    type SerializeSeq = Elements;
    type SerializeTuple = Elements;
    type SerializeTupleStruct = Elements;
    type SerializeTupleVariant = Elements;
    type SerializeMap = Elements;
    type SerializeStruct = Elements;
    type SerializeStructVariant = Elements;

    fn serialize_bool(self, value: bool) -> Result<u64, Error> {
        Ok(hash(("bool", value)))
    }

    fn serialize_i8(self, value: i8) -> Result<u64, Error> {
        Ok(whole(value))
    }

    fn serialize_i16(self, value: i16) -> Result<u64, Error> {
        Ok(whole(value))
    }

    fn serialize_i32(self, value: i32) -> Result<u64, Error> {
        Ok(whole(value))
    }

    fn serialize_i64(self, value: i64) -> Result<u64, Error> {
        Ok(whole(value))
    }

    fn serialize_i128(self, value: i128) -> Result<u64, Error> {
        Ok(whole(value))
    }

    fn serialize_u8(self, value: u8) -> Result<u64, Error> {
        Ok(whole(value))
    }

    fn serialize_u16(self, value: u16) -> Result<u64, Error> {
        Ok(whole(value))
    }

    fn serialize_u32(self, value: u32) -> Result<u64, Error> {
        Ok(whole(value))
    }

    fn serialize_u64(self, value: u64) -> Result<u64, Error> {
        Ok(whole(value))
    }

    fn serialize_u128(self, value: u128) -> Result<u64, Error> {
        Ok(i128::try_from(value).map_or_else(|_| hash(("large", value)), whole))
    }

    fn serialize_f32(self, value: f32) -> Result<u64, Error> {
        self.serialize_f64(value.into())
    }

    fn serialize_f64(self, value: f64) -> Result<u64, Error> {
        Ok(hash(("float", value.to_bits())))
    }

    fn serialize_char(self, value: char) -> Result<u64, Error> {
        Ok(text(value.encode_utf8(&mut [0; 4])))
    }

    fn serialize_str(self, value: &str) -> Result<u64, Error> {
        Ok(text(value))
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<u64, Error> {
        Ok(hash(("bytes", value)))
    }

    fn serialize_none(self) -> Result<u64, Error> {
        Ok(hash("none"))
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<u64, Error> {
        Ok(hash(("some", fingerprint(value)?)))
    }

    fn serialize_unit(self) -> Result<u64, Error> {
        Ok(hash("unit"))
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<u64, Error> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<u64, Error> {
        Ok(hash(("variant", variant)))
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<u64, Error> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<u64, Error> {
        Ok(hash(("variant", variant, fingerprint(value)?)))
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Elements, Error> {
        Ok(Elements::new("list"))
    }

    fn serialize_tuple(self, _: usize) -> Result<Elements, Error> {
        Ok(Elements::new("list"))
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Elements, Error> {
        Ok(Elements::new("list"))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Elements, Error> {
        Ok(Elements::new(variant))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Elements, Error> {
        Ok(Elements::new("map"))
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Elements, Error> {
        Ok(Elements::new("map"))
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Elements, Error> {
        Ok(Elements::new(variant))
    }
}

/// A collection of values without names.
macro_rules! unnamed {
    ($($of:ident $add:ident;)*) => {$(
        impl $of for Elements {
            type Ok = u64;
            type Error = Error;

            fn $add<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
                self.element(value)
            }

            fn end(self) -> Result<u64, Error> {
                Ok(self.hash())
            }
        }
    )*};
}

unnamed! {
    SerializeSeq serialize_element;
    SerializeTuple serialize_element;
    SerializeTupleStruct serialize_field;
    SerializeTupleVariant serialize_field;
}

/// A collection of values with names that are known when it is compiled.
macro_rules! named {
    ($($of:ident)*) => {$(
        impl $of for Elements {
            type Ok = u64;
            type Error = Error;

            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                name: &'static str,
                value: &T,
            ) -> Result<(), Error> {
                self.member(name, value)
            }

            fn end(self) -> Result<u64, Error> {
                Ok(self.hash())
            }
        }
    )*};
}

named! { SerializeStruct SerializeStructVariant }

impl SerializeMap for Elements {
    type Ok = u64;
    type Error = Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Error> {
        self.key = fingerprint(key)?;
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.add(hash((self.key, fingerprint(value)?)));
        Ok(())
    }

    fn end(self) -> Result<u64, Error> {
        Ok(self.hash())
    }
}

#[cfg(test)]
mod tests {
    use std::{
        collections::{BTreeMap, HashMap, HashSet},
        time::{Duration, SystemTime},
    };

    use rmcp::model::{CallToolResult, ContentBlock};
    use serde::{Deserialize, de::DeserializeOwned};
    use serde_json::{Value, json, value::RawValue};

    use super::*;

    /// Whether `value` comes back from JSON as it was.
    fn comes_back<T: Serialize + DeserializeOwned>(value: &T) -> bool {
        let json = serde_json::to_string(value).unwrap();
        let read: T = serde_json::from_str(&json).unwrap();
        fingerprint(value).unwrap() == fingerprint(&read).unwrap()
    }

    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    enum Shape {
        Point,
        Circle(f32),
        Line(i8, u128),
        Box { width: char, height: Option<Nested> },
    }

    #[derive(Serialize, Deserialize)]
    struct Nested {
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        list: Vec<u8>,
        #[serde(flatten)]
        rest: HashMap<String, Value>,
    }

    #[test]
    fn what_json_can_hold_comes_back_as_it_was() {
        let nested = || Nested {
            list: Vec::new(),
            rest: HashMap::from([("a".into(), json!({"b": [1, 2.0, null, -3, u64::MAX]}))]),
        };
        assert!(comes_back(&(0.1 + 0.2, -0.0_f64, 1e-300, f64::MAX)));
        assert!(comes_back(&(16_777_217.0_f32 / 3.0, f32::MIN_POSITIVE)));
        assert!(comes_back(&(u128::MAX, i128::MIN, u64::MAX, i8::MIN)));
        assert!(comes_back(&(
            Some(1),
            None::<u8>,
            Some("\u{0}\u{2028}".to_owned()),
            ()
        )));
        assert!(comes_back(&vec![
            Shape::Point,
            Shape::Circle(0.1),
            Shape::Line(-1, u128::MAX),
            Shape::Box {
                width: '\u{1f980}',
                height: Some(nested())
            },
            Shape::Box {
                width: '"',
                height: None
            },
        ]));
        assert!(comes_back(&BTreeMap::from([(u64::MAX, true), (0, false)])));
        assert!(comes_back(&(
            Duration::from_nanos(1),
            SystemTime::UNIX_EPOCH
        )));
        assert!(comes_back(&Ok::<u8, String>(1)));
        let raw: Box<RawValue> = serde_json::from_str("{\"a\" : 1.50}").unwrap();
        assert!(comes_back(&raw));
    }

    #[test]
    fn the_result_of_a_call_of_another_tool_comes_back_as_it_was() {
        let text = || vec![ContentBlock::text("done")];
        assert!(comes_back(&CallToolResult::success(text())));
        assert!(comes_back(&CallToolResult::error(text())));
        assert!(comes_back(&CallToolResult::structured(json!({"a": [1.5]}))));
    }

    #[test]
    fn the_order_of_a_map_or_a_set_does_not_count() {
        let map: HashMap<u32, HashSet<u32>> = (0..100).map(|n| (n, (0..n).collect())).collect();
        assert!(comes_back(&map));
    }

    #[test]
    fn what_json_loses_does_not_come_back() {
        assert!(!comes_back(&Some(f64::NAN)));
        assert!(!comes_back(&vec![Some(f32::INFINITY)]));
        assert!(!comes_back(&Some(())));
        assert!(!comes_back(&Some(None::<u8>)));
        assert!(!comes_back(&Some(Value::Null)));
    }

    #[test]
    fn a_key_that_a_flattened_member_takes_does_not_come_back() {
        #[derive(Serialize, Deserialize)]
        struct Outer {
            #[serde(flatten)]
            one: BTreeMap<String, u8>,
            #[serde(flatten)]
            other: BTreeMap<String, u8>,
        }
        let one = BTreeMap::from([("a".to_owned(), 1)]);
        let other = BTreeMap::from([("a".to_owned(), 2)]);
        assert!(!comes_back(&Outer { one, other }));
    }

    #[test]
    fn every_part_of_a_value_counts() {
        let prints = [
            fingerprint(&1),
            fingerprint(&1.0),
            fingerprint("1"),
            fingerprint(&Some(1)),
            fingerprint(&[1]),
            fingerprint(&[1, 1]),
            fingerprint(&[[1]]),
            fingerprint(&()),
            fingerprint(&None::<u8>),
            fingerprint(&true),
            fingerprint(&json!({"a": "b"})),
            fingerprint(&json!({"b": "a"})),
            fingerprint(&json!({"a": 1, "b": 2})),
            fingerprint(&json!({"a": 2, "b": 1})),
        ];
        let different: HashSet<u64> = prints.into_iter().map(Result::unwrap).collect();
        assert_eq!(different.len(), 14);
    }
}
