//! How far the repair of a member's ranges is, as far as its `CassandraMember` says so.

use super::member::Member;
use super::{text, time};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;

/// See the module.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Repair {
    /// Namespace.
    pub namespace: String,
    /// The member.
    pub member: String,
    /// Its ring.
    pub ring: String,
    /// Its rack.
    pub rack: String,
    /// Does a schedule cover it?
    pub is_covered: bool,
    /// Does its agent know how far it is?
    pub is_known: bool,
    /// Start of the oldest of the last repairs.
    pub oldest_at: Option<Timestamp>,
    /// When the first range is due.
    pub due_at: Option<Timestamp>,
    /// When the first range is late.
    pub behind_at: Option<Timestamp>,
    /// When deletions begin to be forgotten.
    pub unsafe_at: Option<Timestamp>,
    /// Ranges of which a part was never repaired.
    pub never_ranges: u64,
    /// All ranges.
    pub ranges: u64,
    /// Is every keyspace that is covered there once only?
    pub has_one_copy: bool,
    /// `High` while its server has more to do than it gets done.
    pub pressure: String,
    /// What it repairs now.
    pub running: Option<Running>,
    /// Why the agent does not know more.
    pub message: String,
}

/// What a member repairs now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Running {
    /// The keyspace, once a segment has begun.
    pub keyspace: String,
    /// The table, if the segment is of one.
    pub table: String,
    /// Segments that are done.
    pub done: Option<u64>,
    /// All segments.
    pub total: Option<u64>,
}

impl Repair {
    /// Read the object of the member.
    pub fn read(object: &Value) -> Self {
        let of = |pointer: &str| text(object, &format!("/status/repair/{pointer}"));
        let at = |pointer: &str| time(object, &format!("/status/repair/{pointer}"));
        let number = |pointer: &str| object.pointer(pointer).and_then(Value::as_u64);
        let is_there = |pointer: &str| object.pointer(pointer).is_some_and(Value::is_object);
        let state = text(object, "/status/job/state");
        let runs =
            is_there("/spec/job/repair") && ["Running", "Stopping"].contains(&state.as_str());
        let running = || Running {
            keyspace: text(object, "/status/job/keyspace"),
            table: text(object, "/status/job/table"),
            done: number("/status/job/done"),
            total: number("/status/job/total"),
        };
        Self {
            namespace: text(object, "/metadata/namespace"),
            member: text(object, "/metadata/name"),
            ring: text(object, "/spec/cluster"),
            rack: text(object, "/spec/rack"),
            is_covered: is_there("/spec/repair"),
            is_known: is_there("/status/repair"),
            oldest_at: at("oldestAt"),
            due_at: at("dueAt"),
            behind_at: at("behindAt"),
            unsafe_at: at("unsafeAt"),
            never_ranges: number("/status/repair/neverRanges").unwrap_or_default(),
            ranges: number("/status/repair/ranges").unwrap_or_default(),
            has_one_copy: has_one_copy(object),
            pressure: text(object, "/status/pressure"),
            running: runs.then(running),
            message: of("message"),
        }
    }

    /// In the order of members.
    pub fn order(object: &Value) -> (String, String, String, u32, String) {
        Member::read(object).order()
    }

    /// Is it repaired in time, as far as is known? Without a range nothing is known, unless
    /// there is no other copy to repair from.
    pub fn is_in_time(&self, now: Timestamp) -> bool {
        self.is_covered
            && self.is_known
            && self.message.is_empty()
            && (self.ranges > 0 || self.has_one_copy)
            && self.behind_at.is_none_or(|at| now < at)
    }
}

/// As the schedule's condition `Behind` tells it apart from a misspelt name.
fn has_one_copy(object: &Value) -> bool {
    let copies = object.pointer("/status/copies").and_then(Value::as_object);
    let Some(copies) = copies.filter(|copies| !copies.is_empty()) else {
        return false;
    };
    let is_once = |count: Option<&Value>| count.and_then(Value::as_u64).is_some_and(|n| n <= 1);
    match object.pointer("/spec/repair/keyspaces").and_then(Value::as_array) {
        Some(named) => {
            named.iter().all(|name| is_once(copies.get(name.as_str().unwrap_or_default())))
        }
        None => copies.values().all(|count| is_once(Some(count))),
    }
}
