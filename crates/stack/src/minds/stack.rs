//! The mind of `Stack`.

use crate::decide::draft::undecided;
use crate::decide::stack::{self, withdraw};
use crate::facts::StackFacts;
use crate::words::refusal::{Refusal, Unknown};
use crate::{resources, rights, status};
use palladion_api::rights::Right;
use palladion_plan::{Draft, Hazard, Mind, Object, ObjectKey, Plan, Resource, Snapshot, Watch};
use serde_json::Value;

/// Decides for every `Stack`.
#[derive(Debug, Default, Clone, Copy)]
pub struct StackMind;

impl Mind for StackMind {
    fn name(&self) -> &'static str {
        "stack"
    }

    fn owner(&self) -> Resource {
        resources::STACK
    }

    fn watches(&self) -> Vec<Watch> {
        resources::watches_of_stacks()
    }

    fn rights(&self) -> &'static [Right] {
        rights::OF_STACKS
    }

    /// None: it writes the specs of services, whose minds prove what they do.
    fn hazards(&self) -> &'static [Hazard] {
        &[]
    }

    fn references(&self, _owner: &Object) -> Vec<ObjectKey> {
        Vec::new()
    }

    fn decide(&self, snapshot: &Snapshot) -> Plan {
        match StackFacts::read(snapshot) {
            Err(why) => undecided(Unknown::Fact { why }),
            Ok(facts) => decide_known(&facts),
        }
    }
}

fn decide_known(facts: &StackFacts<'_>) -> Plan {
    let mut draft = Draft::default();
    let spec = match &facts.spec {
        Ok(spec) => spec,
        Err(_) if facts.snapshot.owner.meta.is_terminating() => return Plan::default(),
        Err(why) => {
            let refusal = Refusal::Unreadable { why: why.clone() };
            return draft.plan(status::stack::refused(facts, refusal));
        }
    };
    // Under a pause as well: Kubernetes deletes without asking who is paused.
    withdraw::decide(facts, spec, &mut draft);
    if facts.snapshot.owner.meta.is_terminating() {
        return draft.plan(Value::Null); // What goes with it is Kubernetes' to collect.
    }
    let withdrawn = draft.steps.len();
    let all = stack::decide(facts, spec, &mut draft);
    if status::stack::pause(facts, spec).is_some() {
        // What would be done is not; how everything is, is still said.
        draft.steps.truncate(withdrawn);
    }
    let status = status::stack::of(facts, spec, &all, &draft);
    draft.plan(status)
}
