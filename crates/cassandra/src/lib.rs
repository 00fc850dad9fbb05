//! The mind of `CassandraCluster`: pure functions from what was observed to
//! what is to be done. No I/O, no clock, no randomness.

// `clippy.toml` lists them: clock, randomness, environment, files, network, output.
#![cfg_attr(
    not(test),
    forbid(clippy::disallowed_methods, clippy::disallowed_types, clippy::disallowed_macros)
)]
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test may fail where it stands"))]

pub mod build;
pub mod clients;
pub mod decide;
pub mod facts;
#[cfg(test)]
pub(crate) mod fixtures;
pub mod generations;
pub mod hazards;
mod inputs;
pub mod internode;
pub mod metrics;
pub mod orphans;
pub mod resources;
pub mod rights;
pub mod status;
pub mod trust;
pub mod validate;
pub mod volumes;
pub mod words;

use decide::draft::Draft;
use decide::maintenance::{absences, hints};
use decide::objects::teardown;
use decide::{backups, certificates, departure, left, restores, retention, schedules, tasks};
use facts::Facts;
use generations::Generations;
use palladion_api::metrics::Metric;
use palladion_api::reasons::Reason;
use palladion_api::rights::Right;
use palladion_api::words::Reasoned;
use palladion_plan::{
    Hazard, LockQuestion, Mind, Object, ObjectKey, Plan, Resource, Snapshot, Wait, Watch,
};
use serde_json::Value;
use words::certificates::Unsigned;
use words::refusal::Refusal;
use words::status::{Paused, Unknown};

/// Decides for every `CassandraCluster`.
#[derive(Debug, Clone, Copy)]
pub struct CassandraMind {
    /// How it renders a spec.
    pub generations: Generations,
}

impl Default for CassandraMind {
    fn default() -> Self {
        CassandraMind { generations: generations::OF_THIS_RELEASE }
    }
}

impl Mind for CassandraMind {
    fn name(&self) -> &'static str {
        "cassandra"
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

    fn metrics(&self) -> &'static [Metric] {
        metrics::DECLARED
    }

    fn hazards(&self) -> &'static [Hazard] {
        hazards::HAZARDS
    }

    fn is_locked(&self, owner: &Object) -> bool {
        owner.part("spec").ok().flatten().is_some_and(|spec| facts::region::is_locked(&spec))
    }

    fn lock(&self, snapshot: &Snapshot) -> Option<Option<LockQuestion>> {
        if !self.is_locked(&snapshot.owner) {
            return Some(None);
        }
        // What was begun under the lock is not handed to others because a fact is missing.
        if status::unknown(snapshot).is_some() {
            return None;
        }
        let facts = Facts::read(snapshot).ok()?;
        decide::lock::question(&facts, |supposed| self.decide(supposed))
    }

    fn open_work(&self) -> &'static [&'static str] {
        &["/status/turn"]
    }

    fn references(&self, owner: &Object) -> Vec<ObjectKey> {
        let racks = owner.at("/spec/datacenter/racks").and_then(Value::as_array);
        let template = owner.at("/spec/datacenter/rackTemplate");
        let names = racks.into_iter().flatten().chain(template).flat_map(|rack| {
            ["configMapName", "jmxExporterConfigMapName"].map(|field| rack[field].as_str())
        });
        let mut keys: Vec<ObjectKey> = names
            .flatten()
            .map(|name| ObjectKey::new(resources::CONFIG_MAP, &owner.meta.namespace, name))
            .collect();
        keys.sort();
        keys.dedup();
        keys
    }

    fn decide(&self, snapshot: &Snapshot) -> Plan {
        if let Some(why) = status::unknown(snapshot) {
            return nothing_known(why);
        }
        match Facts::read(snapshot) {
            Err(why) => nothing_known(why),
            Ok(facts) => {
                let mut plan = decide_known(&facts, self.generations);
                plan.figures = metrics::figures(&facts, &plan.status);
                plan
            }
        }
    }
}

/// Nothing is decided, and nothing is written, on a guess.
fn nothing_known(why: Unknown) -> Plan {
    let wait = Wait::new(why.reason(), why);
    Plan { waits: vec![wait], ..Plan::default() }
}

/// Of a ring whose spec is refused nothing is decided; what happens to it is told, and who
/// misses writes is written down (ADR 25).
fn observed(facts: &Facts<'_>, refusal: &Refusal) -> Plan {
    let mut draft = Draft::default();
    absences::decide(facts, hints::rendered_window(facts), &mut draft);
    // First: that the spec is refused is in another condition, too.
    certificates::expiring::report(facts, Unsigned::NotAccepted, &mut draft);
    // What cannot be read now may be read in a moment.
    if refusal.reason() != Reason::FactUnknown {
        draft.report(refusal.clone());
    }
    status::views::note(facts, &mut draft);
    let status = status::refused(facts, refusal, &draft);
    tasks::hold(facts, &status::holding_tasks(facts), &mut draft);
    backups::hold(facts, &mut draft);
    restores::hold(facts, &mut draft);
    schedules::hold(facts, None, &status::holding(facts), &mut draft);
    draft.plan(status)
}

fn decide_known(facts: &Facts<'_>, generations: Generations) -> Plan {
    if facts.snapshot.owner.meta.is_terminating() {
        let mut draft = Draft::default();
        if status::pause(facts).is_none() {
            tasks::end_all(facts, &mut draft);
            backups::end_all(facts, &mut draft);
            restores::end_all(facts, &mut draft);
            teardown::decide(facts, &mut draft);
        }
        let status = status::deleting(facts, &draft);
        return draft.plan(status);
    }
    let valid = match inputs::validated(facts, generations) {
        Ok(valid) => departure::with_targets(facts, valid),
        Err(refusal) => return observed(facts, &refusal),
    };
    if let Some(paused) = status::pause(facts) {
        let mut draft = Draft::default();
        absences::decide(facts, hints::window(&valid), &mut draft);
        let unsigned = match paused {
            Paused::Here => Unsigned::Paused,
            Paused::Everywhere => Unsigned::PausedEverywhere,
        };
        certificates::expiring::report(facts, unsigned, &mut draft);
        status::views::note(facts, &mut draft);
        let status = status::of(facts, &valid, &draft);
        tasks::hold(facts, &status::holding_tasks(facts), &mut draft);
        backups::hold(facts, &mut draft);
        restores::hold(facts, &mut draft);
        schedules::hold(facts, Some(&valid), &status::holding(facts), &mut draft);
        return draft.plan(status);
    }
    let mut draft = decide::decide(facts, &valid);
    teardown::keep_finalizer(facts, &mut draft);
    status::views::note(facts, &mut draft);
    let status = status::of(facts, &valid, &draft);
    // After the status and behind all other steps: neither the past nor what comes
    // again and again is work of the ring. Each goes on though a step before it is refused.
    draft.begin_part();
    tasks::tidy(facts, &mut draft);
    certificates::decide(facts, &valid, &mut draft);
    draft.begin_part();
    // Somebody waits for a restore; a backup can be taken after it.
    restores::decide(facts, &valid, &mut draft);
    draft.begin_part();
    backups::decide(facts, &valid, retention::elsewhere::of, &mut draft);
    draft.begin_part();
    retention::decide(facts, &valid, &mut draft);
    // After what is ordered now.
    draft.begin_part();
    left::withdraw(facts, &mut draft);
    draft.begin_part();
    schedules::decide(facts, &valid, &mut draft);
    draft.plan(status)
}
