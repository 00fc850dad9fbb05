//! Objects that are nested deeply. The API server stores up to 10,000 levels where a schema leaves
//! a field free; a parser that gives up on one of them gives up on the whole list that it is in,
//! and on the watch, so that one object would blind the operator to all of its kind. So a field
//! that is too deep is read as a sentence in its place: no mind takes it for a spec, and all other
//! objects are as they are.

use crate::words;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use std::cell::Cell;
use std::fmt;

/// Levels that a field of an object may have. serde_json reads 128, of which a list takes two; what
/// is kept of an object is read again from its own text.
pub const DEEPEST: usize = 100;

/// What stands in place of a field that has more.
fn too_deep() -> Value {
    Value::from(words::Field::TooDeep { levels: DEEPEST }.to_string())
}

/// An object, or a list of objects, as far as it is read.
#[derive(Clone, Debug)]
pub struct Nested(pub Value);

impl<'de> serde::Deserialize<'de> for Nested {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Object { items: Items::Objects }.deserialize(from).map(Self)
    }
}

/// What the field `items` holds.
#[derive(Clone, Copy)]
enum Items {
    /// Objects: that of a list.
    Objects,
    /// Whatever else.
    Any,
}

/// An object, or anything else that has fields: each is read for itself.
#[derive(Clone, Copy)]
struct Object {
    items: Items,
}

impl<'de> DeserializeSeed<'de> for Object {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Value, D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Object {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Value, A::Error> {
        let mut fields = Map::new();
        while let Some(name) = from.next_key::<String>()? {
            let value = match (name.as_str(), self.items) {
                ("items", Items::Objects) => from.next_value_seed(List)?,
                // Of each field its managers are listed there, as deep as that is; its name and
                // labels are read all the same.
                ("metadata", _) => from.next_value_seed(Object { items: Items::Any })?,
                _ => from.next_value_seed(Field)?,
            };
            fields.insert(name, value);
        }
        Ok(Value::Object(fields))
    }
}

/// The objects of a list; an empty one may be `null`.
struct List;

impl<'de> DeserializeSeed<'de> for List {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Value, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for List {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("objects")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Value, A::Error> {
        let mut all = Vec::new();
        while let Some(object) = from.next_element_seed(Object { items: Items::Any })? {
            all.push(object);
        }
        Ok(Value::Array(all))
    }
}

/// A field of an object.
struct Field;

impl<'de> DeserializeSeed<'de> for Field {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Value, D::Error> {
        let is_too_deep = Cell::new(false);
        let value = Part { left: DEEPEST, is_too_deep: &is_too_deep }.deserialize(from)?;
        Ok(if is_too_deep.get() { too_deep() } else { value })
    }
}

/// A part of a field, with so many levels left.
#[derive(Clone, Copy)]
struct Part<'a> {
    left: usize,
    is_too_deep: &'a Cell<bool>,
}

impl Part<'_> {
    /// One level further down; `None` where there are too many.
    fn below(self) -> Option<Self> {
        let left = self.left.checked_sub(1);
        self.is_too_deep.set(self.is_too_deep.get() || left.is_none());
        left.map(|left| Self { left, ..self })
    }
}

impl<'de> DeserializeSeed<'de> for Part<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Value, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Part<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    // What is too deep is passed over, which the parser does without going down itself.

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Value, A::Error> {
        let mut all = Vec::new();
        match self.below() {
            Some(below) => {
                while let Some(value) = from.next_element_seed(below)? {
                    all.push(value);
                }
            }
            None => while from.next_element::<IgnoredAny>()?.is_some() {},
        }
        Ok(Value::Array(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Value, A::Error> {
        let mut all = Map::new();
        match self.below() {
            Some(below) => {
                while let Some(name) = from.next_key::<String>()? {
                    all.insert(name, from.next_value_seed(below)?);
                }
            }
            None => while from.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {},
        }
        Ok(Value::Object(all))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Text of so many maps in each other.
    fn deep(levels: usize) -> String {
        format!("{}1{}", r#"{"a":"#.repeat(levels), "}".repeat(levels))
    }

    fn read(text: &str) -> Value {
        serde_json::from_str::<Nested>(text).unwrap_or_else(|e| panic!("{e}")).0
    }

    #[test]
    fn what_is_not_too_deep_is_read_as_it_is() {
        let text = format!(
            r#"{{"kind":"List","items":[{{"spec":{},"n":[null,true,-1,2,0.5,"x"]}}]}}"#,
            deep(DEEPEST)
        );
        assert_eq!(read(&text), serde_json::from_str::<Value>(&text).unwrap());
    }

    #[test]
    fn a_field_that_is_too_deep_is_a_sentence_and_its_neighbours_are_as_they_are() {
        for levels in [DEEPEST + 1, 9_999] {
            let text = format!(r#"{{"spec":{},"status":{{"ready":1}}}}"#, deep(levels));
            let expected = serde_json::json!({ "spec": too_deep(), "status": { "ready": 1 } });
            assert_eq!(read(&text), expected);
            let list = format!(r#"{{"items":[{text},{{"spec":{{"count":2}}}}],"metadata":{{}}}}"#);
            let read = read(&list);
            assert_eq!(read["items"][0], expected);
            assert_eq!(read["items"][1], serde_json::json!({ "spec": { "count": 2 } }));
            assert_eq!(read["metadata"], serde_json::json!({}));
        }
    }

    #[test]
    fn whoever_manages_a_field_that_is_too_deep_hides_no_name() {
        let text = format!(
            r#"{{"metadata":{{"name":"web","managedFields":[{{"f:spec":{}}}]}},"spec":{}}}"#,
            deep(9_999),
            deep(9_999)
        );
        let read = read(&text);
        assert_eq!(read["metadata"]["name"], "web");
        assert_eq!(read["spec"], too_deep());
    }

    #[test]
    fn a_list_may_be_null() {
        assert_eq!(read(r#"{"items":null}"#), serde_json::json!({ "items": null }));
    }
}
