//! What is to be done. A plan leaves no choices: the engine carries out its
//! steps in order and stops at the first that fails, unless that one stands alone.

use crate::figures::{Count, Figure};
use crate::issue::Order;
use crate::lock::LockFence;
use crate::object::{Meta, ObjectKey};
use crate::proof::Proof;
use crate::wait::Wait;
use palladion_api::ids::Uid;
use palladion_api::reasons::Reason;
use palladion_api::words::Message;
use serde::Serialize;
use serde_json::Value;

/// What the engine checks before a write, in the same request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub enum Precondition {
    /// The object must not exist yet; one of that name is foreign and not touched.
    Absent,
    /// The object must still have this uid.
    Uid(Uid),
    /// The object must still have this uid and resourceVersion.
    Version {
        /// Its uid.
        uid: Uid,
        /// Its resourceVersion.
        resource_version: String,
    },
}

impl Precondition {
    /// The object as it was seen: nobody has written to it since.
    pub fn as_seen(seen: &Meta) -> Self {
        let (uid, resource_version) = (seen.uid.clone(), seen.resource_version.clone());
        Self::Version { uid, resource_version }
    }
}

/// A condition on another object, read live right before the write: the write
/// belongs to a turn, and the turn must still be ours. With an empty pointer
/// and `null` expected, the object itself must not exist.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Fence {
    /// The object that holds the turn.
    pub object: ObjectKey,
    /// JSON pointer into the whole object, for example `/status/turn/nonce`.
    pub pointer: String,
    /// The value that must be there.
    pub expected: Value,
    /// The region lock that must be held besides, checked after the object was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lock: Option<LockFence>,
}

/// What a deletion can lose; why it may, says the proof that the step carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Loss {
    /// Nothing: the object can be recreated from what is known.
    Nothing,
    /// A process: a pod of a member, or what a set runs.
    Process,
    /// A process that serves: its pod is evicted, so that PodDisruptionBudgets have a say.
    Serving,
    /// The record of a pod whose machine is gone: no kubelet will ever end it, so it goes at once.
    Remains,
    /// Data: a claim.
    Data,
}

/// What the refusal of a step by the API server (403, 422) means for its plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum IfRefused {
    /// Its part of the plan ends: what follows in it may suppose that it was done.
    EndsPlan,
    /// Nothing that follows supposes it: the rest is carried out.
    StandsAlone,
    /// The next step alone supposes it, and is left out with it: the rest is carried out.
    LeavesOutNext,
}

/// A random value of an object that is created, such as a password.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Generated {
    /// JSON pointer to the object, a map, that it is put into.
    pub at: String,
    /// Its key there.
    pub key: String,
    /// How many characters it has, each a hexadecimal digit.
    pub digits: usize,
}

impl Generated {
    /// The object with these values, which `random` makes: so many hexadecimal digits.
    /// Where a pointer leads to no map, nothing is added.
    pub fn filled(object: &Value, all: &[Self], mut random: impl FnMut(usize) -> String) -> Value {
        let mut object = object.clone();
        for value in all {
            if let Some(map) = object.pointer_mut(&value.at).and_then(Value::as_object_mut) {
                map.insert(value.key.clone(), Value::from(random(value.digits)));
            }
        }
        object
    }
}

/// One write.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum Step {
    /// Server-side apply of a whole object that we own, only where it differs.
    Apply {
        /// The object, with `apiVersion`, `kind` and `metadata`.
        object: Value,
        /// Which object it is.
        key: ObjectKey,
        /// What must hold of it.
        precondition: Precondition,
        /// What must hold elsewhere.
        fences: Vec<Fence>,
        /// Why it may be taken, where it could hurt.
        proof: Option<Proof>,
        /// What is being done, for errors and logs: "create the StatefulSet of rack a".
        doing: String,
        /// Event to emit when it was done and changed something.
        event: Option<Event>,
        /// What becomes of the rest of the plan if it is refused.
        #[serde(skip)]
        if_refused: IfRefused,
    },
    /// Create an object that is not ours from then on. One of this name that
    /// exists already is what was wanted, whoever made it.
    Create {
        /// The object, with `apiVersion`, `kind` and `metadata`.
        object: Value,
        /// Values of the object that nobody knows before it is created: made at the write,
        /// and in no plan, snapshot or log.
        generated: Vec<Generated>,
        /// Which object it is.
        key: ObjectKey,
        /// What must hold elsewhere.
        fences: Vec<Fence>,
        /// What is being done.
        doing: String,
        /// Event to emit when it was created.
        event: Option<Event>,
        /// What becomes of the rest of the plan if it is refused.
        #[serde(skip)]
        if_refused: IfRefused,
    },
    /// JSON merge patch of some fields of an object, which is not wholly ours.
    Patch {
        /// Which object.
        key: ObjectKey,
        /// The merge patch.
        patch: Value,
        /// Patch the status subresource?
        subresource: Subresource,
        /// What must hold of it.
        precondition: Precondition,
        /// What must hold elsewhere.
        fences: Vec<Fence>,
        /// Why it may be taken, where it could hurt.
        proof: Option<Proof>,
        /// What is being done.
        doing: String,
        /// Event to emit when it was done.
        event: Option<Event>,
        /// What is counted when it was done.
        #[serde(skip)]
        counted: Option<Count>,
    },
    /// Merge patch of the owner's status under a resourceVersion read live:
    /// how the turn is taken, changed and ended.
    CompareAndSet {
        /// Merge patch of `status`.
        status: Value,
        /// JSON pointers into the owner with the values that were seen; if a live read differs, nothing is written.
        seen: Vec<(String, Value)>,
        /// The region lock that must be held, checked after the owner was read.
        #[serde(skip_serializing_if = "Option::is_none")]
        lock: Option<LockFence>,
        /// What is being done.
        doing: String,
        /// Event to emit when it was done.
        event: Option<Event>,
        /// What is counted when it was done.
        #[serde(skip)]
        counted: Option<Count>,
    },
    /// Merge patch of an object with what an authority of the owner makes for it:
    /// the authority itself, or a certificate. The rest of the plan does not depend on it.
    Issue {
        /// Which object.
        key: ObjectKey,
        /// The authority, by its name within the owner.
        authority: String,
        /// What is made.
        order: Order,
        /// The merge patch.
        patch: Value,
        /// JSON pointer into the patch: what was made is added there.
        at: String,
        /// Patch the status subresource?
        subresource: Subresource,
        /// What must hold of the object.
        precondition: Precondition,
        /// What is being done.
        doing: String,
        /// Event to emit when it was done.
        event: Option<Event>,
    },
    /// Delete one object by uid.
    Delete {
        /// Which object.
        key: ObjectKey,
        /// [`Precondition::Uid`] or [`Precondition::Version`].
        precondition: Precondition,
        /// What it can lose.
        loss: Loss,
        /// Leave dependents behind?
        propagation: Propagation,
        /// What must hold elsewhere.
        fences: Vec<Fence>,
        /// Why it may be taken, where it could hurt.
        proof: Option<Proof>,
        /// What is being done.
        doing: String,
        /// Event to emit when it was done.
        event: Option<Event>,
    },
}

