//! A person asks for a member to be replaced, by a label on the member or on
//! its Service, as in scylla-operator. The label is consumed into a record that names the
//! volume before anything acts, so that it cannot be left over.

use crate::decide::draft::Draft;
use crate::decide::evidence::{self, marks};
use crate::facts::{Facts, MemberFact};
use crate::resources as kinds;
use crate::validate::Valid;
use crate::words::evidence::Marked;
use crate::words::replace::{Doing, Happened, Instead, Refused};
use palladion_api::ids::{MemberName, Uid};
use palladion_api::labels;
use palladion_api::member::ReplacementCause;
use palladion_plan::words::Names;
use palladion_plan::{Event, ObjectKey, Precondition, Step};
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

/// What speaks against replacing a member because a person asks for it.
pub fn refused(facts: &Facts<'_>, member: &MemberFact) -> Option<Refused> {
    let Some(host_id) = member.recorded_host_id() else {
        return Some(Refused::NoMember);
    };
    let is_other = |m: &&MemberFact| m.name != member.name && m.recorded_host_id().is_some();
    if facts.members.values().find(is_other).is_none() {
        return Some(Refused::OnlyMember);
    }
    let doubts = evidence::seen_up_by(facts, &member.name, host_id);
    if member.lives_by_its_own_word(&facts.nodes) && doubts.is_empty() {
        return Some(Refused::CutOff);
    }
    let is_well = member.is_normal() && !doubts.is_empty();
    is_well.then(|| Refused::UpAndNormal {
        seen_by: Names::of(doubts),
        instead: instead(facts, member),
    })
}

/// Of a rack only the member of the highest ordinal can leave and join again.
fn instead(facts: &Facts<'_>, member: &MemberFact) -> Instead {
    let mut of_rack = facts.members.values().filter(|m| m.rack == member.rack && !m.is_gone());
    match of_rack.any(|m| m.object.is_some() && m.ordinal > member.ordinal) {
        true => Instead::Stop,
        false => Instead::StopOrLeave { rack: member.rack.clone() },
    }
}

fn take_up(member: &MemberFact) -> Option<Step> {
    let host_id = member.recorded_host_id()?;
    let why = Marked::ByLabel { label: labels::REPLACE };
    marks::mark(member, host_id, (ReplacementCause::User, why), None)
}

fn refuse(valid: &Valid, member: &MemberFact, on_member: bool, why: Refused) -> Option<Step> {
    let event = Event::warning(Happened::Refused { member: member.name.clone(), why });
    match on_member {
        true => without_label(member, Some(event)),
        false => {
            let uid = member.service.as_ref().map(|s| s.uid.clone())?;
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
