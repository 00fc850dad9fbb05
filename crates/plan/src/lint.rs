//! The plan linter: safety rules 3.5 and 4.8. It knows no system; it looks at
//! what a plan could lose. A plan that breaks a rule is not carried out.

use crate::plan::{Loss, Plan, Precondition, Step};

/// Why a plan may not be carried out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Violation {
    /// A deletion that does not say which object it means.
    #[error("a deletion names no uid: {doing}")]
    DeletionWithoutUid {
        /// The step.
        doing: String,
    },
    /// A claim or a pod deleted as if nothing could be lost.
    #[error("a {kind} is deleted as if nothing could be lost: {doing}")]
    LossNotStated {
        /// Kind of the object.
        kind: &'static str,
        /// The step.
        doing: String,
    },
    /// A destructive step without a proof.
    #[error("a destructive step carries no proof: {doing}")]
    ProofMissing {
        /// The step.
        doing: String,
    },
    /// More than one process stopped in one plan.
    #[error("more than one disruptive step in one plan: {first}; {second}")]
    TwoDisruptions {
        /// The first.
        first: String,
        /// The second.
        second: String,
    },
}

/// Every rule that the plan breaks.
pub fn violations(plan: &Plan) -> Vec<Violation> {
    let mut found = Vec::new();
    let mut disruptive: Option<&str> = None;
    for step in &plan.steps {
        let Step::Delete { key, precondition, loss, doing, .. } = step else {
            continue;
        };
        if matches!(precondition, Precondition::Absent) {
            found.push(Violation::DeletionWithoutUid { doing: doing.clone() });
        }
        match loss {
            Loss::Nothing => {
                if matches!(key.resource.kind, "Pod" | "PersistentVolumeClaim") {
                    found.push(Violation::LossNotStated {
                        kind: key.resource.kind,
                        doing: doing.clone(),
                    });
                }
            }
            Loss::Process { proof } | Loss::Remains { proof } | Loss::Data { proof } => {
                if proof.is_empty() {
                    found.push(Violation::ProofMissing { doing: doing.clone() });
                }
                if let Some(first) = disruptive {
                    found.push(Violation::TwoDisruptions {
                        first: first.to_string(),
                        second: doing.clone(),
                    });
                }
                disruptive = Some(doing);
            }
        }
    }
    found
}