impl Step {
    /// What the step does, for errors and logs.
    pub fn doing(&self) -> &str {
        match self {
            Step::Apply { doing, .. }
            | Step::Create { doing, .. }
            | Step::Patch { doing, .. }
            | Step::CompareAndSet { doing, .. }
            | Step::Issue { doing, .. }
            | Step::Delete { doing, .. } => doing,
        }
    }

    /// What becomes of the rest of its plan when it is refused?
    fn when_refused(&self) -> IfRefused {
        match self {
            Step::Apply { if_refused, .. } | Step::Create { if_refused, .. } => *if_refused,
            Step::Issue { .. } => IfRefused::StandsAlone,
            Step::Patch { .. } | Step::CompareAndSet { .. } | Step::Delete { .. } => {
                IfRefused::EndsPlan
            }
        }
    }

    /// Does the rest of its plan go on when it is refused?
    pub fn stands_alone(&self) -> bool {
        self.when_refused() != IfRefused::EndsPlan
    }

    /// Is the next step left out with it when it is refused?
    pub fn leaves_out_next(&self) -> bool {
        self.when_refused() == IfRefused::LeavesOutNext
    }

    /// What must hold elsewhere.
    pub fn fences(&self) -> &[Fence] {
        match self {
            Step::Apply { fences, .. }
            | Step::Create { fences, .. }
            | Step::Patch { fences, .. }
            | Step::Delete { fences, .. } => fences,
            Step::CompareAndSet { .. } | Step::Issue { .. } => &[],
        }
    }

    /// Why it may be taken, as far as it says so.
    pub fn proof(&self) -> Option<&Proof> {
        match self {
            Step::Apply { proof, .. } | Step::Patch { proof, .. } | Step::Delete { proof, .. } => {
                proof.as_ref()
            }
            Step::Create { .. } | Step::CompareAndSet { .. } | Step::Issue { .. } => None,
        }
    }
}

/// Which part of the object a patch is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Subresource {
    /// The object itself.
    None,
    /// Its status.
    Status,
}

/// Kubernetes' deletion propagation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Propagation {
    /// Dependents are deleted by the garbage collector.
    Background,
    /// Dependents stay.
    Orphan,
}

/// Normal or Warning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum EventType {
    /// Expected.
    Normal,
    /// Needs eyes.
    Warning,
}

/// A Kubernetes event about the owner, and about another object if it names one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Event {
    /// Normal or Warning.
    pub type_: EventType,
    /// A documented reason.
    pub reason: Reason,
    /// For people.
    pub message: Message,
    /// The object that it is about besides the owner.
    pub about: Option<Regarding>,
}

/// An object that an event is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Regarding {
    /// Which object.
    pub key: ObjectKey,
    /// Its uid, by which its events are found.
    pub uid: Uid,
}

/// The outcome of one decision.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Plan {
    /// Writes, in order.
    pub steps: Vec<Step>,
    /// Where the parts behind the first one begin. What stands in a part supposes nothing of
    /// the parts before it.
    #[serde(skip)]
    pub parts: Vec<usize>,
    /// Desired status of the owner, by top-level field; a `null` removes the
    /// field, a field that is missing is left alone.
    pub status: Value,
    /// Events without a step. The engine itself emits one per changed condition.
    pub events: Vec<Event>,
    /// What is waited for.
    pub waits: Vec<Wait>,
    /// When to look again although nothing is waited for.
    pub wake: Option<jiff::Timestamp>,
    /// Values of gauges for this owner.
    #[serde(skip)]
    pub figures: Vec<Figure>,
}

impl Plan {
    /// The earliest time at which to look again.
    pub fn wake_at(&self) -> Option<jiff::Timestamp> {
        self.waits.iter().filter_map(|w| w.until).chain(self.wake).min()
    }
}
