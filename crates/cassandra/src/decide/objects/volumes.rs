//! Volumes grow through their claims, also while a pod is down. They never
//! shrink, and no pod is restarted for it.

use crate::decide::draft::Draft;
use crate::facts::{Facts, MemberFact};
use crate::resources as kinds;
use crate::validate::{RackPlace, Valid, ValidRack};
use crate::words::objects::{Happened, Problem, Waiting};
use palladion_plan::wait::Subject;
use palladion_plan::workload::claims;
use palladion_plan::{Event, differ};
use serde_json::{Value, json};

/// Ask for more where a claim asks for less than its rack wants.
pub fn decide(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) {
    for rack in valid.racks.iter().filter(|r| r.place == RackPlace::Wanted) {
        let Some(wanted) = wanted(rack) else { continue };
        let members = facts.members.values().filter(|m| m.rack == rack.name);
        // Claims that nobody uses any more, or did never, need no more room.
        for member in members.filter(|m| !m.is_gone() && m.object.is_some()) {
            grow(facts, rack, member, &wanted, draft);
        }
    }
}

/// The storage that the rack's claim template asks for.
fn wanted(rack: &ValidRack) -> Option<String> {
    let requests = rack.claim.spec.resources.as_ref()?.requests.as_ref()?;
    requests.get("storage").map(|q| q.0.clone())
}

fn grow(facts: &Facts<'_>, rack: &ValidRack, member: &MemberFact, wanted: &str, draft: &mut Draft) {
    // A claim that is not bound gets no larger volume by asking for one: 422.
    let claim = member.claim.as_ref().filter(|c| c.bound && !c.terminating);
    let Some(claim) = claim else { return };
    let amount = |text: Option<&str>| differ::quantity(&Value::from(text?));
    let asked = claim.object.str_at("/requested");
    let (Some(has), Some(target)) = (amount(asked), amount(Some(wanted))) else {
        return;
    };
    let name = &claim.object.meta.name;
    if has >= target {
        await_growth(member, name, draft);
        return;
    }
    // A volume may be larger than was asked for, as local ones are.
    let is_large_enough = amount(claim.object.str_at("/capacity")).is_some_and(|c| c >= target);
    let class = claim.object.str_at("/class").unwrap_or_default();
    if !may_expand(facts, class) {
        if !is_large_enough {
            let (claim, size) = (name.clone(), wanted.to_string());
            draft.report(match class {
                "" => Problem::NoClass { claim, size },
                class => Problem::CannotGrow { claim, size, class: class.to_string() },
            });
        }
        return;
    }
    let grows = Happened::ClaimGrows { claim: name.clone(), size: wanted.to_string() };
    let template = json!({ "spec": rack.claim.spec });
    draft.steps.push(claims::grow(&claim.object, &template, Some(Event::normal(grows))));
}

/// It has been asked for; the rest is the storage driver's.
fn await_growth(member: &MemberFact, name: &str, draft: &mut Draft) {
    let Some(claim) = member.claim.as_ref().map(|c| &c.object) else { return };
    let (Some(requested), Some(capacity)) = (claim.str_at("/requested"), claim.str_at("/capacity"))
    else {
        return;
    };
    let amount = |text: &str| differ::quantity(&Value::from(text));
    let is_smaller = match (amount(capacity), amount(requested)) {
        (Some(has), Some(asked)) => has < asked,
        (None, _) | (_, None) => false,
    };
    if is_smaller {
        let waiting = Waiting::Resizing {
            claim: name.to_string(),
            member: member.name.clone(),
            from: capacity.to_string(),
            to: requested.to_string(),
        };
        draft.wait_for(waiting).about(Subject::new(kinds::CLAIM, name));
    }
}

fn may_expand(facts: &Facts<'_>, class: &str) -> bool {
    facts
        .objects(kinds::STORAGE_CLASS)
        .iter()
        .find(|c| c.meta.name == class)
        .is_some_and(|c| c.at("/allowVolumeExpansion") == Some(&Value::Bool(true)))
}
