//! Replacing a member whose data is lost: proven dead by the others, on a new
//! volume and under a new address, so that writes reach it while it streams.

use super::evidence::{self, Gone, Verdict};
use super::{Draft, grant, replicas, turn};
use crate::facts::{Facts, MemberFact};
use crate::resources as kinds;
use crate::status::{pod_words, server_words};
use crate::validate::Valid;
use jiff::{SignedDuration, Timestamp};
use palladion_api::cluster::{Replaced, Turn, TurnStep};
use palladion_api::member::{PermitState, VolumeState};
use palladion_api::reasons::Reason;
use palladion_plan::{Loss, ObjectKey, Precondition, Propagation, Step, Subresource};
use serde_json::{Value, json};

/// Gossip settles within seconds; then the question is put again.
const ASK_AGAIN: SignedDuration = SignedDuration::from_secs(5);
/// A failed replacement is remembered by gossip; the next try waits for that to pass.
const REPLACE_RETRY: SignedDuration = SignedDuration::from_secs(120);
/// Tries before a person is asked.
const TRIES: u32 = 3;

/// The first member whose volume is provably lost. True = something is being
/// done or waited for.
pub fn next(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) -> bool {
    for (_, name) in replicas::in_order(facts, valid) {
        let Some(member) = facts.members.get(&name) else {
            continue;
        };
        let Some((volume_id, replaced)) = lost(member) else {
            continue;
        };
        if let Err(why) = rest_is_quiet(facts, &name, &replaced.host_id) {
            draft.wait(
                Reason::MemberReplacing,
                format!("member {name} has lost its data and waits to be replaced: {why}"),
            );
            return true;
        }
        let mut turn = turn::new(facts, &name, &volume_id, TurnStep::Replace, 1);
        turn.replaces = Some(replaced);
        draft.steps.push(turn::claim(
            facts,
            Some(&turn),
            None,
            format!("give member {name} the turn to be replaced"),
            super::synced(format!(
                "Member {name} has lost its data and is being replaced"
            )),
        ));
        return true;
    }
    false
}

/// The marker rule: the recorded volume's marker is missing on the recorded
/// file system. Or a replacement was begun and did not come to its end: the
/// lost identity was taken off the record, and stands on the claim alone.
fn lost(member: &MemberFact) -> Option<(String, Replaced)> {
    let volume = member.volume()?;
    let spec = member.spec.as_ref()?;
    let claim = member.claim.as_ref();
    let (host_id, address) = match volume.state {
        VolumeState::Lost => (
            member.recorded_host_id()?.to_string(),
            spec.address.clone()?,
        ),
        VolumeState::Empty | VolumeState::Incomplete if spec.host_id.is_none() => {
            let claim =
                claim.filter(|c| c.volume_id.as_ref().is_some_and(|v| *v != volume.volume_id))?;
            (claim.host_id.clone()?, claim.address.clone()?)
        }
        VolumeState::Empty
        | VolumeState::Incomplete
        | VolumeState::Joined
        | VolumeState::Left
        | VolumeState::NotMounted
        | VolumeState::Foreign
        | VolumeState::Unaccounted => return None,
    };
    Some((volume.volume_id.clone(), Replaced { host_id, address }))
}

/// All others are up and normal, and see nobody in trouble but the lost one.
fn rest_is_quiet(facts: &Facts<'_>, name: &str, host_id: &str) -> Result<(), String> {
    let mut others = 0;
    for member in facts
        .members
        .values()
        .filter(|m| m.name != name && m.recorded_host_id().is_some())
    {
        others += 1;
        if !member.is_normal() {
            return Err(format!("member {} is not up and normal", member.name));
        }
        let Some(ring) = &member.status.ring else {
            return Err(format!(
                "member {} has not reported its ring yet",
                member.name
            ));
        };
        if let Some(odd) = ring.exceptions.iter().find(|e| e.host_id != host_id) {
            return Err(format!(
                "member {} sees {} {:?} and {:?}",
                member.name, odd.address, odd.liveness, odd.state
            ));
        }
        if !ring.exceptions.iter().any(|e| e.host_id == host_id) {
            return Err(format!("member {} still sees it up", member.name));
        }
    }
    match others {
        0 => Err("it was the only member of the ring; its data is gone. Restore a backup, or annotate for a new founding".into()),
        _ => Ok(()),
    }
}

