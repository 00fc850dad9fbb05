//! Builds steps: what a step must say comes with its making, what it may say is
//! added to it.
//!
//! ```
//! use palladion_plan::{ObjectKey, Step, kinds};
//! use serde_json::json;
//! # let pod = palladion_plan::Object { meta: palladion_plan::Meta::default(), body: json!({}) };
//!
//! let step = Step::patch_seen(kinds::POD, &pod.meta, json!({ "metadata": {} }), "label pod a-0");
//! ```

use crate::figures::Count;
use crate::lock::LockFence;
use crate::object::{Meta, ObjectKey, Resource};
use crate::plan::{
    Event, EventType, Fence, Generated, IfRefused, Loss, Precondition, Propagation, Regarding,
    Step, Subresource,
};
use crate::proof::Proof;
use palladion_api::reasons::Reason;
use palladion_api::words::{Message, Reasoned};
use serde_json::Value;
use std::fmt::Display;

impl Step {
    /// Apply a whole object of ours.
    pub fn apply(
        key: ObjectKey,
        object: Value,
        precondition: Precondition,
        doing: impl Display,
    ) -> Self {
        let doing = doing.to_string();
        let if_refused = IfRefused::EndsPlan;
        let (fences, proof, event) = (Vec::new(), None, None);
        Step::Apply { object, key, precondition, fences, proof, doing, event, if_refused }
    }

    /// Create an object, unless there is one of this name.
    pub fn create(key: ObjectKey, object: Value, doing: impl Display) -> Self {
        let if_refused = IfRefused::EndsPlan;
        let (fences, doing) = (Vec::new(), doing.to_string());
        let generated = Vec::new();
        Step::Create { object, generated, key, fences, doing, event: None, if_refused }
    }

    /// The same with random values, which are made at the write. An object that exists is
    /// left as it is, so that nothing is ever generated twice: for Secrets.
    pub fn generate(
        key: ObjectKey,
        object: Value,
        values: Vec<Generated>,
        doing: impl Display,
    ) -> Self {
        let mut step = Self::create(key, object, doing);
        if let Step::Create { generated, .. } = &mut step {
            *generated = values;
        }
        step
    }

    /// Merge patch of an object under a precondition.
    pub fn patch(
        key: ObjectKey,
        precondition: Precondition,
        patch: Value,
        doing: impl Display,
    ) -> Self {
        Step::Patch {
            key,
            patch,
            subresource: Subresource::None,
            precondition,
            fences: Vec::new(),
            proof: None,
            doing: doing.to_string(),
            event: None,
            counted: None,
        }
    }

    /// Merge patch of an object that was seen, by its uid.
    pub fn patch_seen(resource: Resource, seen: &Meta, patch: Value, doing: impl Display) -> Self {
        let key = ObjectKey::new(resource, &seen.namespace, &seen.name);
        Self::patch(key, Precondition::Uid(seen.uid.clone()), patch, doing)
    }

    /// Merge patch of an object as it was seen: nobody has written to it since.
    pub fn patch_as_seen(
        resource: Resource,
        seen: &Meta,
        patch: Value,
        doing: impl Display,
    ) -> Self {
        let key = ObjectKey::new(resource, &seen.namespace, &seen.name);
        Self::patch(key, Precondition::as_seen(seen), patch, doing)
    }

    /// Merge patch of the status of an object that was seen, by its uid.
    pub fn patch_status(
        resource: Resource,
        seen: &Meta,
        patch: Value,
        doing: impl Display,
    ) -> Self {
        let mut step = Self::patch_seen(resource, seen, patch, doing);
        if let Step::Patch { subresource, .. } = &mut step {
            *subresource = Subresource::Status;
        }
        step
    }

    /// The same of an object as it was seen: nobody has written to it since.
    pub fn patch_status_as_seen(
        resource: Resource,
        seen: &Meta,
        patch: Value,
        doing: impl Display,
    ) -> Self {
        let mut step = Self::patch_as_seen(resource, seen, patch, doing);
        if let Step::Patch { subresource, .. } = &mut step {
            *subresource = Subresource::Status;
        }
        step
    }

    /// Merge patch of the owner's status, if the pointers still have the values
    /// that were seen.
    pub fn compare_and_set(status: Value, seen: Vec<(String, Value)>, doing: impl Display) -> Self {
        let (doing, event, counted) = (doing.to_string(), None, None);
        Step::CompareAndSet { status, seen, lock: None, doing, event, counted }
    }

    /// The same, as long as the region lock is held.
    pub fn under_lock(mut self, fence: Option<LockFence>) -> Self {
        if let Step::CompareAndSet { lock, .. } = &mut self {
            *lock = fence;
        }
        self
    }

    /// Delete an object that was seen, by its uid, with its dependents.
    pub fn delete_seen(resource: Resource, seen: &Meta, loss: Loss, doing: impl Display) -> Self {
        Step::Delete {
            key: ObjectKey::new(resource, &seen.namespace, &seen.name),
            precondition: Precondition::Uid(seen.uid.clone()),
            loss,
            propagation: Propagation::Background,
            fences: Vec::new(),
            proof: None,
            doing: doing.to_string(),
            event: None,
        }
    }

