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
pub mod resources;
pub mod rights;
pub mod status;
pub mod validate;

use decide::{Draft, active, config};
use facts::Facts;
use palladion_api::reasons::Reason;
use palladion_api::rights::Right;
use palladion_plan::{
    Mind, Object, ObjectKey, Plan, ProbeRequest, Resource, Snapshot, Wait, Watch,
};
use serde::Deserialize;
use serde_json::Value;

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
            Err(message) => {
                // Nothing is decided, and nothing is written, on a guess.
                let wait = Wait { reason: Reason::FactUnknown.as_str(), message, until: None };
                Plan { waits: vec![wait], ..Plan::default() }
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
    let refused = |message: &str| plan(Draft::default(), status::refused(facts, message));
    let spec = match &facts.spec {
        Ok(spec) => spec,
        Err(why) => return refused(why),
    };
    let valid = match validate::validate(owner, spec) {
        Ok(valid) => valid,
        Err(refusal) => return refused(&refusal.message),
    };
    if status::pause(facts, spec).is_some() {
        let draft = Draft::idle(facts, &valid);
        let status = status::of(facts, &valid, &draft);
        return plan(draft, status);
    }
    let draft = decide::decide(facts, &valid);
    let status = status::of(facts, &valid, &draft);
    plan(draft, status)
}

fn plan(draft: Draft, status: Value) -> Plan {
    Plan { steps: draft.steps, status, events: draft.events, waits: draft.waits }
}
