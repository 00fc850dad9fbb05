//! Who leaves, and what is left behind by members that have left: the claim is kept and says
//! so, the member object goes, and with it the Services that held its addresses.

use super::objects::replicas;
use super::spec::ServiceSpec;
use super::{Draft, Grounds, MEMBER, MemberFact, Prove, ServiceFacts, lost};
use crate::kinds::{CLAIM, POD, SERVICE};
use crate::plan::{Loss, Step};
use crate::words::left::{Doing, Waiting};
use crate::workload::pod::PodFact;
use jiff::Timestamp;
use palladion_api::labels;
use palladion_api::service::ServiceTurn;
use palladion_api::service_member::MemberVolumeState;
use serde_json::json;
use std::cmp::Reverse;

/// Members that the spec does not ask for, and that have not left yet.
pub fn surplus<'a>(
    facts: &'a ServiceFacts<'_>,
    spec: &ServiceSpec,
) -> impl Iterator<Item = &'a MemberFact> {
    let size = spec.size;
    let is_surplus = move |m: &&MemberFact| m.ordinal >= size && m.object.is_some();
    facts.members.values().filter(is_surplus).filter(|m| !m.is_gone())
}

/// Has it lost a volume, whatever has become of its replacement since? With the permit for
/// another volume that one is on record, and the loss stands beside it until all is over. As
/// long as all deciders mean these by a lost leaver, none gives a turn that another takes away.
pub fn is_lost_leaver(member: &MemberFact) -> bool {
    member.is_lost() || member.loss().is_some()
}

/// Is one of them lost?
pub fn has_lost(facts: &ServiceFacts<'_>, spec: &ServiceSpec) -> bool {
    surplus(facts, spec).any(is_lost_leaver)
}

/// Who of them leaves first. The lost ones do, wherever they stand: without them the others
/// are fewer than they look, and each of these serves.
pub fn first<'a>(facts: &'a ServiceFacts<'_>, spec: &ServiceSpec) -> Option<&'a MemberFact> {
    in_order(facts, spec).into_iter().next()
}

/// All of them, in the order in which they leave.
pub fn in_order<'a>(facts: &'a ServiceFacts<'_>, spec: &ServiceSpec) -> Vec<&'a MemberFact> {
    let mut all: Vec<&MemberFact> = surplus(facts, spec).collect();
    all.sort_by_key(|m| Reverse((is_lost_leaver(m), m.ordinal)));
    all
}

/// Has its agent yet to note on the volume that it has left? A volume without that note is
/// one of a member, and does not join again by itself.
pub fn is_to_be_noted(facts: &ServiceFacts<'_>, member: &MemberFact) -> bool {
    let intent = member.spec.as_ref().and_then(|spec| spec.intent.as_ref());
    let volume = member.volume().filter(|v| intent.is_some_and(|i| i.volume_id == v.volume_id));
    let is_members =
        |state| matches!(state, MemberVolumeState::Joined | MemberVolumeState::Incomplete);
    member.agent_answers(&facts.nodes) && volume.is_some_and(|v| is_members(v.state))
}

/// Whether the turn of a member that is on record as out goes on until its server has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// However long that takes.
    Awaited,
    /// Until then.
    AwaitedUntil(Timestamp),
    /// Nothing is waited for any more.
    Over,
}

/// Is it still waited for that the server of this leaver stops, and that its agent notes that
/// it has left?
///
/// A lost one is out by its record and by the word of all others, whose configuration it cannot
/// vote in, and whatever comes back of it is not started: see [`super::old_data`]. Its pod may
/// hang, or its volume take no note, for ever, and its set keeps that pod as long as a member
/// above is there. Whose agent says that it serves is waited for all the same.
pub fn end(facts: &ServiceFacts<'_>, turn: &ServiceTurn, member: &MemberFact) -> End {
    if !member.may_run() && !is_to_be_noted(facts, member) {
        return End::Over;
    }
    if !is_lost_leaver(member) || member.serves {
        return End::Awaited;
    }
    // One that was permitted on another volume may be joining at this moment, and one that is
    // asked to end says nothing while it does.
    let is_ending = member.pod.as_ref().is_some_and(|pod| pod.terminating);
    if is_silent(facts, member) && member.is_marked() && !is_ending {
        return End::Over;
    }
    // By our own clock, from the question whose answers have proven that it is out.
    let asked = turn.question.as_ref().map_or(turn.since.0, |question| question.since.0);
    let until = asked + lost::PATIENCE;
    match facts.now() < until {
        true => End::AwaitedUntil(until),
        false => End::Over,
    }
}

