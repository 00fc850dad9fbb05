//! What in a mind's steps could hurt: declared by the mind as data, so that the
//! linter can look at every step without knowing the system.

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
    /// It is deleted with its dependents.
    Deleted,
    /// A field gets this value, and does not have it yet.
    SetTo(&'static str, &'static str),
    /// A field of an object that exists gets another value.
    Changed(&'static str),
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

impl Hazard {
    /// Does the step do that?
    pub fn is_in(&self, step: &Step, snapshot: &Snapshot) -> bool {
        let (key, written) = match step {
            Step::Apply { key, object, .. } => (key, object),
            Step::Patch { key, patch, .. } => (key, patch),
            Step::Delete { key, propagation, .. } => {
                return key.resource == self.resource
                    && self.act == Act::Deleted
                    && *propagation == Propagation::Background;
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
            Act::Deleted => false,
            Act::SetTo(field, value) => {
                let value = Value::from(value);
                let is_new = has(field) != Some(&value) || is_another(field, written, stored);
                gets(field) == Some(&value) && is_new
            }
            Act::Changed(field) => {
                stored.is_some() && gets(field).is_some_and(|new| has(field) != Some(new))
            }
            Act::Lowered(field) => {
                let number = |value: Option<&Value>| value.and_then(Value::as_i64);
                number(gets(field)).zip(number(has(field))).is_some_and(|(new, old)| new < old)
            }
        }
    }

    /// What its proof must be about, by the step's own words.
    pub fn subject<'a>(&self, step: &'a Step) -> &'a str {
        let (key, written) = match step {
            Step::Apply { key, object, .. } => (key, Some(object)),
            Step::Patch { key, patch, .. } => (key, Some(patch)),
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
