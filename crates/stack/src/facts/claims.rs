//! Claims of pods that are being deleted: Kubernetes waits for the pod, and deletes the
//! data with it. So no pod of such a claim is ended by our own hand.

use crate::resources::CLAIM;
use crate::words::refusal::Unknown;
use palladion_plan::{Object, ObjectKey, Observed, Snapshot};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The claims of the pods of one service.
#[derive(Clone, Debug, Default)]
pub struct Claims {
    /// Those that were made from a template and are being deleted: `<template>-<pod>`.
    of_pods: Vec<String>,
    /// The first that all pods share and that may be lost.
    shared: Option<AtRisk>,
}

/// Why a pod's data may be lost if the pod ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AtRisk {
    /// This claim is being deleted.
    Terminating {
        /// The claim.
        claim: String,
    },
    /// Nobody knows whether this claim is being deleted.
    Unread {
        /// The claim.
        claim: String,
        /// Why.
        why: String,
    },
}

impl Claims {
    /// Read them: `own` are those that carry the label of the service.
    pub fn read(snapshot: &Snapshot, own: &[Arc<Object>]) -> Self {
        let going = own.iter().filter(|claim| claim.meta.is_terminating());
        Self {
            of_pods: going.map(|claim| claim.meta.name.clone()).collect(),
            shared: named(&snapshot.owner).into_iter().find_map(|key| shared(snapshot, key)),
        }
    }

    /// Why this pod may not be ended by our own hand.
    pub fn at_risk(&self, pod: &str) -> Option<AtRisk> {
        let is_of = |claim: &&String| {
            claim.strip_suffix(pod).is_some_and(|template| template.ends_with('-'))
        };
        let own = self.of_pods.iter().find(is_of);
        let own = own.map(|claim| AtRisk::Terminating { claim: claim.clone() });
        own.or_else(|| self.shared.clone())
    }
}

/// The claims that the pod template of an owner names: every pod mounts them.
pub fn named(owner: &Object) -> Vec<ObjectKey> {
    let volumes = owner.at("/spec/template/spec/volumes").and_then(|all| all.as_array());
    let names: BTreeSet<&str> = volumes
        .into_iter()
        .flatten()
        .filter_map(|volume| volume["persistentVolumeClaim"]["claimName"].as_str())
        .collect();
    names.into_iter().map(|name| ObjectKey::new(CLAIM, &owner.meta.namespace, name)).collect()
}

fn shared(snapshot: &Snapshot, key: ObjectKey) -> Option<AtRisk> {
    let claim = key.name.clone();
    match snapshot.references.get(&key) {
        Some(Observed::Known { value: Some(object), .. }) => {
            object.meta.is_terminating().then_some(AtRisk::Terminating { claim })
        }
        Some(Observed::Known { value: None, .. }) => None,
        Some(Observed::Unknown { why }) => Some(AtRisk::Unread { claim, why: why.clone() }),
        None => Some(AtRisk::Unread { claim, why: Unknown::UnwatchedClaim.to_string() }),
    }
}