/// Does no agent say now how it is?
fn is_silent(facts: &ServiceFacts<'_>, member: &MemberFact) -> bool {
    !member.agent_answers(&facts.nodes)
}

/// Tidy up after members that are on record as gone, and whose pods are gone.
pub fn tidy_up(facts: &ServiceFacts<'_>, spec: &ServiceSpec, prove: Prove, draft: &mut Draft) {
    let is_over = |m: &MemberFact| facts.turn().is_none_or(|t| t.member != m.name);
    for member in facts.members.values().filter(|m| m.is_gone() && is_over(m)) {
        match &member.pod {
            None => after(facts, member, prove, draft),
            Some(pod) if is_kept(facts, spec, member) => {
                end_and_tidy_up(facts, member, pod, prove, draft);
            }
            Some(_) => {}
        }
    }
}

/// Does the spec ask for it again, and the set keep its pod? It left below another one that
/// stays: a set has no gaps, and makes that pod anew whenever it ends. Without this nobody
/// would ever come in its place.
fn is_kept(facts: &ServiceFacts<'_>, spec: &ServiceSpec, member: &MemberFact) -> bool {
    member.ordinal < spec.size && member.ordinal < replicas::of(facts, spec)
}

/// The claim first, then the rest with the pod: the next pod finds no record of who has left,
/// and gets one of its own.
fn end_and_tidy_up(
    facts: &ServiceFacts<'_>,
    member: &MemberFact,
    pod: &PodFact,
    prove: Prove,
    draft: &mut Draft,
) {
    // What its agent has yet to do, or to say, it does by the record. Of a lost one that is
    // silent, or has ended, nothing is awaited: record and claim go with the pod, and so it happens once.
    let is_awaited = member.may_run() || is_to_be_noted(facts, member);
    let notes_nothing = is_silent(facts, member) || !member.may_run();
    let goes_unheard = is_lost_leaver(member) && notes_nothing;
    if !pod.terminating && is_awaited && !goes_unheard {
        let (name, server) = (member.name.clone(), member.server_words());
        draft.wait_for(Waiting::ForEnd { member: name, server }).about(member.subject());
        return;
    }
    let is_released = member.claim.as_ref().is_none_or(|c| c.identity.is_none());
    if is_released && !pod.terminating {
        if draft.is_disruptive() {
            return; // One disruption in a plan; the next decision goes on with this one.
        }
        let seen = pod.seen(&facts.snapshot.owner.meta.namespace);
        let doing = Doing::DeletePod { member: member.name.clone() };
        let proof = Grounds::has_left(facts, member).map(|grounds| prove(&grounds));
        let step = Step::delete_as_seen(POD, &seen, Loss::Process, doing);
        draft.steps.push(step.fenced(facts.fence()).proven(proof));
    }
    after(facts, member, prove, draft);
}

fn after(facts: &ServiceFacts<'_>, member: &MemberFact, prove: Prove, draft: &mut Draft) {
    // A volume that comes back here gets a permit of its own, and nothing is known by
    // what it was called any more.
    if let Some(claim) = member.claim.as_ref().filter(|c| c.identity.is_some()) {
        let annotations = json!({
            labels::GONE: claim.identity, facts.kind.identity: null, labels::VOLUME_ID: null,
            labels::ADDRESS: null,
        });
        let meta = &claim.object.meta;
        let patch = json!({ "metadata": { "annotations": annotations } });
        let doing = Doing::ReleaseClaim { claim: meta.name.clone() };
        draft.steps.push(Step::patch_as_seen(CLAIM, meta, patch, doing));
        return;
    }
    // The others know of it no more: that was proven before.
    for service in member.services.iter().filter(|s| !s.object.meta.is_terminating()) {
        let meta = &service.object.meta;
        let doing = Doing::DeleteService { service: meta.name.clone() };
        draft.steps.push(Step::delete_seen(SERVICE, meta, Loss::Nothing, doing));
    }
    let Some(object) = member.object.as_ref().filter(|o| !o.meta.is_terminating()) else {
        return;
    };
    let doing = Doing::DeleteMember { member: member.name.clone() };
    draft.steps.push(
        Step::delete_as_seen(MEMBER, &object.meta, Loss::Nothing, doing)
            .proven(Grounds::has_left(facts, member).map(|grounds| prove(&grounds))),
    );
}
