//! What a claim says about the data on its volume: host ID, volume ID,
//! address. The claim outlives every other object of the cluster, so that a
//! re-created one finds its members again.

use crate::decide::draft::Draft;
use crate::decide::evidence::marks;
use crate::decide::maintenance::waived;
use crate::facts::{ClaimFact, Facts, MemberFact, security};
use crate::resources as kinds;
use crate::validate::Valid;
use crate::words::objects::{Doing, Problem};
use palladion_api::cluster::DeletionPolicy;
use palladion_api::ids::{HostId, StaticAddress, VolumeId};
use palladion_api::labels;
use palladion_api::member::{CassandraMemberSpec, VolumeState};
use palladion_plan::Step;
use serde_json::{Map, Value, json};

/// Annotate the claims of members whose identity is recorded; re-stamp kept
/// claims with the uid of this cluster.
pub fn decide(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) {
    let settled = facts.settled.as_ref().map(security::on_claim);
    for member in facts.members.values().filter(|m| !m.is_gone()) {
        let (Some(claim), Some(spec)) = (&member.claim, &member.spec) else {
            continue;
        };
        if marks::of(member).is_some() {
            continue; // It goes, or is new: either way it is not what is recorded.
        }
        if claim.terminating {
            draft.report(Problem::ClaimTerminating {
                claim: claim.object.meta.name.clone(),
                member: member.name.clone(),
            });
            continue;
        }
        let wanted = [
            (labels::HOST_ID, spec.host_id.as_ref().map(HostId::as_str)),
            (labels::SECURITY, settled.as_deref()),
            (labels::VOLUME_ID, spec.volume_id.as_ref().map(VolumeId::as_str)),
            (
                labels::ADDRESS,
                spec.host_id.as_ref().and(confirmed_address(member)).map(StaticAddress::as_str),
            ),
            // The member's record goes when it is removed from the ring; the data stays.
            (labels::TERMINATED, terminated(member)),
            (labels::CLUSTER_UID, is_stamped(valid, spec, member).then_some(valid.uid.as_str())),
        ];
        let mut changes: Map<String, Value> = wanted
            .into_iter()
            .filter_map(|(key, value)| value.map(|v| (key, v)))
            .filter(|(key, value)| {
                claim.object.meta.annotations.get(*key).map(String::as_str) != Some(*value)
            })
            .map(|(key, value)| (key.to_string(), Value::from(value)))
            .collect();
        if spec.host_id.is_some() && claim.object.meta.annotations.contains_key(labels::GONE) {
            changes.insert(labels::GONE.to_string(), Value::Null);
        }
        let claim_name = || claim.object.meta.name.clone();
        let doing = match changes.is_empty() {
            true => Doing::RecordPendingOnClaim { claim: claim_name() },
            false => Doing::RecordOnClaim { claim: claim_name() },
        };
        changes.extend(pending(claim, spec));
        changes.extend(follows(claim, labels::DOWN_SINCE, member.down_note()));
        changes.extend(follows(claim, labels::HINTS_PENDING, member.hints_note()));
        let owed = spec.repair_owed_until.as_ref().map(|t| t.0.to_string());
        changes.extend(follows(claim, labels::REPAIR_OWED_UNTIL, owed.as_deref()));
        if changes.is_empty() {
            continue;
        }
        let step = Step::patch_as_seen(
            kinds::CLAIM,
            &claim.object.meta,
            json!({ "metadata": { "annotations": changes } }),
            doing,
        );
        draft.steps.push(step.announced(waived::of(member, claim)));
    }
}

/// The address of the record, unless the ring knows the member under another one: that
/// one stays on the claim until the member is back.
fn confirmed_address(member: &MemberFact) -> Option<&StaticAddress> {
    let recorded = member.spec.as_ref().and_then(|s| s.address.as_ref());
    let claimed = member.claim.as_ref().and_then(|c| c.address.as_ref());
    match member.status.address.as_ref() {
        Some(own) => recorded.filter(|recorded| *recorded == own),
        None => recorded.filter(|_| claimed.is_none()),
    }
}

/// What is pending is written down with the data that it is about: the object of
/// the member goes with the cluster, and may be deleted by hand (safety rule 5.1). So are
/// the note since when it is down, of hints on their way, and that a repair is owed.
fn pending(claim: &ClaimFact, spec: &CassandraMemberSpec) -> Option<(String, Value)> {
    let wanted = match spec.pending_maintenance.is_empty() {
        true => None,
        false => Some(json!(spec.pending_maintenance).to_string()),
    };
    follows(claim, labels::PENDING_MAINTENANCE, wanted.as_deref())
}

/// The change that makes the claim say what the member says.
fn follows(claim: &ClaimFact, key: &str, wanted: Option<&str>) -> Option<(String, Value)> {
    let written = claim.object.meta.annotations.get(key).map(String::as_str);
    (written != wanted).then(|| (key.to_string(), json!(wanted)))
}

/// The volume that is given up, whose claim this is.
fn terminated(member: &MemberFact) -> Option<&str> {
    let volume = member.spec.as_ref().and_then(|s| s.volume_id.as_ref());
    volume.filter(|_| member.is_terminated()).map(VolumeId::as_str)
}

/// Whose claim is it? Written with the data's identity, in one write; where the
/// data goes with the cluster, also before there is any. It does not stand in
/// the set's claim template, which cannot change and would carry the uid of a
/// cluster that is gone. And not before the agent has looked: data of another
/// ring, or of nobody knows whom, must not go with this cluster.
fn is_stamped(valid: &Valid, spec: &CassandraMemberSpec, member: &MemberFact) -> bool {
    let is_ours = member.volume().is_some_and(|v| match v.state {
        VolumeState::Empty
        | VolumeState::Incomplete
        | VolumeState::Joined
        | VolumeState::Left
        | VolumeState::Lost => true,
        VolumeState::NotMounted
        | VolumeState::Foreign
        | VolumeState::Unaccounted
        | VolumeState::Unknown => false,
    });
    is_ours && (spec.host_id.is_some() || valid.deletion_policy == DeletionPolicy::Delete)
}
