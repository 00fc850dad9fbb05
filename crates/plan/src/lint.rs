//! The plan linter: safety rules 3.2, 3.5 and 4.8. It knows no system; it looks at
//! what a plan could lose, and at the proofs of the steps that a mind has
//! declared to be hazards. A plan that breaks a rule is not carried out.

use crate::hazard::Hazard;
use crate::mind::Mind;
use crate::plan::{Loss, Plan, Precondition, Step};
use crate::proof::Proof;
use crate::snapshot::Snapshot;
pub use crate::words::violation::Violation;
use jiff::Timestamp;

mod locked;
#[cfg(test)]
pub(crate) mod tests;

/// Every rule that a mind's plan breaks.
pub fn violations_of(mind: &dyn Mind, plan: &Plan, snapshot: &Snapshot) -> Vec<Violation> {
    let mut found = violations(plan, snapshot, mind.hazards());
    if mind.is_locked(&snapshot.owner) {
        found.extend(locked::violations(plan, snapshot, mind.hazards()));
    }
    found
}

/// Every rule that the plan breaks, whatever regions share.
pub fn violations(plan: &Plan, snapshot: &Snapshot, hazards: &[Hazard]) -> Vec<Violation> {
    let mut found = Vec::new();
    let mut disruptive: Option<&Step> = None;
    for step in &plan.steps {
        found.extend(deletion(step));
        found.extend(proof(step, snapshot, hazards));
        if !is_disruptive(step) {
            continue;
        }
        if let Some(first) = disruptive {
            found.push(Violation::TwoDisruptions {
                first: first.doing().to_string(),
                second: step.doing().to_string(),
            });
        }
        disruptive = Some(step);
    }
    found
}

fn is_disruptive(step: &Step) -> bool {
    match step {
        Step::Delete {
            loss: Loss::Process | Loss::Serving | Loss::Remains | Loss::Data, ..
        } => true,
        Step::Delete { loss: Loss::Nothing, .. }
        | Step::Apply { .. }
        | Step::Create { .. }
        | Step::Patch { .. }
        | Step::CompareAndSet { .. }
        | Step::Issue { .. } => false,
    }
}

/// What every deletion must say, whatever the mind has declared.
fn deletion(step: &Step) -> Vec<Violation> {
    let mut found = Vec::new();
    let Step::Delete { key, precondition, loss, doing, .. } = step else {
        return found;
    };
    if matches!(precondition, Precondition::Absent) {
        found.push(Violation::DeletionWithoutUid { doing: doing.clone() });
    }
    let kind = key.resource.kind;
    if *loss == Loss::Nothing && matches!(kind, "Pod" | "PersistentVolumeClaim") {
        found.push(Violation::LossNotStated { kind, doing: doing.clone() });
    }
    found
}

/// Does the step carry the proof that each of its hazards needs, and the
/// version of the object that it was decided for?
fn proof(step: &Step, snapshot: &Snapshot, hazards: &[Hazard]) -> Vec<Violation> {
    let doing = || step.doing().to_string();
    let here: Vec<&Hazard> = hazards.iter().filter(|h| h.is_in(step, snapshot)).collect();
    let is_needed = is_disruptive(step) || !here.is_empty();
    let mut found = Vec::new();
    if is_needed && takes_any_version(step) {
        found.push(Violation::VersionMissing { doing: doing() });
    }
    let Some(proof) = step.proof().filter(|p| !p.text().is_empty()) else {
        found.extend(is_needed.then(|| Violation::ProofMissing { doing: doing() }));
        return found;
    };
    for hazard in here {
        if !hazard.kinds.contains(&proof.kind()) {
            found.push(Violation::ProofOfAnotherKind { kind: proof.kind().name(), doing: doing() });
        }
        let about = hazard.subject(step);
        if !proof.is_about(about) {
            let about = about.to_string();
            found.push(Violation::ProofAboutAnother { about, doing: doing() });
        }
    }
    if !is_in_time(proof, snapshot.now) {
        let (as_of, now) = (proof.as_of(), snapshot.now);
        found.push(Violation::ProofOutOfTime { as_of, now, doing: doing() });
    }
    found
}

/// Would it do what it does to whatever has become of the object meanwhile? A
/// request of a leader that was frozen arrives late.
fn takes_any_version(step: &Step) -> bool {
    match step {
        Step::Apply { precondition, .. }
        | Step::Patch { precondition, .. }
        | Step::Issue { precondition, .. }
        | Step::Delete { precondition, .. } => matches!(precondition, Precondition::Uid(_)),
        // What exists stays as it is; and the other is made under the version that is read for it.
        Step::Create { .. } | Step::CompareAndSet { .. } => false,
    }
}

fn is_in_time(proof: &Proof, now: Timestamp) -> bool {
    let expired = proof.kind().lifetime().is_some_and(|lifetime| now > proof.as_of() + lifetime);
    proof.as_of() <= now && !expired
}
