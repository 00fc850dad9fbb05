//! The services of a Stack: those that are active get their spec, all at once;
//! the gates make the order. What is not active is left as it is, and so is what
//! the Stack did not create, unless its label gives it to the Stack.

pub mod withdraw;

use crate::build::child::{self, Origin};
use crate::facts::StackFacts;
use crate::owner::Owner;
use crate::resources::{self, STACK as STACK_KIND};
use crate::words::stack::{Child, Happened};
use palladion_api::StackSpec;
use palladion_api::stack::{CREATED_BY, STACK, StackDeletionPolicy, StackService};
use palladion_plan::differ;
use palladion_plan::workload::upsert::upsert;
use palladion_plan::{Draft, Event, FailureClass, NotWritten, Object, ObjectKey, Reason, Trouble};
use std::sync::Arc;

/// What a decision makes of a service.
#[derive(Clone, Debug, PartialEq)]
pub struct Found<'a> {
    /// The service.
    pub service: &'a StackService,
    /// Its object.
    pub object: Option<Arc<Object>>,
    /// Why it is not as it should be, as far as the Stack goes.
    pub trouble: Option<Trouble>,
    /// Did this Stack create it, or does it now?
    pub created: bool,
    /// Has its object the spec that the Stack has for it?
    pub written: Written,
}

/// Has an object the spec that the Stack has for it?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// Yes, or the Stack has none for it.
    Yes,
    /// It is written now: what the object says of itself is not about it.
    Now,
}

/// Write the active services.
pub fn decide<'a>(
    facts: &StackFacts<'_>,
    spec: &'a StackSpec,
    draft: &mut Draft,
) -> Vec<Found<'a>> {
    spec.services.iter().map(|service| one(facts, spec, service, draft)).collect()
}

fn one<'a>(
    facts: &StackFacts<'_>,
    spec: &StackSpec,
    service: &'a StackService,
    draft: &mut Draft,
) -> Found<'a> {
    let owner = &facts.snapshot.owner.meta;
    let resource = resources::of_stack(service.kind);
    let child = ObjectKey::new(resource, &owner.namespace, &service.name).to_string();
    let object = match facts.of(service) {
        Ok(object) => object.cloned(),
        Err(message) => {
            let trouble = Some(Trouble::of(Child::Says { child, message }));
            let written = Written::Yes;
            return Found { service, object: None, trouble, created: false, written };
        }
    };
    let is_created = object.as_ref().is_some_and(|o| {
        o.meta.annotations.get(CREATED_BY).is_some_and(|uid| uid == owner.uid.as_str())
    });
    let found = |trouble: Option<Child>, created| {
        let trouble = trouble.map(Trouble::of);
        Found { service, object: object.clone(), trouble, created, written: Written::Yes }
    };
    if !service.activate {
        return found(None, is_created);
    }
    let labelled = object.as_ref().map(|o| o.meta.labels.get(STACK));
    match labelled {
        // Only its owner can give an object away: a name that is alike is no consent.
        Some(None) => {
            let (label, stack) = (STACK, owner.name.clone());
            return found(Some(Child::NotGiven { child, label, stack }), false);
        }
        Some(Some(stack)) if *stack != owner.name => {
            return found(Some(Child::OfAnother { child, stack: stack.clone() }), false);
        }
        Some(Some(_)) | None => {}
    }
    if object.is_none() && !service.create {
        return found(Some(Child::Absent { child }), false);
    }
    let creates = object.is_none();
    let origin = match creates || is_created {
        true => Origin::Created { with_stack: spec.deletion_policy == StackDeletionPolicy::Delete },
        false => Origin::Found,
    };
    let identity = Owner {
        resource: STACK_KIND,
        label: STACK,
        name: &owner.name,
        namespace: &owner.namespace,
        uid: &owner.uid,
    };
    let wanted = child::child(identity, service, &spec.common, origin);
    let has = object.as_ref().and_then(|o| o.body.get("spec"));
    let is_written = has.is_some_and(|has| differ::contains(has, &wanted["spec"]));
    let event = creates.then(|| Event::normal(Happened::Created { child: child.clone() }));
    let seen: Vec<Arc<Object>> = object.iter().cloned().collect();
    match upsert(resource, &owner.namespace, &seen, wanted, &child, event) {
        // What is wrong with one service holds up no other.
        Ok(step) => {
            draft.begin_part();
            draft.steps.push(step.standing_alone());
        }
        Err(_) => return found(Some(Child::BeingDeleted { child }), is_created),
    }
    let refused = refusal(facts, &child);
    let trouble = refused.or(creates.then_some(Child::Created { child }));
    let written = if is_written { Written::Yes } else { Written::Now };
    Found { written, ..found(trouble, creates || is_created) }
}

/// Is it given to this Stack?
fn is_given(object: &Object, stack: &str) -> bool {
    object.meta.labels.get(STACK).is_some_and(|given| given == stack)
}

/// Why it was not written the last time, if it needs a person.
fn refusal(facts: &StackFacts<'_>, child: &str) -> Option<Child> {
    let all = facts.snapshot.failure.as_ref()?.all.iter();
    let own = all.filter(|failed| failed.object.to_string() == child);
    let refusal = |failed: &NotWritten| {
        let (child, answer) = (child.to_string(), failed.message.clone());
        match failed.class {
            FailureClass::Refused => Some(Child::Refused { child, answer }),
            FailureClass::Foreign => Some(Child::Foreign { child, answer }),
            FailureClass::Transient | FailureClass::Conflict | FailureClass::Held => None,
        }
    };
    own.filter_map(refusal).next()
}

/// Does the trouble need a person, and not time?
pub fn needs_a_person(trouble: &Trouble) -> bool {
    trouble.reason != Reason::CreatingObjects
}
