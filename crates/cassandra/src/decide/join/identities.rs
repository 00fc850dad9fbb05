//! Who a member turned out to be goes on record, with the maintenance that a new
//! one brings with it (safety rule 5.1).

use crate::decide::draft::Draft;
use crate::decide::evidence;
use crate::decide::maintenance::debts;
use crate::facts::{self, Facts, MemberFact};
use crate::resources as kinds;
use crate::words::maintenance::Cause;
use crate::words::turn::{Doing, Happened};
use palladion_api::cluster::Mode;
use palladion_api::file_system::tells;
use palladion_api::ids::Nonce;
use palladion_api::member::{
    CassandraMemberSpec, Debt, PermitKind, PermitState, VolumeState, VolumeStatus,
};
use palladion_plan::words::Names;
use palladion_plan::{Event, Object, Step};
use serde_json::{Value, json};

/// Record host ID, volume and file system of members that are full members,
/// and withdraw the permit that has done its work. One whose server does not
/// serve yet keeps it: its turn ends when the permit is done, not before.
pub fn record(facts: &Facts<'_>, draft: &mut Draft) {
    for member in facts.members.values().filter(|m| m.is_normal()) {
        let (Some(object), Some(spec), Some(volume)) =
            (&member.object, &member.spec, member.volume())
        else {
            continue;
        };
        let Some(host_id) = &member.status.host_id else {
            continue;
        };
        let permit = spec.start.as_ref().and(member.status.permit.as_ref());
        let permit_done = permit.is_some_and(|p| p.state == PermitState::Done);
        let unrecorded =
            spec.host_id.is_none() || spec.volume_id.is_none() || spec.file_system.is_none();
        if volume.state != VolumeState::Joined {
            continue;
        }
        // A record that says otherwise is never overwritten here: that is a stale twin or a replacement.
        let agrees = spec.host_id.as_ref().is_none_or(|id| id == host_id)
            && spec.volume_id.as_ref().is_none_or(|id| id == &volume.volume_id);
        if !agrees {
            continue;
        }
        let name = || member.name.clone();
        if !unrecorded && !permit_done {
            draft.steps.extend(file_system(object, member, spec, volume));
            continue;
        }
        let mut patch = json!({ "spec": {} });
        if permit_done {
            patch["spec"]["start"] = Value::Null;
        }
        if !unrecorded {
            let doing = Doing::WithdrawPermit { member: name() };
            draft.steps.push(Step::patch_as_seen(kinds::MEMBER, &object.meta, patch, doing));
            continue;
        }
        patch["spec"]["hostID"] = json!(host_id);
        patch["spec"]["volumeID"] = json!(volume.volume_id);
        patch["spec"]["fileSystem"] = json!(volume.file_system);
        if spec.host_id.is_none()
            && let Some(all) = is_new(facts, member, draft)
        {
            patch["spec"]["pendingMaintenance"] = json!(all);
            facts::clear_of_member(object, &mut patch["spec"]);
        }
        if spec.repair_owed_until.is_some() && begins_anew(member) {
            patch["spec"]["repairOwedUntil"] = Value::Null;
        }
        let doing = Doing::RecordIdentity { member: name() };
        let joined = Happened::Joined { member: name(), host_id: host_id.clone() };
        let event = facts.is_created().then(|| Event::normal(joined));
        draft
            .steps
            .push(Step::patch_as_seen(kinds::MEMBER, &object.meta, patch, doing).announced(event));
    }
}

/// Its file system was recorded by the number of its device, and the agent knows better now
/// (safety rule 2.8).
fn file_system(
    object: &Object,
    member: &MemberFact,
    spec: &CassandraMemberSpec,
    volume: &VolumeStatus,
) -> Option<Step> {
    let recorded = spec.file_system.as_deref()?;
    if tells(recorded) || !tells(&volume.file_system) {
        return None;
    }
    let patch = json!({ "spec": { "fileSystem": volume.file_system } });
    let doing = Doing::RecordFileSystem { member: member.name.clone() };
    Some(Step::patch_as_seen(kinds::MEMBER, &object.meta, patch, doing))
}

/// Is its data from the others, and not what was owed a repair?
fn begins_anew(member: &MemberFact) -> bool {
    let permit = member.spec.as_ref().and_then(|s| s.start.as_ref());
    match permit.map(|p| p.kind) {
        Some(
            PermitKind::Initialize | PermitKind::Join | PermitKind::Replace | PermitKind::Restore,
        ) => true,
        Some(PermitKind::ResumeLeave | PermitKind::Readdress | PermitKind::Unknown(_)) | None => {
            false
        }
    }
}

/// A full member with a new identity: the maintenance that the others need goes on
/// record before it, and comes back for what it needs itself. Here alone, since
/// not every one of them has its turn when it is seen to be normal.
fn is_new(facts: &Facts<'_>, member: &MemberFact, draft: &mut Draft) -> Option<Vec<Debt>> {
    let permit = member.spec.as_ref().and_then(|s| s.start.as_ref());
    let is_replacement = match permit.map(|p| p.kind) {
        // With the data that it had, or into a ring that has none: nothing has changed hands.
        Some(PermitKind::Readdress | PermitKind::Restore) => return None,
        Some(PermitKind::Replace) => true,
        Some(
            PermitKind::Initialize
            | PermitKind::Join
            | PermitKind::ResumeLeave
            | PermitKind::Unknown(_),
        ) => false,
        // The lost identity still stands on the claim.
        None => member.claim.as_ref().is_some_and(|c| c.host_id.is_some()),
    };
    if !is_replacement {
        debts::after_join(facts, &member.name, draft);
        return lacks_writes(facts, member, permit.map(|p| &p.nonce));
    }
    // It has streamed each range from one member, and lacks what only others had.
    let cause = Cause::Replaced { member: member.name.clone(), at: facts.now() };
    debts::with(member, &debts::repair_of_itself(cause))
}

/// What a coordinator that had not heard of the join has written meanwhile may be
/// missing. Who answered that it sees the joiner has sent it all.
fn lacks_writes(
    facts: &Facts<'_>,
    member: &MemberFact,
    permit: Option<&Nonce>,
) -> Option<Vec<Debt>> {
    // Who is elsewhere cannot be asked whether it has heard of the join.
    let has_others = facts.is_created() && facts.has_other_datacenters();
    if has_others && facts.spec.mode == Mode::Cassandra {
        let cause = Cause::UnheardElsewhere { member: member.name.clone(), at: facts.now() };
        return debts::with(member, &debts::repair_of_itself(cause));
    }
    let unheard = evidence::unheard_by(facts, member, permit);
    // ScyllaDB changes its topology by consensus.
    if !facts.is_created() || facts.spec.mode == Mode::Scylla || unheard.is_empty() {
        return None;
    }
    let (member_name, by, at) = (member.name.clone(), Names::of(&unheard), facts.now());
    let cause = Cause::Unheard { member: member_name, by, at };
    debts::with(member, &debts::repair_of_itself(cause))
}
