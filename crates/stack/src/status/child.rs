//! How a service of a Stack is: what the Stack knows of it, and what it says itself. One
//! that serves may still reject the spec that the Stack has for it, or report a trouble.

use crate::decide::stack::{Found, Written, needs_a_person};
use crate::facts::StackFacts;
use crate::words::stack::Child;
use palladion_api::conditions::{ACCEPTED, AVAILABLE, DEGRADED, PAUSED, PROGRESSING};
use palladion_api::stack::StackKind;
use palladion_plan::{Object, ObjectKey, Trouble};
use serde_json::Value;

/// Is anything left to do for a service?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// No.
    Done,
    /// Yes.
    Open,
}

/// How a service is.
#[derive(Clone, Debug, PartialEq)]
pub enum Stand {
    /// It serves as its spec says.
    Ready,
    /// It serves, and something is wrong with it.
    Degraded(Trouble, Work),
    /// It serves, and its newest spec is not carried out yet: it was not read, or is on its way.
    Behind(Trouble),
    /// It serves, and does not carry out its spec, because it is paused.
    Paused(Trouble),
    /// It is on its way, or nothing is known of it.
    Waiting(Option<Trouble>),
    /// A person has to see to it: its spec is not what the Stack has.
    Stuck(Trouble),
}

impl Stand {
    /// Does it serve, with the spec of the Stack or on its way to it?
    pub fn is_ready(&self) -> bool {
        match self {
            Stand::Ready | Stand::Degraded(..) | Stand::Behind(_) | Stand::Paused(_) => true,
            Stand::Waiting(_) | Stand::Stuck(_) => false,
        }
    }

    /// Is there nothing left to do for it?
    pub fn is_done(&self) -> bool {
        match self {
            Stand::Ready | Stand::Degraded(_, Work::Done) => true,
            Stand::Degraded(_, Work::Open)
            | Stand::Behind(_)
            | Stand::Paused(_)
            | Stand::Waiting(_)
            | Stand::Stuck(_) => false,
        }
    }

    /// Why it is not as it should be.
    pub fn trouble(&self) -> Option<&Trouble> {
        match self {
            Stand::Ready => None,
            Stand::Degraded(trouble, _)
            | Stand::Behind(trouble)
            | Stand::Paused(trouble)
            | Stand::Stuck(trouble) => Some(trouble),
            Stand::Waiting(trouble) => trouble.as_ref(),
        }
    }

    /// What a person has to see to.
    pub fn problem(&self) -> Option<&Trouble> {
        match self {
            Stand::Degraded(trouble, _) | Stand::Stuck(trouble) => Some(trouble),
            Stand::Ready | Stand::Behind(_) | Stand::Paused(_) | Stand::Waiting(_) => None,
        }
    }
}

/// How a service is.
pub fn stand(facts: &StackFacts<'_>, found: &Found<'_>) -> Stand {
    match (&found.trouble, &found.object) {
        (Some(trouble), _) if needs_a_person(trouble) => Stand::Stuck(trouble.clone()),
        (Some(trouble), _) => Stand::Waiting(Some(trouble.clone())),
        (None, None) => Stand::Waiting(None),
        (None, Some(object)) => match found.service.kind {
            // It has no state: it is there or it is not.
            StackKind::NodeAgentProfile => Stand::Ready,
            StackKind::CassandraCluster
            | StackKind::ZookeeperCluster
            | StackKind::RabbitmqCluster
            | StackKind::Component
            | StackKind::Registration
            | StackKind::NodeAgentGroup => says(facts, found, object),
        },
    }
}

/// What it says itself.
fn says(facts: &StackFacts<'_>, found: &Found<'_>, object: &Object) -> Stand {
    let namespace = &facts.snapshot.owner.meta.namespace;
    let resource = crate::resources::of_stack(found.service.kind);
    let key = ObjectKey::new(resource, namespace, &object.meta.name);
    let child = key.to_string();
    let message = |type_: &str, status: &str| {
        let condition = condition(object, type_).filter(|c| c["status"] == status)?;
        Some(condition["message"].as_str().unwrap_or_default().to_string())
    };
    if let Some(message) = message(ACCEPTED, "False") {
        return Stand::Stuck(Trouble::of(Child::NotAccepted { child, message }));
    }
    let progress = condition(object, PROGRESSING).and_then(|c| c["message"].as_str());
    if message(AVAILABLE, "True").is_none() {
        return Stand::Waiting(Some(Trouble::of(match progress {
            Some(message) => Child::Says { child, message: message.to_string() },
            None => Child::Silent { child },
        })));
    }
    // It says of its newest spec that it was read, and no word of it was done.
    let paused = message(PAUSED, "True").map(|message| (child.clone(), message));
    let progressing = message(PROGRESSING, "True").map(|message| (child.clone(), message));
    let is_read = found.written == Written::Yes
        && object.int_at("/status/observedGeneration") == Some(object.meta.generation);
    let stand = match (paused, is_read, progressing) {
        (Some((child, message)), _, _) => {
            Stand::Paused(Trouble::of(Child::Paused { child, message }))
        }
        (None, false, _) => Stand::Behind(Trouble::of(Child::Behind { child: child.clone() })),
        (None, true, Some((child, message))) => {
            Stand::Behind(Trouble::of(Child::Progressing { child, message }))
        }
        (None, true, None) => Stand::Ready,
    };
    match message(DEGRADED, "True") {
        Some(message) => {
            let work = if stand.is_done() { Work::Done } else { Work::Open };
            Stand::Degraded(Trouble::of(Child::Degraded { child, message }), work)
        }
        None => stand,
    }
}

fn condition<'a>(object: &'a Object, type_: &str) -> Option<&'a Value> {
    let all = object.at("/status/conditions").and_then(Value::as_array)?;
    all.iter().find(|c| c["type"] == type_)
}
