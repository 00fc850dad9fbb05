//! A person asks for a member to be replaced, by a label on the member or on
//! its Service, as in scylla-operator. The label is consumed into a record that names the
//! volume before anything acts, so that it cannot be left over.

use crate::decide::draft::Draft;
use crate::decide::evidence::{self, absence, marks};
use crate::facts::words::server_words;
use crate::facts::{Facts, MemberFact, may_be_of_member};
use crate::resources as kinds;
use crate::validate::Valid;
use crate::words::evidence::Marked;
use crate::words::replace::{Doing, Happened, Instead, Refused};
use palladion_api::cluster::{Turn, TurnStep};
use palladion_api::ids::{HostId, MemberName, Uid};
use palladion_api::labels;
use palladion_api::member::{OperationState, ReplacementCause, SeedChoice, ServerState};
use palladion_plan::words::{Names, Reasoned};
use palladion_plan::{Event, EventType, ObjectKey, Precondition, Step};
use serde_json::json;

/// Take up what people ask for.
pub fn decide(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) {
    for member in facts.members.values() {
        let on_member =
            member.object.as_ref().is_some_and(|o| o.meta.labels.contains_key(labels::REPLACE));
        let on_service = service_label(facts, &member.name);
        if !on_member && on_service.is_none() {
            continue;
        }
        if marks::of(member).is_none() {
            match refused(facts, member) {
                None => draft.steps.extend(take_up(member)),
                Some(why) => draft.steps.extend(refuse(valid, member, on_member, why)),
            }
        } else if on_member {
            draft.steps.extend(without_label(member, None));
        }
        let told = marks::of(member).is_none() && refused(facts, member).is_some();
        if let Some(uid) = on_service.filter(|_| on_member || !told) {
            draft.steps.push(clean_service(valid, member, &uid, None));
        }
    }
}

fn service_label(facts: &Facts<'_>, member: &MemberName) -> Option<Uid> {
    let services = facts.objects(kinds::SERVICE).iter();
    let mut labelled = services.filter(|s| s.meta.labels.contains_key(labels::REPLACE));
    labelled.find(|s| s.meta.name == member.as_str()).map(|s| s.meta.uid.clone())
}

/// What speaks against replacing a member because a person asks for it, in the
/// order in which people are told.
pub fn refused(facts: &Facts<'_>, member: &MemberFact) -> Option<Refused> {
    let Some(host_id) = member.recorded_host_id() else {
        return Some(Refused::NoMember);
    };
    is_pinned(member)
        .or_else(|| is_alive(facts, member, host_id))
        .or_else(|| would_come_back(facts, member))
        .or_else(|| is_busy(facts, member))
        .or_else(|| is_alone(facts, member))
}

/// Whom people want as a seed they do not lose by a replacement unawares; one by
/// its ordinal hands over by itself.
fn is_pinned(member: &MemberFact) -> Option<Refused> {
    let is_pinned = member.wanted().is_some_and(|w| w.seed == SeedChoice::Always);
    is_pinned.then(|| Refused::PinnedSeed { member: member.name.clone() })
}

/// It lives, by its own word or in the view of any other member.
fn is_alive(facts: &Facts<'_>, member: &MemberFact, host_id: &HostId) -> Option<Refused> {
    let mut doubts = evidence::seen_up_by(facts, &member.name, host_id);
    let name = member.name.clone();
    if member.is_normal() {
        if !doubts.is_empty() {
            let (seen_by, instead) = (Names::of(&doubts), instead(facts, member));
            return Some(Refused::UpAndNormal { seen_by, instead });
        }
        let lives = member.lives_by_its_own_word(&facts.nodes);
        return lives.then_some(Refused::CutOff { member: name });
    }
    // What a machine that does not answer has seen last is nobody's view.
    let lives = |name: &MemberName| {
        facts.members.get(name).is_some_and(|m| m.lives_by_its_own_word(&facts.nodes))
    };
    doubts.retain(lives);
    let is_seen = !doubts.is_empty() && !absence::has_left(facts, member);
    is_seen.then(|| Refused::SeenUp { seen_by: Names::of(&doubts), member: name })
}