    /// Delete an object as it was seen: nobody has written to it since.
    pub fn delete_as_seen(
        resource: Resource,
        seen: &Meta,
        loss: Loss,
        doing: impl Display,
    ) -> Self {
        let mut step = Self::delete_seen(resource, seen, loss, doing);
        if let Step::Delete { precondition, .. } = &mut step {
            *precondition = Precondition::as_seen(seen);
        }
        step
    }

    /// Of an apply or a creation that nothing else in its plan supposes: the rest is
    /// carried out though it is refused.
    pub fn standing_alone(self) -> Self {
        self.if_refused(IfRefused::StandsAlone)
    }

    /// The same where the next step, which records it, is left out with it.
    pub fn leaving_out_next(self) -> Self {
        self.if_refused(IfRefused::LeavesOutNext)
    }

    fn if_refused(mut self, means: IfRefused) -> Self {
        match &mut self {
            Step::Apply { if_refused, .. } | Step::Create { if_refused, .. } => {
                *if_refused = means;
            }
            Step::Patch { .. }
            | Step::CompareAndSet { .. }
            | Step::Issue { .. }
            | Step::Delete { .. } => {}
        }
        self
    }

    /// Leave the dependents of what is deleted behind.
    pub fn orphaning(mut self) -> Self {
        if let Step::Delete { propagation, .. } = &mut self {
            *propagation = Propagation::Orphan;
        }
        self
    }

    /// Of a pod that serves: it is evicted, so that PodDisruptionBudgets have a say.
    pub fn evicting(mut self) -> Self {
        if let Step::Delete { loss, .. } = &mut self {
            *loss = Loss::Serving;
        }
        self
    }

    /// Only while this holds elsewhere, and what was said before. A claim is a condition by
    /// itself and takes none.
    pub fn fenced(mut self, by: impl Into<Option<Fence>>) -> Self {
        match &mut self {
            Step::Apply { fences, .. }
            | Step::Create { fences, .. }
            | Step::Patch { fences, .. }
            | Step::Delete { fences, .. } => fences.extend(by.into()),
            Step::CompareAndSet { .. } | Step::Issue { .. } => {}
        }
        self
    }

    /// With what proves that it may be taken. A claim is a condition by itself and takes
    /// none, and neither does a creation: it takes nothing away.
    pub fn proven(mut self, by: impl Into<Option<Proof>>) -> Self {
        match &mut self {
            Step::Apply { proof, .. } | Step::Patch { proof, .. } | Step::Delete { proof, .. } => {
                *proof = by.into();
            }
            Step::Create { .. } | Step::CompareAndSet { .. } | Step::Issue { .. } => {}
        }
        self
    }

    /// Emit this event when it is done.
    pub fn announced(mut self, said: impl Into<Option<Event>>) -> Self {
        match &mut self {
            Step::Apply { event, .. }
            | Step::Create { event, .. }
            | Step::Patch { event, .. }
            | Step::CompareAndSet { event, .. }
            | Step::Issue { event, .. }
            | Step::Delete { event, .. } => *event = said.into(),
        }
        self
    }
}

impl Step {
    /// Count this when it is done. Only what changes an object can be counted.
    pub fn counting(mut self, one: impl Into<Option<Count>>) -> Self {
        match &mut self {
            Step::Patch { counted, .. } | Step::CompareAndSet { counted, .. } => {
                *counted = one.into();
            }
            Step::Apply { .. } | Step::Create { .. } | Step::Issue { .. } | Step::Delete { .. } => {
            }
        }
        self
    }

    /// What is counted when it is done.
    pub fn counted(&self) -> Option<&Count> {
        match self {
            Step::Patch { counted, .. } | Step::CompareAndSet { counted, .. } => counted.as_ref(),
            Step::Apply { .. } | Step::Create { .. } | Step::Issue { .. } | Step::Delete { .. } => {
                None
            }
        }
    }
}

impl Event {
    /// Expected.
    pub fn normal(sentence: impl Reasoned) -> Self {
        Self::of(EventType::Normal, sentence.reason(), sentence)
    }

    /// Needs eyes.
    pub fn warning(sentence: impl Reasoned) -> Self {
        Self::of(EventType::Warning, sentence.reason(), sentence)
    }

    /// Under a reason that is not the sentence's own.
    pub fn of(type_: EventType, reason: Reason, message: impl Into<Message>) -> Self {
        Self { type_, reason, message: message.into(), about: None }
    }

    /// It is about this object, too: whoever looks at that one alone finds it there.
    pub fn also_about(mut self, resource: Resource, seen: &Meta) -> Self {
        let key = ObjectKey::new(resource, &seen.namespace, &seen.name);
        self.about = Some(Regarding { key, uid: seen.uid.clone() });
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinds;
    use serde_json::json;

    #[test]
    fn what_a_step_may_say_is_added_to_what_it_must() {
        let seen = Meta { name: "a".into(), uid: "1".into(), ..Meta::default() };
        let event =
            Event::of(EventType::Normal, Reason::Synced, Message::quoted("pod a is deleted"));
        let step = Step::delete_seen(kinds::POD, &seen, Loss::Nothing, "delete pod a")
            .orphaning()
            .announced(event.clone());
        assert!(matches!(
            &step,
            Step::Delete { propagation: Propagation::Orphan, precondition: Precondition::Uid(uid), event: Some(e), .. }
                if uid.as_str() == "1" && *e == event
        ));
        let status = Step::patch_status(kinds::POD, &seen, json!({}), "d");
        assert!(matches!(status, Step::Patch { subresource: Subresource::Status, .. }));
    }
}
