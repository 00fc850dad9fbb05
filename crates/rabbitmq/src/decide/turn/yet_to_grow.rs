//! Who has yet to take its replicas: on record from before its node may join until it has
//! them. Its permit does not say so: that goes when its node serves, or with a turn that ends
//! before others name the node, which may be one of them by then all the same. Without the
//! record such a node would look like a whole member, and queues would miss a replica for ever.

use super::order;
use crate::facts::{Facts, MemberFact};
use crate::resources::{self as kinds, YET_TO_GROW};
use crate::words::join::Doing;
use palladion_api::ids::Nonce;
use palladion_api::labels;
use palladion_api::service::{ServiceStep, ServiceTurn};
use palladion_api::service_member::ServicePermitKind;
use palladion_plan::Step;
use serde_json::{Value, json};

/// What goes on record with a permit to join, and is taken off again with `None`: the nonce of
/// the turn in which the joiner takes its replicas.
pub fn annotation(nonce: Option<&Nonce>) -> Value {
    json!({ kinds::YET_TO_GROW: nonce })
}

/// The nonce of the turn in which this member was to take replicas that it has not taken yet.
/// A permit of an operator that made no such record says so as well.
pub fn nonce_of(member: &MemberFact) -> Option<Nonce> {
    let permit = member.spec.as_ref().and_then(|spec| spec.start.as_ref());
    let permit = permit.filter(|start| start.kind == ServicePermitKind::Join);
    recorded(member).or_else(|| permit.map(|start| start.nonce.clone()))
}

fn recorded(member: &MemberFact) -> Option<Nonce> {
    member.object.as_ref()?.meta.annotations.get(YET_TO_GROW).map(Nonce::new)
}

/// Put it on record where this turn of a member that the others name ends before its work is
/// done: whoever has the turn next would find a whole member. A permit that says so goes as
/// soon as its node serves, and a leaver whose replicas were moved may be asked for again.
pub(super) fn record_at_end(
    facts: &Facts<'_>,
    turn: &ServiceTurn,
    member: &MemberFact,
) -> Option<Step> {
    let has_worked = || order::is_given(facts, turn) || order::has_worked(turn, member);
    match turn.step {
        ServiceStep::Join if recorded(member).is_none() => record(facts, member, &turn.nonce),
        // Under another nonce: what was carried out in this turn was no order to take replicas.
        ServiceStep::Leave if !member.is_gone() && has_worked() => {
            record(facts, member, &facts.snapshot.nonce)
        }
        // As long as its loss is on record a replacement is brought to its end.
        ServiceStep::Replace
        | ServiceStep::Join
        | ServiceStep::Leave
        | ServiceStep::Initialize
        | ServiceStep::Restart
        | ServiceStep::Rescue
        | ServiceStep::Remove => None,
    }
}

/// Put it on record that this member takes replicas in the turn with this nonce.
pub fn record(facts: &Facts<'_>, member: &MemberFact, nonce: &Nonce) -> Option<Step> {
    let meta = &member.object.as_ref()?.meta;
    let patch = json!({ "metadata": { "annotations": annotation(Some(nonce)) } });
    let doing = Doing::YetToGrow { member: member.name.clone() };
    Some(Step::patch_as_seen(kinds::MEMBER, meta, patch, doing).fenced(facts.fence()))
}

/// It has its replicas: the record goes, and with it the permit, and what is on record of tries
/// to join that came to nothing.
pub fn forget(facts: &Facts<'_>, member: &MemberFact) -> Option<Step> {
    nonce_of(member)?;
    let meta = &member.object.as_ref()?.meta;
    let none: Option<&Nonce> = None;
    let annotations = json!({ YET_TO_GROW: none, labels::POSTPONED_JOIN: none });
    let patch = json!({
        "metadata": { "annotations": annotations }, "spec": { "start": Value::Null },
    });
    let doing = Doing::HasGrown { member: member.name.clone() };
    Some(Step::patch_as_seen(kinds::MEMBER, meta, patch, doing).fenced(facts.fence()))
}