/// Go on with a Replace turn.
pub fn advance(facts: &Facts<'_>, valid: &Valid, turn: &Turn, draft: &mut Draft) {
    let (Some(member), Some(replaced)) = (facts.members.get(&turn.member), &turn.replaces) else {
        return end(facts, turn, "the member is gone", draft);
    };
    let permit = member
        .status
        .permit
        .as_ref()
        .filter(|p| p.nonce == turn.nonce);
    if permit.is_some_and(|p| p.state == PermitState::Done) {
        let recorded = member.spec.as_ref().and_then(|s| s.host_id.as_deref());
        if recorded.is_some_and(|id| id != replaced.host_id) {
            return end(facts, turn, "it was replaced", draft);
        }
        return draft.wait(
            Reason::MemberReplacing,
            format!(
                "member {} was replaced; its host ID is being recorded",
                member.name
            ),
        );
    }
    let granted = member
        .spec
        .as_ref()
        .and_then(|s| s.start.as_ref())
        .filter(|s| s.nonce == turn.nonce);
    let Some(start) = granted else {
        return before_permit(facts, valid, turn, member, replaced, draft);
    };
    if member.pod.as_ref().is_none_or(|p| p.uid != start.pod_uid) {
        return end(facts, turn, "the pod that it was for has ended", draft);
    }
    match permit.map(|p| p.state) {
        None | Some(PermitState::Used | PermitState::Done) => {
            draft.wait(
                Reason::MemberReplacing,
                format!(
                    "member {} streams the data of {}: {}",
                    member.name,
                    replaced.address,
                    server_words(member)
                ),
            );
        }
        Some(PermitState::Failed) => retry(facts, turn, member, draft),
        Some(PermitState::Refused | PermitState::Withdrawn) => {
            let why = permit.and_then(|p| p.message.clone()).unwrap_or_default();
            end(facts, turn, &format!("the agent refused: {why}"), draft);
        }
    }
}

fn before_permit(
    facts: &Facts<'_>,
    valid: &Valid,
    turn: &Turn,
    member: &MemberFact,
    replaced: &Replaced,
    draft: &mut Draft,
) {
    let nonce = &turn.nonce;
    let others = evidence::others(facts, &member.name);
    let proof = match evidence::dead(facts, &others, nonce, &replaced.host_id) {
        Gone::Proven(proof) => proof,
        Gone::Waiting(names) => {
            evidence::ask(facts, &others, nonce, &turn::fence(facts, turn), draft);
            return draft.wait_until(
                Reason::WaitingForEvidence,
                format!(
                    "member {} waits to be replaced: {} should confirm that it is dead",
                    member.name,
                    names.join(", ")
                ),
                evidence::void_from(turn),
            );
        }
        Gone::NotYet { why, read_at } => return not_yet(facts, turn, member, &why, read_at, draft),
    };
    // The dead one is all that this step repairs; any other absence forbids it.
    let rest = evidence::verdict(facts, &others, nonce, &[&replaced.host_id]);
    if let Verdict::Bad { why, read_at } = rest {
        return not_yet(facts, turn, member, &why, read_at, draft);
    }
    let address = member.spec.as_ref().and_then(|s| s.address.as_deref());
    match (address, &member.service) {
        (Some(address), _) if *address == replaced.address => {
            forget(facts, valid, turn, member, draft)
        }
        (None, Some(service)) if service.address.as_deref() == Some(replaced.address.as_str()) => {
            draft
                .steps
                .push(free_address(facts, valid, turn, member, &service.uid));
        }
        (None, Some(service)) => {
            if let Some(new) = service.address.clone() {
                draft.steps.push(patch(
                    facts,
                    valid,
                    turn,
                    member,
                    json!({ "address": new }),
                    "record the new address of",
                ));
            }
        }
        (Some(_), _) => {
            let ready = member
                .volume()
                .is_some_and(|v| v.volume_id == turn.volume_id);
            if ready {
                grant::permit(facts, valid, turn, member, &proof, draft);
            } else {
                draft.wait(
                    Reason::MemberReplacing,
                    format!("member {} has the turn: {}", member.name, pod_words(member)),
                );
            }
        }
        (None, None) => draft.wait(
            Reason::MemberReplacing,
            format!("member {} gets a new address", member.name),
        ),
    }
}

