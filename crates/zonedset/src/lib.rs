//! The mind of `ZonedStatefulSet`: pure functions from what was observed to
//! what is to be done. No I/O, no clock, no randomness.

// `clippy.toml` lists them: clock, randomness, environment, files, network, output.
#![cfg_attr(
    not(test),
    forbid(clippy::disallowed_methods, clippy::disallowed_types, clippy::disallowed_macros)
)]

pub mod build;
pub mod decide;
pub mod facts;
pub mod hazards;
pub mod resources;
pub mod rights;
pub mod status;
pub mod validate;
pub mod words;

use decide::draft::{self, Draft};
use decide::{active, config};
use facts::Facts;
use palladion_api::rights::Right;
use palladion_plan::{
    Hazard, Mind, Object, ObjectKey, Plan, ProbeRequest, Resource, Snapshot, Watch,
};
use serde::Deserialize;
use serde_json::Value;
use words::refusal::{Refusal, Unknown};

/// Decides for every `ZonedStatefulSet`.
#[derive(Debug, Default, Clone, Copy)]
pub struct ZonedSetMind;

impl Mind for ZonedSetMind {
    fn name(&self) -> &'static str {
        "zonedset"
    }

    fn owner(&self) -> Resource {
        resources::ZONED_SET
    }

    fn watches(&self) -> Vec<Watch> {
        resources::watches()
    }

    fn rights(&self) -> &'static [Right] {
        rights::RIGHTS
    }

    fn hazards(&self) -> &'static [Hazard] {
        hazards::HAZARDS
    }

    fn references(&self, owner: &Object) -> Vec<ObjectKey> {
        let Some(Ok(spec)) =
            owner.body.get("spec").map(palladion_api::ZonedStatefulSetSpec::deserialize)
        else {
            return Vec::new();
        };
        let status = owner.body.get("status").cloned().unwrap_or_default();
        let status = palladion_api::ZonedStatefulSetStatus::deserialize(status).unwrap_or_default();
        config::watched(&owner.meta.namespace, &spec, &status)
    }

    fn probes(&self, snapshot: &Snapshot) -> Vec<ProbeRequest> {
        let Ok(facts) = Facts::read(snapshot) else {
            return Vec::new();
        };
        let Ok(spec) = &facts.spec else {
            return Vec::new();
        };
        match validate::validate(&snapshot.owner.meta, spec) {
            Ok(valid) if status::pause(&facts, spec).is_none() => active::probes(&facts, &valid),
            Ok(_) | Err(_) => Vec::new(),
        }
    }

    fn decide(&self, snapshot: &Snapshot) -> Plan {
        match Facts::read(snapshot) {
            Err(why) => {
                // Nothing is decided, and nothing is written, on a guess.
                let mut draft = Draft::default();
                draft.wait_for(Unknown::Fact { why });
                draft.plan(Value::Null)
            }
            Ok(facts) => decide_known(&facts),
        }
    }
}

fn decide_known(facts: &Facts<'_>) -> Plan {
    let owner = &facts.snapshot.owner.meta;
    if owner.is_terminating() {
        return Plan::default(); // What it owns is Kubernetes' to collect.
    }
    let refused = |refusal| Draft::default().plan(status::refused(facts, refusal));
    let spec = match &facts.spec {
        Ok(spec) => spec,
        Err(why) => return refused(Refusal::Unreadable { why: why.clone() }),
    };
    let valid = match validate::validate(owner, spec) {
        Ok(valid) => valid,
        Err(refusal) => return refused(refusal),
    };
    let draft = match status::pause(facts, spec) {
        Some(_) => draft::idle(facts, &valid),
        None => decide::decide(facts, &valid),
    };
    let status = status::of(facts, &valid, &draft);
    draft.plan(status)
}
