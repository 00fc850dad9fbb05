//! Deletion of a cluster. By default its owner references do all the work and
//! the data stays. With `deletionPolicy: Delete` a finalizer holds the object
//! until the claims that carry its uid are gone: those, and no others.

use crate::decide::draft::Draft;
use crate::decide::evidence::records;
use crate::facts::{Facts, SetFact};
use crate::resources as kinds;
use crate::words::objects::{Doing, Happened, Waiting};
use palladion_api::cluster::DeletionPolicy;
use palladion_api::labels;
use palladion_plan::wait::Subject;
use palladion_plan::{Event, Loss, Meta, Step};
use serde_json::json;

/// The finalizer of clusters whose data goes with them.
pub const FINALIZER: &str = "palladion.dev/teardown";

/// Put the finalizer on or take it off as the policy says.
pub fn keep_finalizer(facts: &Facts<'_>, draft: &mut Draft) {
    let owner = &facts.snapshot.owner.meta;
    let has = owner.finalizers.iter().any(|f| f == FINALIZER);
    let wants = facts.spec.deletion_policy == DeletionPolicy::Delete;
    if has != wants {
        draft.steps.push(set_finalizer(facts, wants));
    }
}

fn set_finalizer(facts: &Facts<'_>, on: bool) -> Step {
    let owner = &facts.snapshot.owner.meta;
    let mut finalizers: Vec<&str> =
        owner.finalizers.iter().map(String::as_str).filter(|f| *f != FINALIZER).collect();
    if on {
        finalizers.push(FINALIZER);
    }
    Step::patch_as_seen(
        kinds::CLUSTER,
        owner,
        json!({ "metadata": { "finalizers": finalizers } }),
        if on { Doing::SetFinalizer } else { Doing::RemoveFinalizer },
    )
}

/// The only plan under a deletionTimestamp: sets, then claims, then the end.
pub fn decide(facts: &Facts<'_>, draft: &mut Draft) {
    let owner = &facts.snapshot.owner.meta;
    if !owner.finalizers.iter().any(|f| f == FINALIZER) {
        return;
    }
    if facts.spec.deletion_policy == DeletionPolicy::Retain {
        draft.steps.push(set_finalizer(facts, false));
        return;
    }
    if !facts.sets.is_empty() {
        let ours = |s: &&SetFact| s.object.meta.is_controlled_by(&owner.uid);
        for set in facts.sets.values().filter(ours).filter(|s| !s.object.meta.is_terminating()) {
            draft.steps.push(delete_set(facts, &set.object.meta));
        }
        // It may run pods on our claims, and nobody but its owner ends it.
        let other = facts.sets.values().find(|s| !ours(s)).map(|s| s.object.meta.name.clone());
        match other.filter(|_| !facts.sets.values().any(|s| ours(&s))) {
            Some(set) => {
                let subject = Subject::new(kinds::STATEFUL_SET, &set);
                draft
                    .wait_for(Waiting::SetOfAnother { set, label: labels::CLUSTER })
                    .about(subject);
            }
            None => {
                draft.wait_for(Waiting::MembersStop);
            }
        }
        return;
    }
    if facts.members.values().any(|m| m.pod.is_some()) {
        draft.wait_for(Waiting::MembersStop);
        return;
    }
    let ours = facts
        .members
        .values()
        .filter_map(|m| m.claim.as_ref())
        .find(|c| c.cluster_uid().as_ref() == Some(&owner.uid));
    match ours {
        // One at a time: the linter allows one loss in a plan.
        Some(claim) if !claim.terminating => {
            draft.steps.push(delete_claim(facts, &claim.object.meta));
        }
        Some(claim) => {
            let claim = &claim.object.meta.name;
            draft
                .wait_for(Waiting::ClaimDeleted { claim: claim.clone() })
                .about(Subject::new(kinds::CLAIM, claim));
        }
        None => draft.steps.push(set_finalizer(facts, false)),
    }
}

fn delete_set(facts: &Facts<'_>, set: &Meta) -> Step {
    let doing = Doing::DeleteSet { set: set.name.clone() };
    Step::delete_as_seen(kinds::STATEFUL_SET, set, Loss::Nothing, doing)
        .proven(records::goes_with_the_cluster(facts, &set.name).map(|p| p.stated()))
}

fn delete_claim(facts: &Facts<'_>, claim: &Meta) -> Step {
    let name = || claim.name.clone();
    Step::delete_as_seen(kinds::CLAIM, claim, Loss::Data, Doing::DeleteClaim { claim: name() })
        .proven(records::goes_with_the_cluster(facts, &claim.name).map(|p| p.stated()))
        .announced(Event::normal(Happened::ClaimDeleted { claim: name() }))
}
