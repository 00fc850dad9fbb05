//! Scale-down: a member leaves by recorded intent, the rest of the ring proves
//! that it is gone, and only then does its pod go. The claim is kept.

use super::evidence::{self, Verdict};
use super::gone::{self, Gone, Voters};
use super::leaving_steps::{end, renew, terminate, withdraw};
use super::{Draft, debts, given_up, leave_refused, replicas, resuming, system_keyspaces, turn};
use crate::facts::{Facts, MemberFact};
use crate::resources as kinds;
use crate::status::server_words;
use crate::validate::{Valid, ValidRack};
use jiff::SignedDuration;
use palladion_api::cluster::{Turn, TurnStep};
use palladion_api::member::{Evidence, IntentKind, IntentState, VolumeState};
use palladion_api::reasons::Reason;
use palladion_plan::{ObjectKey, Precondition, Step, Subresource};
use serde_json::json;

/// Gossip settles within seconds; then the question is put again.
const ASK_AGAIN: SignedDuration = SignedDuration::from_secs(5);
/// Disks that lack room are looked at again after this long.
const LOOK_FOR_ROOM: SignedDuration = SignedDuration::from_secs(120);
/// A leave that failed is not tried again at once: its cause is rarely gone.
const LEAVE_RETRY: SignedDuration = SignedDuration::from_secs(60);

/// The next member that should leave, if the ring can spare it. True =
/// something is being done or waited for that the rest must not overtake.
pub fn next(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) -> bool {
    let Some((rack, member)) = candidate(facts, valid) else {
        return false;
    };
    if member.recorded_host_id().is_none() {
        return never_joined(facts, valid, member, draft);
    }
    let refuse = |draft: &mut Draft, reason, why: String| {
        draft.wait(
            reason,
            format!("member {} waits to leave: {why}", member.name),
        );
        true
    };
    if let Err(why) = evidence::ring_is_quiet(facts) {
        return refuse(draft, Reason::WaitingForRing, why);
    }
    if let Some(why) = debts::first(facts) {
        refuse(draft, Reason::DebtsOwed, why);
        return debts::pay(facts, valid, draft);
    }
    let left = facts
        .members
        .values()
        .filter(|m| m.recorded_host_id().is_some())
        .count()
        - 1;
    if left == 0 {
        draft.trouble(
            Reason::LeaveRefused,
            format!(
                "member {} is the last one of the ring; to end the ring delete the cluster",
                member.name
            ),
        );
        return true;
    }
    if !system_keyspaces::fit(facts, valid, left) {
        system_keyspaces::set(facts, valid, left, draft);
        return true;
    }
    if let Some(why) = leave_refused::by_replication(facts, rack, left) {
        draft.trouble(
            Reason::LeaveRefused,
            format!("member {} cannot leave: {why}", member.name),
        );
        return true;
    }
    if let Some((why, read_at)) = leave_refused::by_disk(facts, member, last_figures)
        && facts.now() < read_at + LOOK_FOR_ROOM
    {
        refused_by_disk(member, &why, read_at, draft);
        return true;
    }
    if let Some(again) = failed_until(facts, member) {
        draft.wait_until(
            Reason::MemberLeaving,
            format!("member {} tries again to leave at {again}", member.name),
            again,
        );
        return true;
    }
    let Some(volume) = member.volume() else {
        return false;
    };
    let turn = turn::new(facts, &member.name, &volume.volume_id, TurnStep::Leave, 1);
    draft.steps.push(turn::claim(
        facts,
        Some(&turn),
        None,
        format!("give member {} the turn to leave", member.name),
        super::synced(format!(
            "Rack {} scaling down to {} members",
            rack.name, member.ordinal
        )),
    ));
    true
}

fn last_answer(member: &MemberFact) -> Option<&Evidence> {
    member.status.evidence.as_ref()
}

/// The last answer to whatever was asked: of disks it is a good hint.
fn last_figures(member: &MemberFact) -> Option<&Evidence> {
    last_answer(member).filter(|e| e.disk.is_some())
}

fn refused_by_disk(member: &MemberFact, why: &str, read_at: jiff::Timestamp, draft: &mut Draft) {
    let words = format!("member {} cannot leave: {why}", member.name);
    draft.trouble(Reason::LeaveRefused, words.clone());
    draft.wait_until(Reason::LeaveRefused, words, read_at + LOOK_FOR_ROOM);
}

/// Highest ordinal of the rack that is furthest above its target.
fn candidate<'a, 'v>(
    facts: &'a Facts<'_>,
    valid: &'v Valid,
) -> Option<(&'v ValidRack, &'a MemberFact)> {
    valid
        .racks
        .iter()
        .map(|rack| (replicas::of(facts, rack), rack))
        .filter(|(have, rack)| *have > rack.members)
        .max_by_key(|(have, rack)| have - rack.members)
        .and_then(|(have, rack)| {
            let name = palladion_api::names::member(&rack.set, have - 1);
            facts.members.get(&name).map(|m| (rack, m))
        })
}

