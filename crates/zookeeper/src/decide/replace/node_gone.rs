//! A member whose local volume is in a machine whose Node is gone can never start again.
//! That a Node is gone is looked at twice, live, a grace time apart, before the volume
//! counts as lost; what never had a server ID gets another volume.

use super::room;
use crate::decide::draft::Draft;
use crate::decide::evidence::{self, Proof, marks};
use crate::facts::{ClaimFact, Facts, MemberFact};
use crate::resources as kinds;
use crate::words::evidence::Lost;
use crate::words::replace::{Doing, Happened, Problem, Waiting};
use jiff::{SignedDuration, Timestamp};
use palladion_api::labels;
use palladion_api::service_member::LossCause;
use palladion_plan::words::Span;
use palladion_plan::workload::home::{Home, home};
use palladion_plan::{Event, Fence, Loss, ObjectKey, Step};
use serde_json::{Value, json};

/// Note Nodes that go and come back, and record what is lost with them.
pub fn decide(facts: &Facts<'_>, draft: &mut Draft) {
    let (nodes, volumes) = (facts.objects(kinds::NODE), facts.objects(kinds::VOLUME));
    for member in facts.members.values().filter(|m| !m.is_gone() && m.loss().is_none()) {
        let Some(claim) = member.claim.as_ref() else { continue };
        let noted = claim.object.meta.annotations.get(labels::NODE_GONE);
        match (home(nodes, volumes, &claim.object), noted) {
            (Home::NotGone, None) => {}
            (Home::NotGone, Some(_)) => draft.steps.push(back(member, claim)),
            (Home::Gone { node }, None) if !claim.terminating => {
                draft.steps.push(note(facts, member, claim, &node));
            }
            (Home::Gone { .. }, None) => {}
            (Home::Gone { node }, Some(noted)) => {
                let since = noted.parse().unwrap_or(facts.now());
                is_gone(facts, (member, claim), &node, since, draft);
            }
        }
    }
}

/// The Node must not exist, live: a cache may be behind.
fn not_there(node: &str) -> Fence {
    let object = ObjectKey::new(kinds::NODE, "", node);
    Fence { object, pointer: String::new(), expected: Value::Null }
}

fn grace(facts: &Facts<'_>) -> SignedDuration {
    SignedDuration::from_secs(i64::from(facts.spec.node_gone_grace_seconds))
}

fn note(facts: &Facts<'_>, member: &MemberFact, claim: &ClaimFact, node: &str) -> Step {
    let patch = json!({ "metadata": { "annotations": { labels::NODE_GONE: facts.now() } } });
    let (name, node_name) = (|| member.name.clone(), || node.to_string());
    let doing = Doing::RecordNodeGone { node: node_name(), member: name() };
    let grace = Span(grace(facts));
    let event = Happened::NodeGone { node: node_name(), member: name(), grace };
    Step::patch_seen(kinds::CLAIM, &claim.object.meta, patch, doing)
        .fenced(not_there(node))
        .announced(Event::warning(event))
}

fn back(member: &MemberFact, claim: &ClaimFact) -> Step {
    let patch = json!({ "metadata": { "annotations": { labels::NODE_GONE: null } } });
    let doing = Doing::RecordNodeBack { member: member.name.clone() };
    let event = Happened::NodeBack { member: member.name.clone() };
    Step::patch_seen(kinds::CLAIM, &claim.object.meta, patch, doing).announced(Event::normal(event))
}

fn is_gone(
    facts: &Facts<'_>,
    (member, claim): (&MemberFact, &ClaimFact),
    node: &str,
    since: Timestamp,
    draft: &mut Draft,
) {
    let (name, node_name) = (|| member.name.clone(), || node.to_string());
    draft.report(Problem::NodeGone { member: name(), node: node_name(), since });
    let due = since + grace(facts);
    if facts.now() < due {
        let waiting = Waiting::Grace { member: name(), node: node_name(), due };
        draft.wait_for(waiting).about(member.subject()).until(due);
        return;
    }
    // A Node object may be deleted while its machine goes on.
    if member.votes() {
        return;
    }
    if let Some(proof) = evidence::was_never_part(facts, member, node) {
        if draft.is_disruptive() {
            return; // One loss in a plan; the next decision goes on with this one.
        }
        let step = match claim.terminating {
            true => room::end_pod(facts, member, &proof),
            false => Some(another_volume(facts, (member, claim), node, &proof)),
        };
        // No mark is made, which would be the second look at the Node: it is this one.
        draft.steps.extend(step.map(|step| step.fenced(not_there(node))));
        return;
    }
    let why = Lost::NodeGone { node: node_name(), since };
    draft.steps.extend(marks::mark(member, LossCause::NodeGone, why, Some(not_there(node))));
}

/// Nothing of the ensemble is on it: the claim goes.
fn another_volume(
    facts: &Facts<'_>,
    (member, claim): (&MemberFact, &ClaimFact),
    node: &str,
    proof: &Proof,
) -> Step {
    let meta = &claim.object.meta;
    let doing = Doing::DeleteClaim { claim: meta.name.clone() };
    let event = Happened::NewVolume { member: member.name.clone(), node: node.to_string() };
    Step::delete_as_seen(kinds::CLAIM, meta, Loss::Data, doing)
        .fenced(facts.fence())
        .proven(proof.stated())
        .announced(Event::normal(event))
}
