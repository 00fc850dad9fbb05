//! What in this mind's steps could hurt, and what must be proven before: pods
//! that end by our own hand, sets with all their pods, and a set that exists
//! and is written so that Kubernetes ends pods of it.
//!
//! What is not here ends no pod: the labels and annotations of pods, the Services,
//! a larger request of a claim, and a set that is recreated around its pods.

use crate::resources::{POD, STATEFUL_SET};
use palladion_plan::{About, Act, Hazard, ProofKind as Kind};

/// Pods from the partition on that lack the newest template are recreated. Who
/// wants fewer pods wants this too.
const UPDATED: &[Kind] = &[Kind::Vacant, Kind::Idle, Kind::Tried, Kind::Wanted];

/// Every step of this mind that could hurt.
pub const HAZARDS: &[Hazard] = &[
    Hazard { resource: POD, act: Act::Deleted, about: About::Object, kinds: &[Kind::Idle] },
    of_set(Act::DeletedWithDependents, &[Kind::Superseded]),
    of_set(Act::Lowered("/spec/replicas"), &[Kind::Wanted]),
    of_set(Act::Lowered("/spec/updateStrategy/rollingUpdate/partition"), UPDATED),
    of_set(Act::Changed("/spec/template"), UPDATED),
];

const fn of_set(act: Act, kinds: &'static [Kind]) -> Hazard {
    Hazard { resource: STATEFUL_SET, act, about: About::Object, kinds }
}

#[cfg(test)]
mod tests {
    use super::*;
    use palladion_plan::Loss;
    use palladion_plan::sim::Planted;
    use palladion_plan::sim::planted::NAME;
    use serde_json::{Value, json};

    fn patch(spec: Value) -> Planted {
        let strategy = json!({ "type": "RollingUpdate", "rollingUpdate": { "partition": 2 } });
        let template =
            json!({ "spec": { "containers": [{ "name": "c", "image": "good:1", "added": 1 }] } });
        let stored = json!({ "replicas": 3, "updateStrategy": strategy, "template": template });
        Planted::patch(STATEFUL_SET, json!({ "spec": stored }), json!({ "spec": spec }))
    }

    fn partition(partition: i32) -> Planted {
        patch(json!({ "updateStrategy": { "rollingUpdate": { "partition": partition } } }))
    }

    fn image(image: &str) -> Planted {
        let container = json!({ "name": "c", "image": image });
        patch(json!({ "template": { "spec": { "containers": [container] } } }))
    }

    /// One planted step for each, by a list of its own: a line that the table loses is seen.
    #[test]
    fn every_step_that_could_hurt_is_refused_without_its_proof() {
        let updated = [Kind::Vacant, Kind::Idle, Kind::Tried, Kind::Wanted];
        let refused = |step: Planted, kinds: &[Kind]| {
            assert_eq!(step.needs(HAZARDS, NAME, kinds), Ok(()));
        };
        refused(Planted::deletion(POD, Loss::Process), &[Kind::Idle]);
        refused(Planted::deletion(STATEFUL_SET, Loss::Process), &[Kind::Superseded]);
        refused(patch(json!({ "replicas": 2 })), &[Kind::Wanted]);
        refused(patch(json!({ "replicas": 0 })), &[Kind::Wanted]);
        refused(partition(1), &updated);
        refused(image("good:2"), &updated);
    }

    #[test]
    fn more_pods_and_what_the_api_server_adds_need_no_proof() {
        for harmless in
            [patch(json!({ "replicas": 4 })), partition(2), partition(3), image("good:1")]
        {
            assert_eq!(harmless.needs_none(HAZARDS), Ok(()));
        }
    }
}
