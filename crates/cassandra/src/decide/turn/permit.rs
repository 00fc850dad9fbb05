//! Writes to the member that has the turn: its permit, and what came of it.

use crate::decide::draft::Draft;
use crate::decide::evidence::Proof;
use crate::decide::turn::seeds;
use crate::facts::{Facts, MemberFact};
use crate::resources as kinds;
use crate::validate::Valid;
use crate::words::turn::{Doing, Happened, Purpose};
use palladion_api::cluster::{Turn, TurnStep};
use palladion_api::ids::{HostId, MemberName};
use palladion_api::member::{
    DataBeforeStart, PermitKind, PermitState, RestoredStart, RunState, VolumeState,
};
use palladion_plan::{Event, Step};
use serde_json::json;
use std::collections::BTreeMap;

/// How far the permit of a turn is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Course {
    /// It was not given yet.
    NotGiven,
    /// The pod that it was for has ended: the pod list is known (facts would not be).
    PodEnded,
    /// It was given, and its agent is at it.
    Open,
    /// It has done its work.
    Done,
    /// The start failed.
    Failed,
    /// The agent did not start the server at all, and says why.
    Refused(String),
}

/// What came of the permit of this turn.
pub fn course(turn: &Turn, member: &MemberFact) -> Course {
    let answer = member.status.permit.as_ref().filter(|p| p.nonce == turn.nonce);
    if answer.is_some_and(|p| p.state == PermitState::Done) {
        return Course::Done;
    }
    let given = member.spec.as_ref().and_then(|s| s.start.as_ref());
    let Some(start) = given.filter(|s| s.nonce == turn.nonce) else {
        return Course::NotGiven;
    };
    if member.pod.as_ref().is_none_or(|p| p.uid != start.pod_uid) {
        return Course::PodEnded;
    }
    match answer.map(|p| p.state) {
        None | Some(PermitState::Used | PermitState::Done | PermitState::Unknown) => Course::Open,
        Some(PermitState::Failed) => Course::Failed,
        Some(PermitState::Refused | PermitState::Withdrawn) => {
            Course::Refused(answer.and_then(|p| p.message.clone()).unwrap_or_default())
        }
    }
}

/// Take back a permit to start under another address that was not used. Without its turn
/// what was asked about the address counts no more, and the member may have the next by then.
pub fn withdraw_unused(facts: &Facts<'_>, member: &MemberFact) -> Option<Step> {
    let start = member.spec.as_ref()?.start.as_ref()?;
    let is_answered = member.status.permit.as_ref().is_some_and(|p| p.nonce == start.nonce);
    let is_unused = start.kind == PermitKind::Readdress && !is_answered;
    let object = member.object.as_ref().filter(|_| is_unused)?;
    let patch = json!({ "spec": { "start": null } });
    let doing = Doing::WithdrawUnused { member: member.name.clone() };
    let step = Step::patch_as_seen(kinds::MEMBER, &object.meta, patch, doing);
    Some(step.fenced(facts.fence_as_seen()))
}

/// Has the member still the volume for which it got the turn? None while no agent reports one.
pub fn keeps_volume(turn: &Turn, member: &MemberFact) -> Option<bool> {
    member.volume().map(|volume| volume.volume_id == turn.volume_id)
}

/// Give the permit of a turn to its member.
pub fn give(
    facts: &Facts<'_>,
    valid: &Valid,
    turn: &Turn,
    member: &MemberFact,
    proof: &Proof,
    draft: &mut Draft,
) {
    give_with(facts, valid, turn, member, data_before(turn, member), proof, draft);
}

/// Give the permit of a turn to its member, saying what happens to its data.
pub fn give_with(
    facts: &Facts<'_>,
    valid: &Valid,
    turn: &Turn,
    member: &MemberFact,
    data: DataBeforeStart,
    proof: &Proof,
    draft: &mut Draft,
) {
    let (Some(object), Some(pod)) = (&member.object, &member.pod) else {
        return;
    };
    let place = facts.place_of(&member.name).filter(|_| starts_anew(turn, data));
    let (kind, seeds) = match turn.step {
        TurnStep::Initialize => {
            let own = member.spec.as_ref().and_then(|s| s.address.clone());
            (PermitKind::Initialize, own.into_iter().collect())
        }
        TurnStep::Join if place.is_some() => (PermitKind::Restore, seeds::of(facts, valid)),
        TurnStep::Join => (PermitKind::Join, seeds::of(facts, valid)),
        TurnStep::Replace => (PermitKind::Replace, seeds::without(facts, valid, &member.name)),
        TurnStep::ResumeLeave => {
            (PermitKind::ResumeLeave, seeds::without(facts, valid, &member.name))
        }
        TurnStep::Readdress => (PermitKind::Readdress, seeds::to_come_back(facts, valid, member)),
        TurnStep::Leave
        | TurnStep::Restart
        | TurnStep::Remove
        | TurnStep::Stop
        | TurnStep::Start => return,
    };
    let (name, purpose) = (&member.name, purpose(turn, kind));
    draft.steps.push(
        Step::patch_as_seen(
            kinds::MEMBER,
            &object.meta,
            // What is left over of another volume goes: it may not say whom it is for.
            json!({ "spec": {
                "seeds": seeds,
                "operation": null,
                "run": run(turn, member),
                "start": {
                    "kind": kind,
                    "nonce": turn.nonce,
                    "podUID": pod.uid,
                    "volumeID": turn.volume_id,
                    "reason": proof.text(),
                    "attempt": turn.attempt,
                    "data": data,
                    "lockToken": turn.lock_token,
                    "replaceAddress": turn.replaces.as_ref().map(|r| &r.address),
                    "hostID": host_id_of(turn, member),
                    "rebuilt": rebuilt(facts, turn, data, member),
                    "restore": place.map(|place| RestoredStart {
                        source: place.source.clone(),
                        tokens_hash: place.tokens_hash.clone(),
                    }),
                },
            }}),
            Doing::Permit { member: name.clone(), purpose: purpose.clone() },
        )
        .fenced(facts.fence(turn))
        .proven(proof.stated())
        .announced(permitted(facts, name, purpose)),
    );
}

