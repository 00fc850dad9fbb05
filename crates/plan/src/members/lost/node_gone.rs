//! A member whose local volume is in a machine whose Node is gone can never start again.
//! That a Node is gone is looked at twice, live, a grace time apart, and now and then in
//! between, before the volume counts as lost: two absences with a time between in which
//! nobody looked are not one. What was never given a server gets another volume.

use super::super::{ClaimFact, Draft, Grounds, MemberFact, Prove, ServiceFacts};
use super::{marks, room};
use crate::kinds::{CLAIM, NODE, VOLUME};
use crate::object::ObjectKey;
use crate::plan::{Event, Fence, Loss, Step};
use crate::proof::Proof;
use crate::words::Span;
use crate::words::lost::{Doing, Happened, Lost, Problem, Waiting};
use crate::workload::home::{Home, home};
use jiff::{SignedDuration, Timestamp};
use palladion_api::labels;
use palladion_api::service_member::LossCause;
use serde_json::{Value, json};

/// From one look for a Node that is gone to the next, within the grace time.
const LOOK: SignedDuration = SignedDuration::from_secs(60);

/// After so long without a look nobody knows whether it was there in between: a new leader
/// needs less.
const MISSED: SignedDuration = SignedDuration::from_secs(180);

/// Note Nodes that go and come back, and record what is lost with them.
pub fn decide(facts: &ServiceFacts<'_>, prove: Prove, draft: &mut Draft) {
    let (nodes, volumes) = (facts.objects(NODE), facts.objects(VOLUME));
    for member in facts.members.values().filter(|m| !m.is_gone() && is_looked_at(m)) {
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
                let seen = claim.object.meta.annotations.get(labels::NODE_GONE_SEEN);
                let seen = seen.and_then(|at| at.parse().ok());
                // Nobody has looked in the future.
                let seen = seen.filter(|at| *at <= later(facts.now(), MISSED));
                let gone = Gone { member, claim, node: &node, since, seen };
                is_gone(facts, &gone, prove, draft);
            }
        }
    }
}

/// Is the claim of the volume that is on record, or of one to which no server was ever
/// given? That of a volume whose loss is on record makes room for another.
fn is_looked_at(member: &MemberFact) -> bool {
    !member.is_marked() || is_successor(member)
}

/// Is its claim a new one, in the place of that of the volume that is lost, and was no
/// server given to the volume of it yet?
fn is_successor(member: &MemberFact) -> bool {
    let is_unused = member.claim.as_ref().is_some_and(|c| c.identity.is_none());
    member.is_marked() && is_unused && !marks::has_old_claim(member)
}

/// The Node must not exist, live: a cache may be behind.
pub(super) fn not_there(node: &str) -> Fence {
    let object = ObjectKey::new(NODE, "", node);
    Fence { object, pointer: String::new(), expected: Value::Null, lock: None }
}

/// So much later; a note may name the end of time.
fn later(at: Timestamp, by: SignedDuration) -> Timestamp {
    at.checked_add(by).unwrap_or(Timestamp::MAX)
}

fn grace(facts: &ServiceFacts<'_>) -> SignedDuration {
    SignedDuration::from_secs(i64::from(facts.node_gone_grace_seconds))
}

fn note(facts: &ServiceFacts<'_>, member: &MemberFact, claim: &ClaimFact, node: &str) -> Step {
    let (now, grace) = (facts.now(), Span(grace(facts)));
    let annotations = json!({ labels::NODE_GONE: now, labels::NODE_GONE_SEEN: now });
    let patch = json!({ "metadata": { "annotations": annotations } });
    let (name, node_name) = (|| member.name.clone(), || node.to_string());
    let doing = Doing::RecordNodeGone { node: node_name(), member: name() };
    let event = Happened::NodeGone { node: node_name(), member: name(), grace };
    Step::patch_seen(CLAIM, &claim.object.meta, patch, doing)
        .fenced(not_there(node))
        .announced(Event::warning(event))
}

/// It is still gone.
fn look(facts: &ServiceFacts<'_>, gone: &Gone<'_>) -> Step {
    let patch = json!({ "metadata": { "annotations": { labels::NODE_GONE_SEEN: facts.now() } } });
    let (node, member) = (gone.node.to_string(), gone.member.name.clone());
    Step::patch_seen(CLAIM, &gone.claim.object.meta, patch, Doing::LookForNode { node, member })
        .fenced(not_there(gone.node))
}

/// Take the note off the claim of a member, if there is one.
pub(super) fn forget(member: &MemberFact) -> Option<Step> {
    let claim = member.claim.as_ref()?;
    claim.object.meta.annotations.get(labels::NODE_GONE)?;
    Some(back(member, claim))
}

fn back(member: &MemberFact, claim: &ClaimFact) -> Step {
    let annotations =
        json!({ labels::NODE_GONE: Value::Null, labels::NODE_GONE_SEEN: Value::Null });
    let patch = json!({ "metadata": { "annotations": annotations } });
    let doing = Doing::RecordNodeBack { member: member.name.clone() };
    let event = Happened::NodeBack { member: member.name.clone() };
    Step::patch_seen(CLAIM, &claim.object.meta, patch, doing).announced(Event::normal(event))
}

/// A member whose Node is gone.
struct Gone<'a> {
    member: &'a MemberFact,
    claim: &'a ClaimFact,
    node: &'a str,
    since: Timestamp,
    /// When that was last looked at.
    seen: Option<Timestamp>,
}

fn is_gone(facts: &ServiceFacts<'_>, gone: &Gone<'_>, prove: Prove, draft: &mut Draft) {
    let Gone { member, claim, node, since, seen } = *gone;
    let (name, node_name) = (|| member.name.clone(), || node.to_string());
    draft.report(Problem::NodeGone { member: name(), node: node_name(), since });
    // A Node object may be deleted while its machine goes on.
    if member.serves || member.is_seen {
        return;
    }
    let now = facts.now();
    let grounds = Grounds::was_never_part(facts, member, node);
    // Whoever paused the service, or the operator, may have had the Node back meanwhile. A
    // claim that goes already, with nothing on it, does so all the same.
    let goes = grounds.is_some() && claim.terminating;
    let Some(seen) = seen.filter(|seen| goes || now < later(*seen, MISSED)) else {
        draft.steps.push(note(facts, member, claim, node));
        return;
    };
    let due = later(since, grace(facts));
    if now < due {
        if now >= seen + LOOK {
            draft.steps.push(look(facts, gone));
        }
        let next = due.min(now.max(seen) + LOOK);
        let waiting = Waiting::Grace { member: name(), node: node_name(), due };
        draft.wait_for(waiting).about(member.subject()).until(next);
        return;
    }
    if let Some(grounds) = grounds {
        let proof = prove(&grounds);
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
    if member.is_marked() {
        return;
    }
    let why = Lost::NodeGone { node: node_name(), since };
    draft.steps.extend(marks::mark(member, LossCause::NodeGone, why, Some(not_there(node))));
}

/// Nothing of the service is on it: the claim goes.
fn another_volume(
    facts: &ServiceFacts<'_>,
    (member, claim): (&MemberFact, &ClaimFact),
    node: &str,
    proof: &Proof,
) -> Step {
    let meta = &claim.object.meta;
    let doing = Doing::DeleteClaim { claim: meta.name.clone() };
    let event = Happened::NewVolume { member: member.name.clone(), node: node.to_string() };
    Step::delete_as_seen(CLAIM, meta, Loss::Data, doing)
        .fenced(facts.fence())
        .proven(proof.clone())
        .announced(Event::normal(event))
}
