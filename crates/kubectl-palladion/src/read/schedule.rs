//! A `CassandraTaskSchedule`, as far as it is shown.

use super::condition::{Condition, conditions};
use super::{items, text, time};
use jiff::Timestamp;
use palladion_api::conditions::{ACCEPTED, PAUSED};
use serde::Serialize;
use serde_json::Value;

/// See the module.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Schedule {
    /// Namespace.
    pub namespace: String,
    /// Name.
    pub name: String,
    /// Its ring.
    pub ring: String,
    /// Its pattern; `cover` where it has none and creates repairs as they are due.
    pub schedule: String,
    /// Its time zone.
    pub time_zone: String,
    /// Is it suspended?
    pub suspend: bool,
    /// When the next task is due, or since when one has been.
    pub next: Option<Timestamp>,
    /// For which time the last task was created.
    pub last: Option<Timestamp>,
    /// The last task.
    pub last_task: String,
    /// Names of the tasks that have not ended.
    pub active: Vec<String>,
    /// How often a task was missed.
    pub missed: u64,
    /// Does its status answer its newest spec?
    #[serde(skip)]
    pub is_observed: bool,
    /// Its conditions.
    pub conditions: Vec<Condition>,
    /// When it was created.
    pub created: Option<Timestamp>,
}

impl Schedule {
    /// Read the object.
    pub fn read(object: &Value) -> Self {
        let covers = object.pointer("/spec/cover").is_some_and(Value::is_object);
        let number = |pointer: &str| object.pointer(pointer).and_then(Value::as_u64);
        Self {
            namespace: text(object, "/metadata/namespace"),
            name: text(object, "/metadata/name"),
            ring: text(object, "/spec/cluster"),
            schedule: if covers { "cover".into() } else { text(object, "/spec/schedule") },
            time_zone: if covers { String::new() } else { text(object, "/spec/timeZone") },
            suspend: object.pointer("/spec/suspend").and_then(Value::as_bool).unwrap_or(false),
            next: time(object, "/status/nextScheduleTime"),
            last: time(object, "/status/lastScheduleTime"),
            last_task: text(object, "/status/lastTask"),
            active: items(object, "/status/active")
                .filter_map(Value::as_str)
                .map(str::to_string)
                .collect(),
            missed: number("/status/missed").unwrap_or_default(),
            is_observed: number("/status/observedGeneration").is_some()
                && number("/status/observedGeneration") == number("/metadata/generation"),
            conditions: conditions(object),
            created: time(object, "/metadata/creationTimestamp"),
        }
    }

    fn condition(&self, type_: &str) -> Option<&Condition> {
        self.conditions.iter().find(|c| c.type_ == type_)
    }

    /// Is it carried out: valid, and not held?
    pub fn runs(&self) -> bool {
        self.condition(ACCEPTED).is_some_and(Condition::is_true) && !self.is_held()
    }

    /// Does the operator create nothing for it?
    pub fn is_held(&self) -> bool {
        self.condition(PAUSED).is_some_and(Condition::is_true)
    }

    /// For people: what keeps it, or how it is.
    pub fn message(&self) -> String {
        let said = |type_: &str| self.condition(type_).map(|c| c.message.clone());
        let held = said(PAUSED).filter(|_| self.is_held());
        held.or_else(|| said(ACCEPTED)).unwrap_or_default()
    }
}