/// The keyspaces that its datacenter has, where it was added to a ring and takes clients: what a
/// new member streams of them is complete.
fn rebuilt(
    facts: &Facts<'_>,
    turn: &Turn,
    data: DataBeforeStart,
    member: &MemberFact,
) -> Option<BTreeMap<String, u32>> {
    match turn.step {
        TurnStep::Join | TurnStep::Replace if data != DataBeforeStart::Keep => {
            facts.rebuilt_without(member)
        }
        TurnStep::Initialize
        | TurnStep::Join
        | TurnStep::Replace
        | TurnStep::ResumeLeave
        | TurnStep::Leave
        | TurnStep::Restart
        | TurnStep::Remove
        | TurnStep::Stop
        | TurnStep::Start
        | TurnStep::Readdress => None,
    }
}

/// Is it a first start, and not that of a member that the ring has already?
fn starts_anew(turn: &Turn, data: DataBeforeStart) -> bool {
    match turn.step {
        TurnStep::Initialize => true,
        TurnStep::Join => data != DataBeforeStart::Keep,
        TurnStep::Replace
        | TurnStep::ResumeLeave
        | TurnStep::Leave
        | TurnStep::Restart
        | TurnStep::Remove
        | TurnStep::Stop
        | TurnStep::Start
        | TurnStep::Readdress => false,
    }
}

/// While a ring is made its racks are announced, and that it serves: not each
/// permit and join of it.
fn permitted(facts: &Facts<'_>, member: &MemberName, purpose: Purpose) -> Option<Event> {
    let happened = Happened::Permitted { member: member.clone(), purpose };
    facts.is_created().then(|| Event::normal(happened))
}

/// Whoever takes the place of a member that was stopped runs, until it has joined.
fn run(turn: &Turn, member: &MemberFact) -> RunState {
    let run = member.spec.as_ref().map_or(RunState::default(), |s| s.run);
    match (turn.step, run) {
        (TurnStep::Replace, RunState::Stopped) => RunState::Running,
        (_, run) => run,
    }
}

/// The host ID that the permit carries: its own, or that of the dead member.
fn host_id_of<'a>(turn: &'a Turn, member: &'a MemberFact) -> Option<&'a HostId> {
    match turn.step {
        TurnStep::ResumeLeave => member.recorded_host_id(),
        TurnStep::Initialize
        | TurnStep::Join
        | TurnStep::Replace
        | TurnStep::Leave
        | TurnStep::Restart
        | TurnStep::Remove
        | TurnStep::Stop
        | TurnStep::Start
        | TurnStep::Readdress => turn.replaces.as_ref().map(|r| &r.host_id),
    }
}

/// What the permit of a turn allows.
fn purpose(turn: &Turn, kind: PermitKind) -> Purpose {
    match kind {
        PermitKind::Initialize => Purpose::Initialize,
        PermitKind::Join => Purpose::Join,
        PermitKind::Replace => {
            let lost = turn.replaces.as_ref().map(|r| r.host_id.clone());
            Purpose::Replace { lost: lost.unwrap_or_default() }
        }
        PermitKind::Readdress => Purpose::Readdress,
        PermitKind::Restore => Purpose::Restore,
        // Never given by this operator.
        PermitKind::ResumeLeave | PermitKind::Unknown(_) => Purpose::ResumeLeave,
    }
}

/// What happens to what is on the volume, by the step of the turn.
fn data_before(turn: &Turn, member: &MemberFact) -> DataBeforeStart {
    match turn.step {
        // What the first member wrote in a try that failed is the ring's only data: it stays.
        TurnStep::Initialize if turn.attempt > 1 => DataBeforeStart::Keep,
        TurnStep::Initialize => DataBeforeStart::MustBeEmpty,
        TurnStep::Replace if turn.attempt > 1 => DataBeforeStart::Wipe,
        TurnStep::Replace | TurnStep::Join => data_before_join(member),
        TurnStep::ResumeLeave | TurnStep::Readdress => DataBeforeStart::Keep,
        TurnStep::Leave
        | TurnStep::Restart
        | TurnStep::Remove
        | TurnStep::Stop
        | TurnStep::Start => DataBeforeStart::MustBeEmpty,
    }
}

fn data_before_join(member: &MemberFact) -> DataBeforeStart {
    match member.volume().map(|v| v.state) {
        Some(VolumeState::Incomplete) => DataBeforeStart::Wipe,
        Some(VolumeState::Left) => DataBeforeStart::Retire,
        Some(
            VolumeState::Empty
            | VolumeState::Joined
            | VolumeState::Lost
            | VolumeState::NotMounted
            | VolumeState::Foreign
            | VolumeState::Unaccounted
            | VolumeState::Unknown,
        )
        | None => DataBeforeStart::MustBeEmpty,
    }
}
