//! The mind of `Component`.

use crate::decide::component;
use crate::decide::draft::{Draft, undecided};
use crate::decide::startable::{self, Hindrance, Template};
use crate::facts::{Facts, named};
use crate::validate::{claims, validate};
use crate::words::refusal::{Refusal, Unknown};
use crate::{hazards, resources, rights, status};
use palladion_api::rights::Right;
use palladion_plan::{Hazard, Mind, Object, ObjectKey, Plan, Resource, Snapshot, Watch};

/// Decides for every `Component`.
#[derive(Debug, Default, Clone, Copy)]
pub struct ComponentMind;

impl Mind for ComponentMind {
    fn name(&self) -> &'static str {
        "component"
    }

    fn owner(&self) -> Resource {
        resources::COMPONENT
    }

    fn watches(&self) -> Vec<Watch> {
        resources::watches()
    }

    fn rights(&self) -> &'static [Right] {
        rights::OF_COMPONENTS
    }

    fn hazards(&self) -> &'static [Hazard] {
        hazards::OF_COMPONENTS
    }

    fn references(&self, owner: &Object) -> Vec<ObjectKey> {
        named::references(owner)
    }

    fn decide(&self, snapshot: &Snapshot) -> Plan {
        match Facts::read(snapshot) {
            Err(why) => undecided(Unknown::Fact { why }),
            Ok(facts) => decide_known(&facts),
        }
    }
}

fn decide_known(facts: &Facts<'_>) -> Plan {
    let owner = &facts.snapshot.owner.meta;
    if owner.is_terminating() {
        return Plan::default(); // What it owns is Kubernetes' to collect.
    }
    let refused = |refusal| refused(facts, refusal);
    let spec = match &facts.spec {
        Ok(spec) => spec,
        Err(why) => return refused(Refusal::Unreadable { why: why.clone() }),
    };
    let valid = validate(owner, spec, &facts.snapshot.settings);
    let valid = match valid.and_then(|valid| claims::check(facts, spec).map(|()| valid)) {
        Ok(valid) => valid,
        Err(refusal) => return refused(refusal),
    };
    let template = component::template(facts, &valid);
    let stored = facts.set.as_ref().map(|set| set.template.as_str());
    let is = Template::of(&template, stored);
    let problem = match startable::check(facts.snapshot, &spec.template, is) {
        Ok(problem) => problem,
        Err(Hindrance::Refused(refusal)) => return refused(refusal),
        Err(Hindrance::Unknown(why)) => return undecided(why),
    };
    let mut draft = component::decide(facts, &valid, &template);
    problem.into_iter().for_each(|problem| draft.report(problem));
    if status::component::pause(facts, spec).is_some() {
        // What would be done is not; how everything is, is still said.
        draft.steps.clear();
        draft.waits.clear();
        draft.wake = None;
    }
    let status = status::component::of(facts, &valid, &draft);
    draft.plan(status)
}

/// What runs goes on running, and starts again as it was accepted before.
fn refused(facts: &Facts<'_>, refusal: Refusal) -> Plan {
    let spec = facts.spec.as_ref();
    let mut draft = spec.map_or_else(|_| Draft::default(), |s| component::kept::decide(facts, s));
    if spec.is_ok_and(|spec| status::component::pause(facts, spec).is_some()) {
        draft.steps.clear();
    }
    draft.waits.clear();
    let status = status::component::refused(facts, refusal, &draft);
    draft.plan(status)
}
