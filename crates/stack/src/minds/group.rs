//! The mind of `NodeAgentGroup`.

use crate::decide::draft::{Draft, undecided};
use crate::decide::group;
use crate::decide::startable::{self, Hindrance, Template};
use crate::facts::{GroupFacts, named};
use crate::validate::validate_group;
use crate::words::refusal::{GroupRefusal, Refusal, Unknown};
use crate::{hazards, resources, rights, status};
use palladion_api::rights::Right;
use palladion_plan::{Hazard, Mind, Object, ObjectKey, Plan, Resource, Snapshot, Watch};

/// Decides for every `NodeAgentGroup`.
#[derive(Debug, Default, Clone, Copy)]
pub struct GroupMind;

impl Mind for GroupMind {
    fn name(&self) -> &'static str {
        "node-agent-group"
    }

    fn owner(&self) -> Resource {
        resources::GROUP
    }

    fn watches(&self) -> Vec<Watch> {
        resources::watches_of_groups()
    }

    fn rights(&self) -> &'static [Right] {
        rights::OF_GROUPS
    }

    fn hazards(&self) -> &'static [Hazard] {
        hazards::OF_GROUPS
    }

    fn references(&self, owner: &Object) -> Vec<ObjectKey> {
        named::references(owner)
    }

    fn decide(&self, snapshot: &Snapshot) -> Plan {
        match GroupFacts::read(snapshot) {
            Err(why) => undecided(Unknown::Fact { why }),
            Ok(facts) => decide_known(&facts),
        }
    }
}

fn decide_known(facts: &GroupFacts<'_>) -> Plan {
    if facts.snapshot.owner.meta.is_terminating() {
        return Plan::default(); // What it owns is Kubernetes' to collect.
    }
    let refused = |refusal| refused(facts, refusal);
    let spec = match &facts.spec {
        Ok(spec) => spec,
        Err(why) => {
            let refusal = Refusal::Unreadable { why: why.clone() };
            return refused(GroupRefusal::Shared { refusal });
        }
    };
    let valid = match validate_group(facts, spec) {
        Ok(valid) => valid,
        Err(refusal) => return refused(refusal),
    };
    let template = group::template(facts, &valid);
    let stored = facts.set.as_ref().map(|set| set.template.as_str());
    let is = Template::of(&template, stored);
    let problem = match startable::check(facts.snapshot, &spec.template, is) {
        Ok(problem) => problem,
        Err(Hindrance::Refused(refusal)) => return refused(GroupRefusal::Shared { refusal }),
        Err(Hindrance::Unknown(why)) => return undecided(why),
    };
    let mut draft = group::decide(facts, &valid, &template);
    problem.into_iter().for_each(|problem| draft.report(problem));
    if status::group::pause(facts, spec).is_some() {
        // What would be done is not; how everything is, is still said.
        draft.steps.clear();
        draft.waits.clear();
        draft.wake = None;
    }
    let status = status::group::of(facts, &valid, &draft);
    draft.plan(status)
}

/// What runs goes on running, and starts again as it was accepted before.
fn refused(facts: &GroupFacts<'_>, refusal: GroupRefusal) -> Plan {
    let spec = facts.spec.as_ref();
    let mut draft = spec.map_or_else(|_| Draft::default(), |s| group::kept::decide(facts, s));
    if spec.is_ok_and(|spec| status::group::pause(facts, spec).is_some()) {
        draft.steps.clear();
    }
    draft.waits.clear();
    let status = status::group::refused(facts, refusal, &draft);
    draft.plan(status)
}
