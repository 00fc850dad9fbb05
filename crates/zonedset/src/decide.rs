//! The order of decisions for one owner: a table of contents. Each decider
//! lives in the file named for what it decides.

pub mod active;
pub mod claims;
pub mod config;
pub mod creation;
pub mod obstacles;
pub mod partitioned;
pub mod pods;
pub mod proof;
pub mod recreate;
pub mod rollout;
pub mod services;
pub mod superseded;
pub mod version;
pub mod versioned;
pub mod zones;

use crate::facts::Facts;
use crate::validate::Valid;
use palladion_api::reasons::Reason;
use palladion_api::zoned_stateful_set::{PendingConfig, Rollout};
use palladion_plan::workload::upsert::upsert;
use palladion_plan::{
    Event, EventType, Loss, Object, ObjectKey, Precondition, Propagation, Resource, Step, Wait,
};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// A decision in the making.
#[derive(Debug, Default)]
pub struct Draft {
    /// Writes so far.
    pub steps: Vec<Step>,
    /// Waits so far, the most telling first.
    pub waits: Vec<Wait>,
    /// Events without a step.
    pub events: Vec<Event>,
    /// What needs a person.
    pub troubles: Vec<(Reason, String)>,
    /// What each set waits for, or why it failed, for its status.
    pub messages: BTreeMap<String, String>,
    /// Names of the sets that are wanted; others are left over.
    pub wanted: BTreeSet<String>,
    /// Configuration that is being gathered, for the status.
    pub pending_config: Option<PendingConfig>,
    /// Versions of Secrets in use, for the status.
    pub secret_versions: BTreeMap<String, u32>,
}

impl Draft {
    /// What a decision to do nothing would say.
    pub fn idle(facts: &Facts<'_>, valid: &Valid) -> Self {
        let newest = facts.sets.values().map(|s| s.version).max().unwrap_or(1);
        Self {
            wanted: valid.zones.iter().map(|z| valid.set_name(z, newest)).collect(),
            pending_config: facts.status.pending_config.clone(),
            secret_versions: facts.status.secret_versions.clone(),
            ..Self::default()
        }
    }

    /// Wait for something, looking again when it changes.
    pub fn wait(&mut self, reason: Reason, message: String) {
        self.waits.push(Wait { reason: reason.as_str(), message, until: None });
    }

    /// Wait, and look again at a time even if nothing changes.
    pub fn wait_until(&mut self, reason: Reason, message: String, until: jiff::Timestamp) {
        self.waits.push(Wait { reason: reason.as_str(), message, until: Some(until) });
    }

    /// Note something that a person should look at.
    pub fn trouble(&mut self, reason: Reason, message: String) {
        self.troubles.push((reason, message));
    }

    /// Is a process stopped already in this plan? One at a time.
    pub fn is_disruptive(&self) -> bool {
        self.steps.iter().any(|step| {
            matches!(step, Step::Delete { loss: Loss::Process { .. } | Loss::Data { .. }, .. })
        })
    }

    /// Apply one object: it must not exist yet, or be the one that was seen.
    pub fn apply(
        &mut self,
        facts: &Facts<'_>,
        resource: Resource,
        object: Value,
        event: Option<Event>,
    ) {
        let name = object["metadata"]["name"].as_str().unwrap_or_default();
        let what = format!("{} {name}", resource.kind);
        let namespace = &facts.snapshot.owner.meta.namespace;
        match upsert(resource, namespace, facts.objects(resource), object, &what, event) {
            Ok(step) => self.steps.push(step),
            Err(wait) => self.wait(Reason::CreatingObjects, wait),
        }
    }

    /// Delete an object that was seen.
    pub fn delete(
        &mut self,
        resource: Resource,
        object: &Object,
        loss: Loss,
        propagation: Propagation,
        event: Option<Event>,
    ) {
        self.steps.push(Step::Delete {
            key: ObjectKey::new(resource, &object.meta.namespace, &object.meta.name),
            precondition: Precondition::Uid(object.meta.uid.clone()),
            loss,
            propagation,
            fence: None,
            doing: format!("delete {} {}", resource.kind, object.meta.name),
            event,
        });
    }
}

/// A normal event.
pub fn normal(reason: Reason, message: String) -> Option<Event> {
    Some(Event { type_: EventType::Normal, reason: reason.as_str(), message })
}

/// An event that needs eyes.
pub fn warning(reason: Reason, message: String) -> Option<Event> {
    Some(Event { type_: EventType::Warning, reason: reason.as_str(), message })
}

/// All deciders, in order.
pub fn decide(facts: &Facts<'_>, valid: &Valid) -> Draft {
    let mut draft = Draft::default();
    services::decide(facts, valid, &mut draft);
    zones::decide(facts, valid, &mut draft);
    if let Some(config) = config::decide(facts, valid, &mut draft) {
        match valid.spec.rollout {
            Rollout::Versioned => versioned::decide(facts, valid, &config, &mut draft),
            Rollout::Partitioned => partitioned::decide(facts, valid, &config, &mut draft),
            Rollout::Recreate => recreate::decide(facts, valid, &config, &mut draft),
        }
        superseded::decide(facts, valid, &mut draft);
    }
    pods::decide(facts, valid, &mut draft);
    // A plan ends at the first step that is refused. A storage class may refuse
    // to let a claim grow, so that comes last; a mistake in the template must
    // not hold up a fail-over, so that comes first.
    claims::decide(facts, valid, &mut draft);
    let others = std::mem::take(&mut draft.steps);
    active::decide(facts, valid, &mut draft);
    draft.steps.extend(others);
    draft
}
