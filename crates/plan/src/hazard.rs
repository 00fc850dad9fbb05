//! What in a mind's steps could hurt: declared by the mind as data, so that the
//! linter can look at every step without knowing the system.

use crate::differ::contains;
use crate::object::{Object, Resource};
use crate::plan::{Propagation, Step};
use crate::proof::ProofKind;
use crate::snapshot::Snapshot;
use serde_json::Value;

/// A step that could hurt, and what must be proven before it is taken.
#[derive(Clone, Copy, Debug)]
pub struct Hazard {
    /// The kind of the object.
    pub resource: Resource,
    /// What is done to it.
    pub act: Act,
    /// What the proof must be about.
    pub about: About,
    /// The kinds of proof of which one is needed.
    pub kinds: &'static [ProofKind],
}

/// What is done to an object. Fields are JSON pointers into the whole object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// It is deleted, whatever happens to its dependents.
    Deleted,
    /// It is deleted with its dependents. Where they are left behind, what
    /// runs goes on and only the record of it goes: the hazard of a set is in
    /// its pods, that of a pod, a claim or a member is in itself.
    DeletedWithDependents,
    /// A field gets this value, and does not have it yet.
    SetTo(&'static str, &'static str),
    /// A field of an object that exists gets another value, beyond what the API server adds.
    Changed(&'static str),
    /// An order of an object that exists: what it says (the first field) is given
    /// another value, or is given again under another ID (the second).
    Ordered(&'static str, &'static str),
    /// A number of an object that exists becomes less.
    Lowered(&'static str),
}

/// What a proof must be about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum About {
    /// The object, by its name.
    Object,
    /// What this field of the step names.
    Field(&'static str),
}

/// An order that stands in an object of its own within the spec, such as a
/// permit, is another one as soon as anything in it changes: that of the last
/// try may still be there.
fn is_another(field: &str, written: &Value, stored: Option<&Object>) -> bool {
    let order = field.rsplit_once('/').map_or("", |(order, _)| order);
    if order.matches('/').count() < 2 {
        return false;
    }
    let parts = written.pointer(order).and_then(Value::as_object).into_iter().flatten();
    let mut said = parts.filter(|(_, value)| !value.is_null());
    said.any(|(key, value)| stored.and_then(|o| o.at(&format!("{order}/{key}"))) != Some(value))
}

/// What the API server has added to an object or a list by itself is no change.
fn is_changed(stored: Option<&Value>, written: &Value) -> bool {
    match (stored, written) {
        (Some(stored), Value::Object(_) | Value::Array(_)) => !contains(stored, written),
        (stored, written) => stored != Some(written),
    }
}

impl Hazard {
    /// Does the step do that?
    pub fn is_in(&self, step: &Step, snapshot: &Snapshot) -> bool {
        let (key, written) = match step {
            Step::Apply { key, object, .. } | Step::Create { key, object, .. } => (key, object),
            Step::Patch { key, patch, .. } | Step::Issue { key, patch, .. } => (key, patch),
            Step::Delete { key, propagation, .. } => {
                return key.resource == self.resource && self.is_deletion(*propagation);
            }
            Step::CompareAndSet { .. } => return false,
        };
        if key.resource != self.resource {
            return false;
        }
        let known = snapshot.all(key.resource).unwrap_or_default();
        let stored = known
            .iter()
            .find(|o| o.meta.name == key.name && o.meta.namespace == key.namespace)
            .map(AsRef::as_ref);
        let has = |field: &str| stored.and_then(|o: &Object| o.at(field));
        let gets = |field: &str| written.pointer(field).filter(|v| !v.is_null());
        match self.act {
            Act::Deleted | Act::DeletedWithDependents => false,
            Act::SetTo(field, value) => {
                let value = Value::from(value);
                let is_new = has(field) != Some(&value) || is_another(field, written, stored);
                gets(field) == Some(&value) && is_new
            }
            Act::Changed(field) => {
                stored.is_some() && gets(field).is_some_and(|new| is_changed(has(field), new))
            }
            Act::Ordered(field, id) => {
                let is_new = |field| gets(field).is_some_and(|new| is_changed(has(field), new));
                stored.is_some() && gets(field).is_some() && (is_new(field) || is_new(id))
            }
            Act::Lowered(field) => {
                let number = |value: Option<&Value>| value.and_then(Value::as_i64);
                number(gets(field)).zip(number(has(field))).is_some_and(|(new, old)| new < old)
            }
        }
    }

    fn is_deletion(&self, propagation: Propagation) -> bool {
        match (self.act, propagation) {
            (Act::Deleted, Propagation::Background | Propagation::Orphan)
            | (Act::DeletedWithDependents, Propagation::Background) => true,
            (Act::DeletedWithDependents, Propagation::Orphan)
            | (Act::SetTo(..) | Act::Changed(_) | Act::Ordered(..) | Act::Lowered(_), _) => false,
        }
    }

    /// What its proof must be about, by the step's own words.
    pub fn subject<'a>(&self, step: &'a Step) -> &'a str {
        let (key, written) = match step {
            Step::Apply { key, object, .. } | Step::Create { key, object, .. } => {
                (key, Some(object))
            }
            Step::Patch { key, patch, .. } | Step::Issue { key, patch, .. } => (key, Some(patch)),
            Step::Delete { key, .. } => (key, None),
            Step::CompareAndSet { .. } => return "",
        };
        match self.about {
            About::Object => &key.name,
            About::Field(field) => {
                written.and_then(|w| w.pointer(field)).and_then(Value::as_str).unwrap_or_default()
            }
        }
    }
}
