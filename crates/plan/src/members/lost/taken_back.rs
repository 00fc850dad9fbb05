//! The record that a volume is lost is taken off again where its reason is gone, as long as
//! nothing was done that rests on it; and it is held before the first such step. A volume
//! that others have gone on without must never come back: its servers could be a majority
//! of what they remember. Nor does one come back whose own agent has found data missing: what
//! is whole again later is a copy of before, and votes for less than it has acknowledged.

use super::super::{Draft, MEMBER, MemberFact, ServiceFacts};
use super::{marked, marks, node_gone};
use crate::draft::Flow;
use crate::kinds::{NODE, VOLUME};
use crate::plan::{Event, Step};
use crate::words::lost::{Back, Doing, Happened};
use crate::workload::home::{Home, home, is_there};
use palladion_api::service_member::LossCause;
use serde_json::json;

/// Take records off whose reason is gone. Busy where one is: nothing may rest on it any more.
pub fn decide(facts: &ServiceFacts<'_>, draft: &mut Draft) -> Flow {
    // Data is missing, too: its Node, or another word of the user, does not bring that back.
    let mut flow = hold(facts, facts.enrolled().filter(|m| is_missing_data(m)), draft);
    for member in facts.enrolled().filter(|m| is_revocable(m)) {
        let Some(why) = back(facts, member) else { continue };
        // First: as long as the claim says that the Node is gone, this is tried again.
        draft.steps.extend(node_gone::forget(member));
        let event = Event::normal(Happened::TakenBack { member: member.name.clone(), why });
        let step = marks::unmark(member, facts.fence());
        draft.steps.extend(step.map(|step| step.announced(event)));
        flow = Flow::Busy;
    }
    flow
}

/// Was nothing done that rests on the record, and is all as it was?
fn is_revocable(member: &MemberFact) -> bool {
    let stands = member.claim.as_ref().is_some_and(|c| !c.terminating);
    member.is_marked()
        && member.loss().is_some_and(|l| l.revocable)
        && !is_missing_data(member)
        && marks::has_old_claim(member)
        && stands
}

fn is_missing_data(member: &MemberFact) -> bool {
    member.is_marked() && member.is_lost_by_its_own_word()
}

/// Why the record has no reason any more.
fn back(facts: &ServiceFacts<'_>, member: &MemberFact) -> Option<Back> {
    match member.loss()?.cause {
        LossCause::NodeGone => {
            let (nodes, volumes) = (facts.objects(NODE), facts.objects(VOLUME));
            is_there(nodes, volumes, &member.claim.as_ref()?.object).then_some(Back::Node)
        }
        LossCause::User => {
            let volume = member.volume_id().map(|v| v.as_str());
            (marked::named(member) != volume).then_some(Back::NotNamed)
        }
        // Of those who are left out the rescue itself takes it back, where it did not happen.
        LossCause::Agent | LossCause::Rescue | LossCause::Unknown(_) => None,
    }
}

/// Hold the records of these members, so that none is taken back any more: something is
/// about to be done that rests on them. Busy until all are held.
pub fn hold<'a>(
    facts: &ServiceFacts<'_>,
    members: impl IntoIterator<Item = &'a MemberFact>,
    draft: &mut Draft,
) -> Flow {
    let is_open = |m: &&MemberFact| m.loss().is_some_and(|l| l.revocable);
    let mut flow = Flow::Free;
    for member in members.into_iter().filter(is_open) {
        draft.steps.extend(held(facts, member));
        flow = Flow::Busy;
    }
    flow
}

fn held(facts: &ServiceFacts<'_>, member: &MemberFact) -> Option<Step> {
    let meta = &member.object.as_ref()?.meta;
    let patch = json!({ "spec": { "replace": { "revocable": false } } });
    let doing = Doing::Hold { member: member.name.clone() };
    let step = Step::patch_as_seen(MEMBER, meta, patch, doing).fenced(facts.fence());
    let (nodes, volumes) = (facts.objects(NODE), facts.objects(VOLUME));
    let home = member.claim.as_ref().map(|claim| home(nodes, volumes, &claim.object));
    // Looked at once more, live: the cache may be behind.
    match home {
        Some(Home::Gone { node }) if member.loss()?.cause == LossCause::NodeGone => {
            Some(step.fenced(node_gone::not_there(&node)))
        }
        Some(Home::Gone { .. } | Home::NotGone) | None => Some(step),
    }
}
