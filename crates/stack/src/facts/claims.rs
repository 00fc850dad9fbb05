//! Claims of pods that are being deleted: Kubernetes waits for the pod, and deletes the
//! data with it. So no pod of such a claim is ended by our own hand.

use super::named;
use crate::words::refusal::Unknown;
use palladion_api::component::names::OWNER;
use palladion_plan::workload::pod::PodFact;
use palladion_plan::{Object, ObjectKey, Snapshot};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The claims of the pods of one service.
#[derive(Clone, Debug, Default)]
pub struct Claims {
    /// Those that were made from a template, `<template>-<pod>`; `true` = being deleted.
    of_pods: BTreeMap<String, bool>,
    /// The templates of the set.
    templates: Vec<String>,
    /// Where they are.
    namespace: String,
    /// What claims are read by.
    label: String,
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
    /// Read them: `own` are those that carry the label of the service, `set` has the templates
    /// of those that its pods use.
    pub fn read(snapshot: &Snapshot, own: &[Arc<Object>], set: Option<&Object>) -> Self {
        let of_pods = own.iter().map(|c| (c.meta.name.clone(), c.meta.is_terminating()));
        let templates = set.and_then(|set| set.at("/spec/volumeClaimTemplates")?.as_array());
        let names = templates.into_iter().flatten().map(|t| &t["metadata"]["name"]);
        Self {
            of_pods: of_pods.collect(),
            templates: names.filter_map(Value::as_str).map(ToString::to_string).collect(),
            namespace: snapshot.owner.meta.namespace.clone(),
            label: format!("{OWNER}={}", snapshot.owner.meta.name),
            shared: named::claims(&snapshot.owner).iter().find_map(|key| shared(snapshot, key)),
        }
    }

    /// Why this pod may not be ended by our own hand.
    pub fn at_risk(&self, pod: &PodFact) -> Option<AtRisk> {
        let claims = self.templates.iter().map(|template| format!("{template}-{}", pod.name));
        let mut own = claims.filter_map(|claim| match self.of_pods.get(&claim) {
            Some(true) => Some(AtRisk::Terminating { claim }),
            Some(false) => None,
            // Without a node it uses none.
            None if pod.node.is_none() => None,
            // It was there before the set, which gives its labels to those that it creates.
            None => {
                let (pod, namespace) = (pod.name.clone(), self.namespace.clone());
                let label = self.label.clone();
                let why = Unknown::Unlabelled { pod, claim: claim.clone(), namespace, label };
                Some(AtRisk::Unread { claim, why: why.to_string() })
            }
        });
        own.next().or_else(|| self.shared.clone())
    }
}

fn shared(snapshot: &Snapshot, key: &ObjectKey) -> Option<AtRisk> {
    let claim = key.name.clone();
    match named::read(snapshot, key, Unknown::UnwatchedClaim) {
        Ok(Some(object)) if object.meta.is_terminating() => Some(AtRisk::Terminating { claim }),
        Ok(_) => None,
        Err(why) => Some(AtRisk::Unread { claim, why }),
    }
}
