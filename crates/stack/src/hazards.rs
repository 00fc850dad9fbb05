//! What in the steps of these minds could hurt, and what must be proven before:
//! pods that end by our own hand, and a set that gets fewer of them.
//!
//! What is not here ends no pod: the texts of pods, their labels and the
//! signals that follow from these, Services, and the template of a set, which
//! reaches no pod that runs (`OnDelete`).

use crate::resources::{DAEMON_SET, POD, STATEFUL_SET};
use palladion_plan::{About, Act, Hazard, ProofKind as Kind};

/// Every step of the mind of Components that could hurt.
pub const OF_COMPONENTS: &[Hazard] = &[
    Hazard {
        resource: POD,
        act: Act::Deleted,
        about: About::Object,
        kinds: &[Kind::Idle, Kind::Quiet],
    },
    Hazard {
        resource: STATEFUL_SET,
        act: Act::Lowered("/spec/replicas"),
        about: About::Object,
        kinds: &[Kind::Wanted],
    },
    // No step of ours does this, so nothing proves it.
    Hazard {
        resource: STATEFUL_SET,
        act: Act::DeletedWithDependents,
        about: About::Object,
        kinds: &[],
    },
];

/// Every step of the mind of groups that could hurt.
pub const OF_GROUPS: &[Hazard] = &[
    Hazard {
        resource: POD,
        act: Act::Deleted,
        about: About::Object,
        kinds: &[Kind::Idle, Kind::Quiet],
    },
    // No step of ours does this, so nothing proves it.
    Hazard {
        resource: DAEMON_SET,
        act: Act::DeletedWithDependents,
        about: About::Object,
        kinds: &[],
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use palladion_plan::Loss;
    use palladion_plan::sim::Planted;
    use palladion_plan::sim::planted::NAME;
    use serde_json::{Value, json};

    fn of_set(spec: Value) -> Planted {
        let stored = json!({ "replicas": 3, "template": { "spec": { "x": 1 } } });
        Planted::patch(STATEFUL_SET, json!({ "spec": stored }), json!({ "spec": spec }))
    }

    /// By a list of its own: a line that the table loses is seen.
    #[test]
    fn every_step_that_could_hurt_is_refused_without_its_proof() {
        let refused = |step: Planted, kinds: &[Kind]| {
            assert_eq!(step.needs(OF_COMPONENTS, NAME, kinds), Ok(()));
        };
        refused(Planted::deletion(POD, Loss::Process), &[Kind::Idle, Kind::Quiet]);
        refused(of_set(json!({ "replicas": 2 })), &[Kind::Wanted]);
        refused(of_set(json!({ "replicas": 0 })), &[Kind::Wanted]);
        refused(Planted::deletion(STATEFUL_SET, Loss::Process), &[]);
        let of_groups = |step: Planted, kinds: &[Kind]| {
            assert_eq!(step.needs(OF_GROUPS, NAME, kinds), Ok(()));
        };
        of_groups(Planted::deletion(POD, Loss::Process), &[Kind::Idle, Kind::Quiet]);
        of_groups(Planted::deletion(DAEMON_SET, Loss::Process), &[]);
    }

    #[test]
    fn more_pods_and_another_template_need_no_proof() {
        for spec in [json!({ "replicas": 4 }), json!({ "template": { "spec": { "x": 2 } } })] {
            assert_eq!(of_set(spec).needs_none(OF_COMPONENTS), Ok(()));
        }
    }
}
