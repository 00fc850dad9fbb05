//! A member whose local volume is in a machine whose Node is gone can never
//! start again. That a Node is gone is looked at twice, live, a grace time
//! apart, before the volume is marked for replacement; what a ring member was on it is then
//! replaced (safety rule 4.6), what never joined gets another volume.

use crate::decide::draft::Draft;
use crate::decide::evidence::{self, Proof, Who, absence, marks, who_was_it};
use crate::decide::replace::room;
use crate::facts::{ClaimFact, Facts, MemberFact};
use crate::resources as kinds;
use crate::validate::Valid;
use crate::volumes::{Home, home};
use crate::words::evidence::{Marked, Unmarked};
use crate::words::replace::{Doing, Happened, Problem, Waiting};
use jiff::{SignedDuration, Timestamp};
use palladion_api::ids::HostId;
use palladion_api::labels;
use palladion_api::member::ReplacementCause;
use palladion_plan::words::{Names, Span};
use palladion_plan::{Event, Fence, Loss, ObjectKey, Step};
use serde_json::{Value, json};

/// What a machine did in its last second is known to all members, and that it
/// is down, after this long: 20 s were seen.
const HEARD_BY_ALL: SignedDuration = SignedDuration::from_secs(60);

/// Note Nodes that go and come back, and mark what is lost with them.
pub fn decide(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) {
    for member in facts.members.values().filter(|m| !m.is_gone()) {
        let Some(claim) = &member.claim else { continue };
        let since = claim.object.meta.annotations.get(labels::NODE_GONE);
        match (home(facts, claim), since) {
            (Home::NotGone, None) => {}
            (Home::NotGone, Some(_)) => came_back(member, claim, draft),
            (Home::Gone { node }, None) if !claim.terminating => {
                draft.steps.push(note(facts, valid, member, claim, &node))
            }
            (Home::Gone { .. }, None) => {}
            (Home::Gone { node }, Some(since)) => {
                let since = since.parse().unwrap_or(facts.now());
                is_gone(facts, valid, member, claim, &node, since, draft);
            }
        }
    }
}

/// The Node must not exist, live: a cache may be behind.
fn not_there(node: &str) -> Fence {
    Fence {
        object: ObjectKey::new(kinds::NODE, "", node),
        pointer: String::new(),
        expected: Value::Null,
        lock: None,
    }
}

fn note(
    facts: &Facts<'_>,
    valid: &Valid,
    member: &MemberFact,
    claim: &ClaimFact,
    node: &str,
) -> Step {
    let since = facts.now();
    let grace = Span(SignedDuration::from_secs(i64::from(valid.node_gone_grace_seconds)));
    let patch = json!({ "metadata": { "annotations": { labels::NODE_GONE: since } } });
    let name = || member.name.clone();
    let doing = Doing::RecordNodeGone { node: node.to_string(), member: name(), since };
    let event = Happened::NodeGone { node: node.to_string(), member: name(), grace };
    Step::patch_seen(kinds::CLAIM, &claim.object.meta, patch, doing)
        .fenced(not_there(node))
        .announced(Event::warning(event))
}

/// The Node is there again, or the volume is another one.
fn came_back(member: &MemberFact, claim: &ClaimFact, draft: &mut Draft) {
    if claim.terminating || member.removal().is_some() {
        return; // Too late for it.
    }
    // First: as long as the claim says that the Node is gone, this is tried again.
    let marked = marks::of(member);
    if marked.is_some_and(|r| r.cause == ReplacementCause::NodeGone) {
        draft.steps.extend(marks::withdraw(member, Unmarked::NodeBack, None));
    }
    draft.steps.push(
        Step::patch_seen(
            kinds::CLAIM,
            &claim.object.meta,
            json!({ "metadata": { "annotations": { labels::NODE_GONE: null } } }),
            Doing::RecordNodeBack { member: member.name.clone() },
        )
        .announced(Event::normal(Happened::NodeBack { member: member.name.clone() })),
    );
}

fn is_gone(
    facts: &Facts<'_>,
    valid: &Valid,
    member: &MemberFact,
    claim: &ClaimFact,
    node: &str,
    since: Timestamp,
    draft: &mut Draft,
) {
    let name = || member.name.clone();
    let subject = || member.subject();
    let due = since + SignedDuration::from_secs(i64::from(valid.node_gone_grace_seconds));
    draft.report(Problem::NodeGone { node: node.to_string(), member: name(), since });
    if facts.now() < due {
        let waiting = Waiting::Grace { member: name(), node: node.to_string(), due };
        draft.wait_for(waiting).about(subject()).until(due);
        return;
    }
    if marks::has_old_claim(member) || claim.terminating && member.recorded_host_id().is_some() {
        return;
    }
    match who_was_it(facts, member, node) {
        Who::Member(host_id) if is_seen_up(facts, member, &host_id, draft) => {}
        Who::Member(host_id) => {
            let why = Marked::NodeGone { node: node.to_string(), since };
            let cause = (ReplacementCause::NodeGone, why);
            draft.steps.extend(marks::mark(member, &host_id, cause, Some(not_there(node))));
        }
        Who::Nobody(_) if facts.now() < since + HEARD_BY_ALL => {
            let waiting = Waiting::MayBeKnown { member: name() };
            draft.wait_for(waiting).about(subject()).until(since + HEARD_BY_ALL);
        }
        Who::Nobody(proof) => {
            another_volume(facts, valid, (member, claim), node, &proof, draft);
        }
        Who::NotClear(why) => {
            draft.wait_for(Waiting::NotClear { member: name(), why }).about(subject());
        }
    }
}

/// A Node object may be deleted while its machine goes on.
fn is_seen_up(facts: &Facts<'_>, member: &MemberFact, host_id: &HostId, draft: &mut Draft) -> bool {
    if absence::is_out(facts, &member.name, host_id) {
        return false; // It had left, or was removed.
    }
    let doubts = evidence::seen_up_by(facts, &member.name, host_id);
    if !doubts.is_empty() {
        let waiting = Waiting::SeenUp { member: member.name.clone(), by: Names::of(&doubts) };
        draft.wait_for(waiting).about(member.subject());
    }
    !doubts.is_empty()
}

/// Nothing of the ring is on it: the claim goes, then what is left of the pod.
fn another_volume(
    facts: &Facts<'_>,
    valid: &Valid,
    (member, claim): (&MemberFact, &ClaimFact),
    node: &str,
    proof: &Proof,
    draft: &mut Draft,
) {
    if draft.is_disruptive() {
        return; // One loss in a plan; the next decision goes on with this one.
    }
    // The turn must not pass to somebody else meanwhile.
    let no_turn = facts.fence_as_seen();
    let name = || member.name.clone();
    let step = if claim.terminating {
        room::end_pod(facts, valid, member, proof, Some(no_turn))
    } else {
        let meta = &claim.object.meta;
        let doing = Doing::DeleteClaim { claim: meta.name.clone(), member: name() };
        let event = Happened::NewVolume { member: name(), node: node.to_string() };
        Some(
            Step::delete_as_seen(kinds::CLAIM, meta, Loss::Data, doing)
                .fenced(no_turn)
                .proven(proof.stated())
                .announced(Event::normal(event)),
        )
    };
    // No mark is made, which would be the second look at the Node: it is this one.
    draft.steps.extend(step.map(|step| step.fenced(not_there(node))));
}
