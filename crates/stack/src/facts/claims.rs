//! Claims of pods that are being deleted: Kubernetes waits for the pod, and deletes the
//! data with it. So no pod of such a claim is ended by our own hand.

use super::named;
use crate::words::refusal::Unknown;
use palladion_plan::{Object, ObjectKey, Snapshot};
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
            shared: named::claims(&snapshot.owner).iter().find_map(|key| shared(snapshot, key)),
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

fn shared(snapshot: &Snapshot, key: &ObjectKey) -> Option<AtRisk> {
    let claim = key.name.clone();
    match named::read(snapshot, key, Unknown::UnwatchedClaim) {
        Ok(Some(object)) if object.meta.is_terminating() => Some(AtRisk::Terminating { claim }),
        Ok(_) => None,
        Err(why) => Some(AtRisk::Unread { claim, why }),
    }
}