/// A member without a host ID holds no ranges: its permit must be void, then
/// it is gone.
fn never_joined(facts: &Facts<'_>, valid: &Valid, member: &MemberFact, draft: &mut Draft) -> bool {
    let Some(spec) = &member.spec else {
        return false;
    };
    if member
        .volume()
        .is_some_and(|v| v.state == VolumeState::Joined)
    {
        draft.wait(
            Reason::MemberLeaving,
            format!(
                "member {} is being recorded before it can leave",
                member.name
            ),
        );
        return true;
    }
    let in_use = spec.start.as_ref().is_some_and(|s| {
        member.pod.as_ref().is_some_and(|p| p.uid == s.pod_uid)
            && member.status.server.as_ref().is_some_and(|s| {
                use palladion_api::member::ServerState as S;
                matches!(s.state, S::Starting | S::Running | S::Stopping)
            })
    });
    if in_use {
        draft.wait(
            Reason::MemberLeaving,
            format!(
                "member {} is joining; it leaves when that has come to an end",
                member.name
            ),
        );
        return true;
    }
    // A member that was killed right after it had joined never came to say so:
    // the ring knows it, down and normal, and it is no longer nobody's.
    if let Err(why) = evidence::ring_is_quiet(facts) {
        draft.wait(
            Reason::WaitingForRing,
            format!("member {} waits to leave: {why}", member.name),
        );
        return true;
    }
    draft.steps.push(terminate(
        facts,
        valid,
        member,
        "it never joined, no server of it runs and the ring knows nobody else",
        None,
    ));
    true
}

/// An intent that is under way although no turn is on record (the status was
/// lost): the turn is taken up again under the same nonce.
pub fn adopt_intent(facts: &Facts<'_>, draft: &mut Draft) -> bool {
    let open = facts.members.values().filter(|m| !m.is_gone());
    let mut found = open.filter_map(|m| Some((m, m.spec.as_ref()?.intent.as_ref()?)));
    let Some((member, intent)) = found.next() else {
        return false;
    };
    let mut turn = turn::new(facts, &member.name, &intent.volume_id, TurnStep::Leave, 1);
    turn.nonce.clone_from(&intent.nonce);
    draft.steps.push(turn::claim(
        facts,
        Some(&turn),
        None,
        format!("take up the turn of member {} again", member.name),
        None,
    ));
    true
}

fn failed_until(facts: &Facts<'_>, member: &MemberFact) -> Option<jiff::Timestamp> {
    let failed = member
        .status
        .intent
        .as_ref()
        .filter(|i| i.state == IntentState::Failed)?;
    let again = failed.since.as_ref()?.0 + LEAVE_RETRY;
    (facts.now() < again).then_some(again)
}

/// Go on with a Leave turn.
pub fn advance(facts: &Facts<'_>, valid: &Valid, turn: &Turn, draft: &mut Draft) {
    let Some(member) = facts.members.get(&turn.member) else {
        return end(facts, turn, "the member is gone", None, draft);
    };
    if member.is_gone() {
        let event = super::synced(format!(
            "Rack {} scaled down to {} members",
            member.rack, member.ordinal
        ));
        return end(facts, turn, "it has left", event, draft);
    }
    if given_up::of(member).is_some() {
        // It will never go on with it; the others remove it instead.
        draft.steps.push(withdraw(valid, member));
        return end(facts, turn, "its volume is given up", None, draft);
    }
    let intent = member
        .spec
        .as_ref()
        .and_then(|s| s.intent.as_ref())
        .filter(|i| i.nonce == turn.nonce);
    let answer = member
        .status
        .intent
        .as_ref()
        .filter(|i| i.nonce == turn.nonce);
    match (intent, answer.map(|a| a.state)) {
        (None, _) => before_intent(facts, valid, turn, member, draft),
        (Some(_), Some(IntentState::Failed)) if resuming::is_interrupted(member) => {
            draft.steps.push(withdraw(valid, member));
            end(
                facts,
                turn,
                "its server ended before it had left",
                None,
                draft,
            );
        }
        (Some(_), Some(IntentState::Failed | IntentState::Refused)) => {
            let why = answer.and_then(|a| a.message.clone()).unwrap_or_default();
            draft.trouble(
                Reason::LeaveRefused,
                format!("member {} could not leave: {why}", member.name),
            );
            draft.steps.push(withdraw(valid, member));
            end(
                facts,
                turn,
                &format!("it could not leave: {why}"),
                None,
                draft,
            );
        }
        (Some(_), Some(IntentState::Done)) => prove_gone(facts, valid, turn, member, draft),
        (Some(_), None | Some(IntentState::Running)) => {
            draft.wait(
                Reason::MemberLeaving,
                format!(
                    "member {} leaves the ring: {}",
                    member.name,
                    server_words(member)
                ),
            );
        }
    }
}