/// Its agent would start it again on its data, unless that was given up.
fn would_come_back(facts: &Facts<'_>, member: &MemberFact) -> Option<Refused> {
    // What nobody has read may be its data.
    let holds_data = member.volume().is_none_or(|v| may_be_of_member(v.state));
    let is_given_up = member.is_terminated() || member.is_banned();
    let is_out = is_given_up || absence::has_left(facts, member);
    let comes_back = holds_data && !is_out && member.agent_answers(&facts.nodes);
    comes_back.then(|| Refused::NotTerminated {
        member: member.name.clone(),
        server: server_words(member),
    })
}

/// Something of it is under way. What a dead one seems to do ends with it.
fn is_busy(facts: &Facts<'_>, member: &MemberFact) -> Option<Refused> {
    // A restart of a machine that does not answer never ends, but by the replacement, and neither
    // does one of a pod that finds no place, or of a server that its agent does not start.
    let has_no_place = member.pod.as_ref().is_some_and(|pod| pod.unschedulable.is_some());
    let never_ends = member.silent_node(&facts.nodes).is_some()
        || has_no_place
        || evidence::runs_no_server(facts, member).is_some();
    let is_held_up = |t: &&Turn| t.step == TurnStep::Restart && never_ends;
    let turn = facts.turn().filter(|t| t.member == member.name);
    if let Some(turn) = turn.filter(|t| !is_held_up(t)) {
        return Some(Refused::HasTurn { work: turn.step.into() });
    }
    if !member.agent_answers(&facts.nodes) {
        return None;
    }
    let server = member.reported_server()?;
    if matches!(server.state, ServerState::Stopping) {
        return Some(Refused::StillEnds { server: server_words(member) });
    }
    // What a server was at has ended with it, whatever was reported last.
    if evidence::runs_no_server(facts, member).is_some() {
        return None;
    }
    let operation = member.status.operation.as_ref();
    if let Some(one) = operation.filter(|one| one.state == OperationState::Running) {
        return Some(Refused::Works { operation: one.id.clone() });
    }
    let job = member.status.job.as_ref().filter(|job| !job.state.is_final())?;
    Some(Refused::WorksForTask { job: job.id.clone() })
}

fn is_alone(facts: &Facts<'_>, member: &MemberFact) -> Option<Refused> {
    facts.joined().all(|m| m.name == member.name).then_some(Refused::OnlyMember)
}

/// Of a rack only the member of the highest ordinal can leave and join again.
fn instead(facts: &Facts<'_>, member: &MemberFact) -> Instead {
    let name = member.name.clone();
    let mut of_rack = facts.members.values().filter(|m| m.rack == member.rack && !m.is_gone());
    match of_rack.any(|m| m.object.is_some() && m.ordinal > member.ordinal) {
        true => Instead::Terminate { member: name },
        false => Instead::TerminateOrLeave { rack: member.rack.clone(), member: name },
    }
}

fn take_up(member: &MemberFact) -> Option<Step> {
    let host_id = member.recorded_host_id()?;
    let why = Marked::ByLabel { label: labels::REPLACE };
    marks::mark(member, host_id, (ReplacementCause::User, why), None)
}

fn refuse(valid: &Valid, member: &MemberFact, on_member: bool, why: Refused) -> Option<Step> {
    let reason = why.reason();
    let refused = Happened::Refused { member: member.name.clone(), why };
    let event = Event::of(EventType::Warning, reason, refused);
    match on_member {
        true => without_label(member, Some(event)),
        false => {
            let uid = member.service.as_ref().map(|s| s.object.meta.uid.clone())?;
            Some(clean_service(valid, member, &uid, Some(event)))
        }
    }
}

fn without_label(member: &MemberFact, event: Option<Event>) -> Option<Step> {
    let meta = &member.object.as_ref()?.meta;
    Some(
        Step::patch_seen(
            kinds::MEMBER,
            meta,
            json!({ "metadata": { "labels": { labels::REPLACE: null } } }),
            Doing::RemoveLabel { label: labels::REPLACE, member: member.name.clone() },
        )
        .announced(event),
    )
}

fn clean_service(valid: &Valid, member: &MemberFact, uid: &Uid, event: Option<Event>) -> Step {
    Step::patch(
        ObjectKey::new(kinds::SERVICE, &valid.namespace, member.name.as_str()),
        Precondition::Uid(uid.clone()),
        json!({ "metadata": { "labels": { labels::REPLACE: null } } }),
        Doing::RemoveServiceLabel { label: labels::REPLACE, member: member.name.clone() },
    )
    .announced(event)
}
