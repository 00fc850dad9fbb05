//! What is shown of each kind, read from its object. Every field may be absent,
//! and words that this version does not know are shown as they stand: the
//! operator may be newer.

pub mod check;
pub mod condition;
pub mod health;
pub mod maintenance;
pub mod member;
pub mod repair;
pub mod ring;
pub mod schedule;
pub mod task;

use jiff::Timestamp;
use serde_json::Value;

/// Text at a JSON pointer; empty if it is not there.
pub fn text(object: &Value, pointer: &str) -> String {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_string()
}

/// A time at a JSON pointer.
pub fn time(object: &Value, pointer: &str) -> Option<Timestamp> {
    object.pointer(pointer)?.as_str()?.parse().ok()
}

/// The items of a list at a JSON pointer.
pub fn items<'a>(object: &'a Value, pointer: &str) -> impl Iterator<Item = &'a Value> {
    object.pointer(pointer).and_then(Value::as_array).into_iter().flatten()
}
