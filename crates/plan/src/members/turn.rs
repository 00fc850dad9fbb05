//! The one turn of a service: the epoch of its leader, how a turn ends, and how far the
//! permit of its member is. The lock itself is [`crate::turn`].

use super::{Draft, MEMBER, MemberFact, ServiceFacts, lost};
use crate::plan::{Event, Step};
use crate::turn as lock;
use crate::words::turn::{Doing, Waiting};
use palladion_api::member::PermitState;
use palladion_api::service::{ServiceStep, ServiceTurn};
use palladion_api::service_member::{
    DataBeforeServiceStart, MemberVolumeState, ServicePermit, ServicePermitKind,
};
use serde_json::{Value, json};
use std::fmt::Display;

/// Starts that may fail before the turn is released for others.
pub const TRIES: u32 = 3;
/// Starts of the new server of a replacement that may fail before another one is tried that
/// failed as well and gave way. With ten seconds between two they take as long as
/// [`lost::PATIENCE`]: what passes by itself, as the limits of a registry do, has passed.
pub const LONG_TRIES: u32 = 30;

/// Raise the epoch of a service that an earlier leader has written to. A new leader does
/// so before anything else, so that the writes of one that was frozen and woke up fail.
pub fn raise_epoch(facts: &ServiceFacts<'_>, draft: &mut Draft) {
    let Some(raise) =
        lock::take_over(facts.snapshot, facts.epoch(), facts.turn(), Doing::RaiseEpoch)
    else {
        return;
    };
    draft.steps.push(raise);
    // The member that the turn names is touched: a frozen leader's write to it
    // carries an old resourceVersion and fails.
    let member = facts.turn().and_then(|turn| facts.members.get(&turn.member));
    if let Some(object) = member.and_then(|m| m.object.as_ref()) {
        let patch = json!({ "spec": { "turnEpoch": facts.snapshot.epoch } });
        draft.steps.push(Step::patch_seen(MEMBER, &object.meta, patch, Doing::RaiseEpoch));
    }
}

/// True while this leader's epoch is not on record: no turn is taken or used.
pub fn is_behind(facts: &ServiceFacts<'_>) -> bool {
    facts.epoch().is_some_and(|seen| seen != facts.snapshot.epoch)
}

/// End the turn; its work is done. `more` goes on record with it.
pub fn finish(
    facts: &ServiceFacts<'_>,
    turn: &ServiceTurn,
    more: &[(&str, Value)],
    event: Option<Event>,
) -> Step {
    let doing = Doing::Finish { member: turn.member.clone(), work: turn.step.into() };
    lock::write(facts.snapshot, None, more, doing).announced(event)
}

/// End the turn before its work is done, and leave the permit where it is.
pub fn end(facts: &ServiceFacts<'_>, turn: &ServiceTurn, why: impl Display) -> Step {
    end_with(facts, turn, &[], why)
}

/// The same, with what goes on record besides.
pub fn end_with(
    facts: &ServiceFacts<'_>,
    turn: &ServiceTurn,
    more: &[(&str, Value)],
    why: impl Display,
) -> Step {
    let (member, work) = (turn.member.clone(), turn.step.into());
    let doing = Doing::End { member, work, why: why.to_string() };
    lock::write(facts.snapshot, None, more, doing)
}

/// Withdraw the permit of this turn: the one for its volume, also where the turn has gone on
/// under another nonce since. By the earlier one the server runs on in its next pod. Whether
/// anything rests on it says the mind.
pub fn withdraw_of_turn(
    facts: &ServiceFacts<'_>,
    turn: &ServiceTurn,
    member: &MemberFact,
) -> Option<Step> {
    let permit = member.spec.as_ref()?.start.as_ref()?;
    (permit.volume_id == turn.volume_id).then(|| withdraw(facts, member)).flatten()
}

/// Withdraw the permit of a member: it has done its work.
pub fn withdraw(facts: &ServiceFacts<'_>, member: &MemberFact) -> Option<Step> {
    member.spec.as_ref()?.start.as_ref()?;
    let meta = &member.object.as_ref()?.meta;
    let doing = Doing::Withdraw { member: member.name.clone() };
    let patch = json!({ "spec": { "start": null } });
    Some(Step::patch_as_seen(MEMBER, meta, patch, doing).fenced(facts.fence()))
}