fn before_intent(
    facts: &Facts<'_>,
    valid: &Valid,
    turn: &Turn,
    member: &MemberFact,
    draft: &mut Draft,
) {
    let still_wanted = candidate(facts, valid).is_none_or(|(_, m)| m.name != member.name);
    if still_wanted {
        return end(facts, turn, "the spec wants it again", None, draft);
    }
    let (Some(object), Some(host_id)) = (&member.object, member.recorded_host_id()) else {
        return;
    };
    // All are asked: who receives the data must have room for it.
    let mut witnesses = evidence::others(facts, &member.name);
    witnesses.push(member);
    let verdict = evidence::verdict(facts, &witnesses, &turn.nonce, &[]);
    let no_room = leave_refused::by_disk(facts, member, |m| {
        last_answer(m).filter(|e| e.nonce == turn.nonce)
    });
    if let (Verdict::Good(_), Some((why, read_at))) = (&verdict, no_room) {
        refused_by_disk(member, &why, read_at, draft);
        return end(facts, turn, &why, None, draft);
    }
    match verdict {
        Verdict::Good(_) => draft.steps.push(Step::Patch {
            key: ObjectKey::new(kinds::MEMBER, &valid.namespace, &member.name),
            patch: json!({ "spec": { "intent": {
                "kind": IntentKind::Decommission,
                "nonce": turn.nonce,
                "hostID": host_id,
                "volumeID": turn.volume_id,
            }}}),
            subresource: Subresource::None,
            precondition: Precondition::Version {
                uid: object.meta.uid.clone(),
                resource_version: object.meta.resource_version.clone(),
            },
            fence: Some(turn::fence(facts, turn)),
            doing: format!("let member {} leave", member.name),
            event: super::synced(format!("Member {} leaves the ring", member.name)),
        }),
        Verdict::Waiting(names) => {
            evidence::ask(
                facts,
                &witnesses,
                &turn.nonce,
                &turn::fence(facts, turn),
                draft,
            );
            draft.wait_until(
                Reason::WaitingForEvidence,
                format!(
                    "member {} waits to leave: {} should tell how they see the ring",
                    member.name,
                    names.join(", ")
                ),
                evidence::void_from(turn),
            );
        }
        Verdict::Bad { why, read_at } => {
            let again = read_at + ASK_AGAIN;
            draft.wait_until(
                Reason::WaitingForRing,
                format!("member {} waits to leave: {why}", member.name),
                again,
            );
            if facts.now() >= again {
                end(facts, turn, &why, None, draft);
            }
        }
    }
}

/// The member says that it has left; now the others must say so.
fn prove_gone(
    facts: &Facts<'_>,
    valid: &Valid,
    turn: &Turn,
    member: &MemberFact,
    draft: &mut Draft,
) {
    let Some(host_id) = member.recorded_host_id() else {
        return;
    };
    let nonce = format!("{}-gone", turn.nonce);
    let others = evidence::others(facts, &member.name);
    match gone::is_gone(facts, &others, &nonce, host_id, Voters::Majority) {
        Gone::Proven(proof) => {
            draft
                .steps
                .push(terminate(facts, valid, member, &proof, Some(turn)))
        }
        Gone::Waiting(names) => {
            evidence::ask(facts, &others, &nonce, &turn::fence(facts, turn), draft);
            draft.wait(
                Reason::WaitingForEvidence,
                format!(
                    "member {} has left; {} should confirm it",
                    member.name,
                    names.join(", ")
                ),
            );
        }
        Gone::NotYet { why, read_at } => {
            let again = read_at + ASK_AGAIN;
            draft.wait_until(
                Reason::WaitingForEvidence,
                format!("member {} has left: {why}", member.name),
                again,
            );
            if facts.now() >= again {
                // The same turn asks again under a fresh nonce.
                let mut renewed = turn::new(
                    facts,
                    &turn.member,
                    &turn.volume_id,
                    TurnStep::Leave,
                    turn.attempt + 1,
                );
                renewed.since = turn.since.clone();
                draft.steps.push(renew(valid, member, &renewed));
                draft.steps.push(turn::claim(
                    facts,
                    Some(&renewed),
                    None,
                    format!("ask again whether member {} has left", member.name),
                    None,
                ));
            }
        }
    }
}
