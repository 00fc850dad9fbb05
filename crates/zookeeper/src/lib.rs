//! The mind of `ZookeeperCluster`: pure functions from what was observed to
//! what is to be done. No I/O, no clock, no randomness.
//!
//! An ensemble grows from one server, which is initialized once on one volume;
//! all others join it as observers and are made voters by a change of the
//! configuration that a quorum of the servers takes. A volume that has lost what
//! it acknowledged never comes back under its old server ID: it is replaced.

// `clippy.toml` lists them: clock, randomness, environment, files, network, output.
#![cfg_attr(
    not(test),
    forbid(clippy::disallowed_methods, clippy::disallowed_types, clippy::disallowed_macros)
)]

pub mod build;
pub mod decide;
pub mod facts;
#[cfg(test)]
pub(crate) mod fixtures;
pub mod hazards;
pub mod resources;
pub mod rights;
pub mod status;
pub mod validate;
pub mod words;

use decide::draft::Draft;
use decide::evidence;
use facts::Facts;
use palladion_api::rights::Right;
use palladion_api::words::Reasoned;
use palladion_plan::members::teardown;
use palladion_plan::words::service::Unknown;
use palladion_plan::{Hazard, Mind, Object, ObjectKey, Plan, Resource, Snapshot, Wait, Watch};

/// Decides for every `ZookeeperCluster`.
#[derive(Debug, Default, Clone, Copy)]
pub struct ZookeeperMind;

impl Mind for ZookeeperMind {
    fn name(&self) -> &'static str {
        "zookeeper"
    }

    fn owner(&self) -> Resource {
        resources::CLUSTER
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

    fn references(&self, _owner: &Object) -> Vec<ObjectKey> {
        Vec::new()
    }

    fn decide(&self, snapshot: &Snapshot) -> Plan {
        match Facts::read(snapshot) {
            Err(why) => nothing_known(why),
            Ok(facts) => decide_known(&facts),
        }
    }
}

/// Nothing is decided, and nothing is written, on a guess.
fn nothing_known(why: Unknown) -> Plan {
    let wait = Wait::new(why.reason(), why);
    Plan { waits: vec![wait], ..Plan::default() }
}

fn decide_known(facts: &Facts<'_>) -> Plan {
    let mut draft = Draft::default();
    if facts.snapshot.owner.meta.is_terminating() {
        if status::pause(facts).is_none() {
            teardown::decide(facts, evidence::of_grounds, &mut draft);
        }
        let status = status::deleting(facts, &draft);
        return draft.plan(status);
    }
    let valid = match validate::validated(facts) {
        Ok(valid) => valid,
        Err(refusal) => return draft.plan(status::refused(facts, &refusal)),
    };
    if status::pause(facts).is_none() {
        draft = decide::decide(facts, &valid);
        teardown::keep_finalizer(facts, &mut draft);
    }
    let status = status::of(facts, &valid, &draft);
    draft.plan(status)
}
