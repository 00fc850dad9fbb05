//! What was observed at one moment. What could not be read is `Unknown`, and
//! never empty, zero or fine.

use crate::exchange::{Answer, ExchangeKey};
use crate::lock::LockFact;
use crate::object::{Object, ObjectKey, Resource};
use crate::probe::{ProbeKey, ProbeResult};
use crate::words::unread::Unread;
use palladion_api::ids::Nonce;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A fact that was read, or the reason why it was not.
#[derive(Clone, Debug, PartialEq)]
pub enum Observed<T> {
    /// Read.
    Known {
        /// The value.
        value: T,
        /// When the source was last known to be in touch.
        as_of: jiff::Timestamp,
    },
    /// Not read.
    Unknown {
        /// Why, for people.
        why: String,
    },
}

impl<T> Observed<T> {
    /// The value, or the reason why there is none.
    pub fn known(&self) -> Result<&T, &str> {
        match self {
            Observed::Known { value, .. } => Ok(value),
            Observed::Unknown { why } => Err(why),
        }
    }
}

/// What became of the last plan for this key, where a step failed.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// What was being done, to which object.
    pub doing: String,
    /// The object.
    pub object: Option<ObjectKey>,
    /// What kind of failure.
    pub class: FailureClass,
    /// The answer.
    pub message: String,
    /// When.
    pub at: jiff::Timestamp,
    /// Every object that was not written in that plan, the first included: a plan goes on
    /// behind what is wrong with one of them.
    pub all: Vec<NotWritten>,
}

/// An object that was not written.
#[derive(Clone, Debug, PartialEq)]
pub struct NotWritten {
    /// The object.
    pub object: ObjectKey,
    /// What kind of failure.
    pub class: FailureClass,
    /// The answer.
    pub message: String,
}

/// Kinds of failure, by what to do about them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureClass {
    /// May pass by itself: time-outs, 429, 5xx.
    Transient,
    /// Somebody was faster: the world changed since the snapshot.
    Conflict,
    /// A PodDisruptionBudget does not allow it now.
    Held,
    /// An object of the name exists and belongs to another owner.
    Foreign,
    /// The API server will not accept it: 403, 422.
    Refused,
}

/// All facts for one decision about one owner object.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// The time.
    pub now: jiff::Timestamp,
    /// Epoch of this process' leadership; grows with every change of leader.
    pub epoch: i64,
    /// A nonce made for this decision, unique for ever; minds may not make random numbers.
    pub nonce: Nonce,
    /// The owner object. A mind is not asked for an owner that does not exist.
    pub owner: Arc<Object>,
    /// All objects of each watched kind that are routed to this owner.
    pub objects: BTreeMap<Resource, Observed<Vec<Arc<Object>>>>,
    /// Objects that the owner refers to by name ([`crate::Mind::references`]): `Known(None)` = does not exist.
    pub references: BTreeMap<ObjectKey, Observed<Option<Arc<Object>>>>,
    /// Answers to the questions of [`crate::Mind::probes`]; `Unknown` until the thresholds are met, or when nobody could ask.
    pub probes: BTreeMap<ProbeKey, Observed<ProbeResult>>,
    /// Answers to the calls of [`crate::Mind::exchanges`] that have ended; one that is missing has not.
    pub exchanges: BTreeMap<ExchangeKey, Answer>,
    /// The lock between regions, as far as [`crate::Mind::lock`] has asked for it.
    pub lock: LockFact,
    /// What failed the last time, if anything, and has not succeeded since.
    pub failure: Option<Failure>,
    /// Defaults that the process was started with, by name (for example the agent's image).
    pub settings: Arc<BTreeMap<String, String>>,
}

impl Snapshot {
    /// Objects of a kind, or why they are not known.
    pub fn all(&self, resource: Resource) -> Result<&[Arc<Object>], String> {
        match self.objects.get(&resource) {
            None => Err(Unread::Unwatched { what: resource.plural }.to_string()),
            Some(observed) => observed.known().map(Vec::as_slice).map_err(str::to_string),
        }
    }

    /// The spec of one watched object by name; `None` if there is no such object.
    ///
    /// # Errors
    /// Why the kind could not be read, or the spec not understood.
    pub fn spec_of<T: DeserializeOwned>(
        &self,
        resource: Resource,
        name: &str,
    ) -> Result<Option<T>, String> {
        let object = self.all(resource)?.iter().find(|o| o.meta.name == name);
        object.map_or(Ok(None), |o| o.part("spec"))
    }
}
