//! Conditions and waits of a status.

use super::{items, text, time};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;

/// A condition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Condition {
    /// Its type.
    #[serde(rename = "type")]
    pub type_: String,
    /// `True`, `False` or `Unknown`.
    pub status: String,
    /// A documented reason.
    pub reason: String,
    /// For people.
    pub message: String,
    /// Since when the status is so.
    pub since: Option<Timestamp>,
}

impl Condition {
    /// Does it hold?
    pub fn is_true(&self) -> bool {
        self.status == "True"
    }
}

/// All conditions of an object.
pub fn conditions(object: &Value) -> Vec<Condition> {
    let read = |condition: &Value| Condition {
        type_: text(condition, "/type"),
        status: text(condition, "/status"),
        reason: text(condition, "/reason"),
        message: text(condition, "/message"),
        since: time(condition, "/lastTransitionTime"),
    };
    items(object, "/status/conditions").map(read).collect()
}

/// Something that the operator waits for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Wait {
    /// A documented reason.
    pub reason: String,
    /// Kind and name of what it is about; empty if it is about the ring.
    pub object: String,
    /// For people.
    pub message: String,
    /// Since when.
    pub since: Option<Timestamp>,
}

/// All waits of an object.
pub fn waits(object: &Value) -> Vec<Wait> {
    let read = |wait: &Value| Wait {
        reason: text(wait, "/reason"),
        object: format!("{} {}", text(wait, "/object/kind"), text(wait, "/object/name"))
            .trim()
            .to_string(),
        message: text(wait, "/message"),
        since: time(wait, "/since"),
    };
    items(object, "/status/waits").map(read).collect()
}
