//! What only a user may allow: that queues are left behind, or go with a node.

use crate::decide::draft::Draft;
use crate::decide::turn::lock;
use crate::facts::{Facts, MemberFact};
use crate::words::replace::Doing;
use palladion_api::ids::Nonce;
use palladion_api::labels;
use palladion_api::rabbitmq::NodeName;
use palladion_api::service::{AskKind, ServiceTurn};
use palladion_api::service_member::QueueNames;
use palladion_plan::hash;
use palladion_plan::members::ask;
use palladion_plan::words::Reasoned;
use serde_json::json;

/// Whether a user has allowed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// It is on record with the turn.
    Allowed,
    /// The permission was found, and goes on record with this plan.
    Recorded,
    /// No.
    No,
}

/// The nonce of a permission: it stands for the node on this volume and for these queues,
/// under the spec as it is now, and fits nothing else. The annotation stays where it is,
/// and a node has the same name in every life of its member: without volume and spec a
/// permission that was used would allow the next leave as well.
pub fn nonce_of(
    facts: &Facts<'_>,
    member: &MemberFact,
    node: &NodeName,
    queues: &[&QueueNames],
) -> Nonce {
    let owner = &facts.snapshot.owner.meta;
    let (spec, volume) = ((&owner.uid, owner.generation), member.volume_id());
    Nonce::new(hash::of(&json!([spec, volume, node, queues])))
}

/// Has a user allowed this turn to leave these queues behind? The permission is put on
/// record with the turn, so that it holds when the annotation is gone.
pub fn is_allowed(
    facts: &Facts<'_>,
    turn: &ServiceTurn,
    nonce: &Nonce,
    draft: &mut Draft,
) -> Asked {
    if turn.allowed.as_ref() == Some(nonce) {
        return Asked::Allowed;
    }
    let given = facts.snapshot.owner.meta.annotations.get(labels::ALLOW_FORGET);
    if given.is_none_or(|given| Nonce::new(given) != *nonce) {
        return Asked::No;
    }
    let next = ServiceTurn { allowed: Some(nonce.clone()), ..turn.clone() };
    let doing = Doing::Allowed { member: turn.member.clone() };
    draft.steps.push(lock::write(facts, &next, doing));
    Asked::Recorded
}

/// Ask a user.
pub fn ask(nonce: Nonce, queues: &[&QueueNames], problem: impl Reasoned, draft: &mut Draft) {
    let names = queues.iter().flat_map(|queues| queues.names.iter().cloned());
    draft.more.ask = Some(ask::of(AskKind::Forget, nonce, names, &problem.to_string()));
    draft.report(problem);
}
