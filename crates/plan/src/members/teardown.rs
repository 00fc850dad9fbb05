//! Deletion of a cluster. By default its owner references do all the work and the data
//! stays. With `deletionPolicy: Delete` a finalizer holds the object until the claims
//! that carry its uid are gone: those, and no others.

use super::{Draft, Grounds, MemberFact, Prove, ServiceFacts, late};
use crate::draft::Flow;
use crate::kinds::{CLAIM, STATEFUL_SET};
use crate::object::Meta;
use crate::plan::{Event, Loss, Step};
use crate::wait::Subject;
use crate::words::Names;
use crate::words::service::{Doing, Happened, Waiting};
use palladion_api::cluster::DeletionPolicy;
use serde_json::json;

/// The finalizer of clusters whose data goes with them.
pub const FINALIZER: &str = "palladion.dev/teardown";

/// Put the finalizer on or take it off as the policy says.
pub fn keep_finalizer(facts: &ServiceFacts<'_>, draft: &mut Draft) {
    let owner = &facts.snapshot.owner.meta;
    let has = owner.finalizers.iter().any(|f| f == FINALIZER);
    let wants = facts.deletion_policy == DeletionPolicy::Delete;
    if has != wants {
        draft.steps.push(set_finalizer(facts, wants));
    }
}

fn set_finalizer(facts: &ServiceFacts<'_>, on: bool) -> Step {
    let owner = &facts.snapshot.owner.meta;
    let others = owner.finalizers.iter().map(String::as_str).filter(|f| *f != FINALIZER);
    let finalizers: Vec<&str> = others.chain(on.then_some(FINALIZER)).collect();
    let kind = facts.kind.owner.kind;
    let doing = if on { Doing::SetFinalizer { kind } } else { Doing::RemoveFinalizer { kind } };
    let patch = json!({ "metadata": { "finalizers": finalizers } });
    Step::patch_as_seen(facts.kind.owner, owner, patch, doing)
}

/// The only plan under a deletionTimestamp: the set, then claims, then the end.
pub fn decide(facts: &ServiceFacts<'_>, prove: Prove, draft: &mut Draft) {
    let owner = &facts.snapshot.owner.meta;
    if !owner.finalizers.iter().any(|f| f == FINALIZER) {
        return;
    }
    if facts.deletion_policy == DeletionPolicy::Retain {
        draft.steps.push(set_finalizer(facts, false));
        return;
    }
    if let Some(set) = &facts.set {
        let meta = &set.object.meta;
        if meta.is_controlled_by(&owner.uid) && !meta.is_terminating() {
            draft.steps.push(delete_set(facts, meta, prove));
        }
        if !wait_for_pods(facts, draft).is_busy() {
            draft.wait_for(Waiting::SetEnds { set: meta.name.clone() });
        }
        return;
    }
    if wait_for_pods(facts, draft).is_busy() {
        return;
    }
    let mut claims = facts.members.values().filter_map(|m| m.claim.as_ref());
    match claims.find(|c| c.cluster_uid().as_ref() == Some(&owner.uid)) {
        // One at a time: the linter allows one loss in a plan.
        Some(claim) if !claim.terminating => {
            draft.steps.push(delete_claim(facts, &claim.object.meta, prove));
        }
        Some(claim) => {
            let claim = &claim.object.meta.name;
            let waiting = Waiting::ClaimDeleted { claim: claim.clone() };
            draft.wait_for(waiting).about(Subject::new(CLAIM, claim));
        }
        None => draft.steps.push(set_finalizer(facts, false)),
    }
}

/// Say whose end is waited for: first those that have none without a person.
fn wait_for_pods(facts: &ServiceFacts<'_>, draft: &mut Draft) -> Flow {
    let with_pod = facts.members.values().filter(|m| m.pod.is_some());
    let (away, others): (Vec<&MemberFact>, Vec<&MemberFact>) =
        with_pod.partition(|m| late::is_going_with_its_machine(facts, m));
    if away.is_empty() && others.is_empty() {
        return Flow::Free;
    }
    for member in away {
        let node = member.pod.as_ref().and_then(|pod| pod.node.clone()).unwrap_or_default();
        let waiting = Waiting::PodAway { pod: member.name.clone(), node };
        draft.wait_for(waiting).about(member.subject());
    }
    if !others.is_empty() {
        draft.wait_for(Waiting::PodsEnd { pods: Names::of(others.iter().map(|m| &m.name)) });
    }
    Flow::Busy
}

fn delete_set(facts: &ServiceFacts<'_>, set: &Meta, prove: Prove) -> Step {
    let doing = Doing::DeleteSet { set: set.name.clone() };
    Step::delete_as_seen(STATEFUL_SET, set, Loss::Nothing, doing)
        .proven(Grounds::goes_with_the_cluster(facts, &set.name).map(|g| prove(&g)))
}

fn delete_claim(facts: &ServiceFacts<'_>, claim: &Meta, prove: Prove) -> Step {
    let name = || claim.name.clone();
    Step::delete_as_seen(CLAIM, claim, Loss::Data, Doing::DeleteClaim { claim: name() })
        .proven(Grounds::goes_with_the_cluster(facts, &claim.name).map(|g| prove(&g)))
        .announced(Event::normal(Happened::ClaimDeleted { claim: name() }))
}
