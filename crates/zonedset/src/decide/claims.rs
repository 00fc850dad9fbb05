//! Changes that a StatefulSet does not take: volume claims, the Service's name,
//! the pod management policy. Growth of a claim and the other two are carried
//! out by recreating the set around its pods.

use super::draft::{Draft, wait_for_set};
use crate::build::set::{self, Fixed};
use crate::facts::{Facts, SetFact};
use crate::resources::CLAIM;
use crate::validate::Valid;
use crate::words::objects::{Happened, Problem, Waiting};
use palladion_api::zoned_stateful_set::RolloutState;
use palladion_plan::workload::claims::{self, Change};
use palladion_plan::{Event, Flow, Object};
use serde_json::Value;

/// The fixed parts that a set has, which every apply must state again.
pub fn fixed(valid: &Valid, set: &SetFact) -> Fixed {
    let wanted = set::fixed(valid);
    let text = |field: &str, default: &str| {
        let found = set.object.at("/spec").and_then(|s| s[field].as_str());
        found.unwrap_or(default).to_string()
    };
    let claims = match compare(valid, set) {
        Change::None => wanted.claims,
        Change::Growth | Change::Other(_) => observed(set).to_vec(),
    };
    Fixed {
        service_name: text("serviceName", ""),
        pod_management_policy: text("podManagementPolicy", "OrderedReady"),
        claims,
    }
}

/// Recreate the set around its pods, if its fixed parts are to change and no
/// rollout is under way.
pub fn recreate(facts: &Facts<'_>, valid: &Valid, set: &SetFact, draft: &mut Draft) -> Flow {
    if set.state != RolloutState::Done || !set.seen {
        return Flow::Free;
    }
    let (has, wants) = (fixed(valid, set), set::fixed(valid));
    let is_grown =
        compare(valid, set) == Change::Growth && ungrown(facts, valid, set).next().is_none();
    let differs = has.service_name != wants.service_name
        || has.pod_management_policy != wants.pod_management_policy;
    if !differs && !is_grown {
        return Flow::Free;
    }
    wait_for_set(draft, &set.name, Waiting::Recreated { set: set.name.clone() });
    let event = Event::normal(Happened::Recreated { set: set.name.clone() });
    draft.steps.push(claims::release_pods(&set.object, Some(event)));
    Flow::Busy
}

/// Report what is not carried out; grow the claims that exist.
pub fn decide(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) {
    let wanted = draft.more.wanted.clone();
    for set in facts.sets.values().filter(|s| wanted.contains(&s.name)) {
        match compare(valid, set) {
            Change::None => {}
            Change::Growth => {
                for (claim, template) in ungrown(facts, valid, set) {
                    let size = claims::size(template).as_str().unwrap_or_default().to_string();
                    let grows = Happened::ClaimGrows { claim: claim.meta.name.clone(), size };
                    draft.steps.push(claims::grow(claim, template, Some(Event::normal(grows))));
                }
            }
            Change::Other(change) => {
                let problem = Problem::ClaimTemplate { set: set.name.clone(), change };
                draft.events.push(Event::warning(problem.clone()));
                draft.report(problem);
            }
        }
    }
}

fn observed(set: &SetFact) -> &[Value] {
    set.object.at("/spec/volumeClaimTemplates").and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn compare(valid: &Valid, set: &SetFact) -> Change {
    claims::compare(&valid.spec.template.spec.volume_claim_templates, observed(set))
}

/// Claims of the set's pods that request less than their template now does.
fn ungrown<'a>(
    facts: &'a Facts<'_>,
    valid: &'a Valid,
    set: &'a SetFact,
) -> impl Iterator<Item = (&'a Object, &'a Value)> {
    let templates = &valid.spec.template.spec.volume_claim_templates;
    let claims = facts.objects(CLAIM).iter();
    claims.filter_map(move |claim| {
        let at = claim.meta.name.rfind(&format!("-{}-", set.name))?;
        let pod = &claim.meta.name[at + 1..];
        palladion_api::names::ordinal(&set.name, pod)?;
        let template = claims::template_of(templates, &claim.meta.name, pod)?;
        let is_smaller = claims::is_smaller(&claim.body["requested"], template);
        (is_smaller && !claim.meta.is_terminating()).then_some((&**claim, template))
    })
}