/// The answers forbid it; the question is put again soon.
fn not_yet(
    facts: &Facts<'_>,
    turn: &Turn,
    member: &MemberFact,
    why: &str,
    read_at: Timestamp,
    draft: &mut Draft,
) {
    let again = read_at + ASK_AGAIN;
    draft.wait_until(
        Reason::MemberReplacing,
        format!("member {} waits to be replaced: {why}", member.name),
        again,
    );
    if facts.now() >= again {
        end(facts, turn, why, draft);
    }
}

/// Take the lost identity off the record: it stands in the turn and on the claim.
fn forget(facts: &Facts<'_>, valid: &Valid, turn: &Turn, member: &MemberFact, draft: &mut Draft) {
    let spec = json!({ "address": null, "hostID": null, "volumeID": null, "fileSystem": null, "start": null });
    draft.steps.push(patch(
        facts,
        valid,
        turn,
        member,
        spec,
        "take the lost volume off the record of",
    ));
}

fn patch(
    facts: &Facts<'_>,
    valid: &Valid,
    turn: &Turn,
    member: &MemberFact,
    spec: Value,
    what: &str,
) -> Step {
    let meta = member.object.as_ref().map(|o| &o.meta);
    Step::Patch {
        key: ObjectKey::new(kinds::MEMBER, &valid.namespace, &member.name),
        patch: json!({ "spec": spec }),
        subresource: Subresource::None,
        precondition: Precondition::Version {
            uid: meta.map(|m| m.uid.clone()).unwrap_or_default(),
            resource_version: meta.map(|m| m.resource_version.clone()).unwrap_or_default(),
        },
        fence: Some(turn::fence(facts, turn)),
        doing: format!("{what} member {}", member.name),
        event: None,
    }
}

fn free_address(
    facts: &Facts<'_>,
    valid: &Valid,
    turn: &Turn,
    member: &MemberFact,
    uid: &str,
) -> Step {
    Step::Delete {
        key: ObjectKey::new(kinds::SERVICE, &valid.namespace, &member.name),
        precondition: Precondition::Uid(uid.to_string()),
        loss: Loss::Nothing,
        propagation: Propagation::Background,
        fence: Some(turn::fence(facts, turn)),
        doing: format!("give member {} a new address", member.name),
        event: None,
    }
}

fn retry(facts: &Facts<'_>, turn: &Turn, member: &MemberFact, draft: &mut Draft) {
    let words = super::joining::failure_words(member);
    draft.trouble(super::joining::failure_reason(member), words);
    if turn.attempt >= TRIES {
        return draft.wait(
            Reason::MemberReplacing,
            format!(
                "member {} could not be replaced in {TRIES} tries; a person should look at it",
                member.name
            ),
        );
    }
    let ended = member
        .status
        .start_history
        .first()
        .and_then(|s| s.ended_at.as_ref())
        .map_or(turn.since.0, |t| t.0);
    let again = ended + REPLACE_RETRY;
    if facts.now() < again {
        return draft.wait_until(
            Reason::MemberReplacing,
            format!("member {} tries again at {again}", member.name),
            again,
        );
    }
    let mut next = turn::new(
        facts,
        &turn.member,
        &turn.volume_id,
        TurnStep::Replace,
        turn.attempt + 1,
    );
    next.replaces.clone_from(&turn.replaces);
    draft.steps.push(turn::claim(
        facts,
        Some(&next),
        None,
        format!("let member {} try again", turn.member),
        None,
    ));
}

fn end(facts: &Facts<'_>, turn: &Turn, why: &str, draft: &mut Draft) {
    let event = super::synced(format!(
        "Replacement of member {} ended: {why}",
        turn.member
    ));
    draft.steps.push(turn::claim(
        facts,
        None,
        None,
        format!("end the turn of member {}: {why}", turn.member),
        event,
    ));
}