/// How far the permit of a turn is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Course {
    /// It was not given yet.
    NotGiven,
    /// The pod that it was for has ended.
    PodEnded,
    /// It was given, and its agent is at it.
    Open,
    /// The server serves as a full member.
    Done,
    /// The start failed.
    Failed,
    /// The agent did not start the server at all, and says why.
    Refused(String),
}

/// What came of the permit of this turn. Whoever is a full member by its ledger
/// (`has_joined`, as the mind reads it) needs none any more, also where the permit was
/// withdrawn and the turn did not end with it.
pub fn course(turn: &ServiceTurn, member: &MemberFact, has_joined: bool) -> Course {
    let answer = member.status.permit.as_ref().filter(|p| p.nonce == turn.nonce);
    if answer.is_some_and(|p| p.state == PermitState::Done) || has_joined {
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

/// Does the ledger on the volume of this turn say that its server is a full member?
pub fn is_joined_on_its_volume(turn: &ServiceTurn, member: &MemberFact) -> bool {
    let volume = member.volume();
    let is_joined = volume
        .is_some_and(|v| v.state == MemberVolumeState::Joined && v.volume_id == turn.volume_id);
    member.is_on_its_volume() && is_joined
}

/// Has the member still the volume for which it got the turn? None while no agent reports one.
pub fn keeps_volume(turn: &ServiceTurn, member: &MemberFact) -> Option<bool> {
    member.volume().map(|volume| volume.volume_id == turn.volume_id)
}

/// What happens to what is on the volume of a member that joins.
pub fn data_before_join(member: &MemberFact) -> DataBeforeServiceStart {
    match member.volume().map(|v| v.state) {
        Some(MemberVolumeState::Incomplete | MemberVolumeState::Left) => {
            DataBeforeServiceStart::Wipe
        }
        Some(
            MemberVolumeState::Empty
            | MemberVolumeState::Joined
            | MemberVolumeState::Lost
            | MemberVolumeState::NotMounted
            | MemberVolumeState::Foreign
            | MemberVolumeState::Unaccounted
            | MemberVolumeState::RolledBack
            | MemberVolumeState::Unknown,
        )
        | None => DataBeforeServiceStart::MustBeEmpty,
    }
}

/// Before the first start: what an unfinished one has left behind is removed. What has
/// served may have acknowledged, and is never begun anew: its agent says so by another
/// state than `Incomplete`, starts it by itself, and refuses to remove anything.
pub fn data_before_first(member: &MemberFact) -> DataBeforeServiceStart {
    let is_begun = member.volume().is_some_and(|v| v.state == MemberVolumeState::Incomplete);
    match is_begun {
        true => DataBeforeServiceStart::Wipe,
        false => DataBeforeServiceStart::MustBeEmpty,
    }
}

/// Has the pod of a joiner used up its tries, or has its agent refused? A new pod tries again.
pub fn has_failed_for_good(member: &MemberFact) -> bool {
    let Some(start) = member.spec.as_ref().and_then(|s| s.start.as_ref()) else {
        return false;
    };
    let of_this_pod = member.pod.as_ref().is_some_and(|p| p.uid == start.pod_uid);
    let answer = member.status.permit.as_ref().filter(|p| p.nonce == start.nonce);
    of_this_pod
        && match answer.map(|p| p.state) {
            Some(PermitState::Failed) => start.attempt >= TRIES,
            Some(PermitState::Refused) => true,
            None
            | Some(
                PermitState::Used
                | PermitState::Done
                | PermitState::Withdrawn
                | PermitState::Unknown,
            ) => false,
        }
}

/// Does the new server of a replacement not come up? Its starts fail, its agent refuses, or
/// it has been starting for too long.
pub fn comes_to_nothing(facts: &ServiceFacts<'_>, turn: &ServiceTurn, course: &Course) -> bool {
    match course {
        Course::Failed => turn.attempt >= TRIES,
        Course::Refused(_) => true,
        Course::Open => facts.now() >= turn.since.0 + lost::PATIENCE,
        Course::NotGiven | Course::PodEnded | Course::Done => false,
    }
}

/// Has it not come up for so long that even another one that gave way is worth a try?
pub fn has_had_its_time(facts: &ServiceFacts<'_>, turn: &ServiceTurn, course: &Course) -> bool {
    match course {
        Course::Failed | Course::Refused(_) => turn.attempt >= LONG_TRIES,
        Course::Open => facts.now() >= turn.since.0 + lost::PATIENCE * 2,
        Course::NotGiven | Course::PodEnded | Course::Done => false,
    }
}

/// Was its replacement begun, and did it give way to others because its new server did not
/// come up? Then its permit has failed, or was withdrawn.
pub fn has_given_way(member: &MemberFact) -> bool {
    let is_begun = member.loss().is_some() && !member.is_marked();
    let has_joined = member.volume().is_some_and(|v| v.state == MemberVolumeState::Joined);
    let has_permit = member.spec.as_ref().is_some_and(|s| s.start.is_some());
    is_begun && !has_joined && (!has_permit || has_failed_for_good(member))
}

/// A permit that is in use although no turn is on record.
pub enum Unclaimed {
    /// The turn to take up again, under the same nonce; the mind adds what is its own.
    Turn(Box<ServiceTurn>),
    /// The permit is of a newer operator: nothing else starts while it may be in use.
    NotKnown,
}

/// The first such permit: the status was lost.
pub fn unclaimed_permit<'a>(
    facts: &'a ServiceFacts<'_>,
    draft: &mut Draft,
) -> Option<(&'a MemberFact, Unclaimed)> {
    let (member, start) = facts.members.values().find_map(|m| Some((m, open_permit(m)?)))?;
    let step = match start.kind {
        ServicePermitKind::Initialize => ServiceStep::Initialize,
        ServicePermitKind::Join if member.loss().is_some() => ServiceStep::Replace,
        ServicePermitKind::Join => ServiceStep::Join,
        ServicePermitKind::Rescue => ServiceStep::Rescue,
        ServicePermitKind::Unknown(_) => {
            let waiting = Waiting::UnknownPermit { member: member.name.clone() };
            draft.wait_for(waiting).about(member.subject());
            return Some((member, Unclaimed::NotKnown));
        }
    };
    let mut turn = lock::new(facts.snapshot, &member.name, &start.volume_id, step);
    turn.nonce.clone_from(&start.nonce);
    turn.attempt = start.attempt;
    turn.replaces = member.loss().map(|l| l.lost.clone());
    Some((member, Unclaimed::Turn(Box::new(turn))))
}

/// Has it a permit that would be taken up again as soon as nobody has the turn?
pub fn has_open_permit(member: &MemberFact) -> bool {
    open_permit(member).is_some()
}

/// The permit of a member for the pod that it has, of which nobody has heard the end.
fn open_permit(member: &MemberFact) -> Option<&ServicePermit> {
    let start = member.spec.as_ref()?.start.as_ref()?;
    if member.is_marked() {
        return None; // On a volume that is lost nothing starts.
    }
    let for_this_pod = member.pod.as_ref().is_some_and(|p| p.uid == start.pod_uid);
    let answer = member.status.permit.as_ref().filter(|p| p.nonce == start.nonce);
    let is_open = match answer.map(|p| p.state) {
        None | Some(PermitState::Used | PermitState::Unknown) => true,
        Some(
            PermitState::Done | PermitState::Failed | PermitState::Refused | PermitState::Withdrawn,
        ) => false,
    };
    (for_this_pod && is_open).then_some(start)
}

/// Take that turn up again.
pub fn resume(facts: &ServiceFacts<'_>, turn: &ServiceTurn) -> Step {
    let doing = Doing::Resume { member: turn.member.clone(), work: turn.step.into() };
    lock::write(facts.snapshot, Some(turn), &[], doing)
}
