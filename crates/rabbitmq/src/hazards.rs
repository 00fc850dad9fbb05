//! What in this mind's steps could hurt, and what must be proven before. The
//! linter refuses a plan in which such a step carries no proof, one of another
//! kind, one about somebody else, or one that is too old.
//!
//! Not here: the record that a volume is lost (`/spec/replace`). It is made of no node that
//! serves or that others see run, and its agent starts none by it; whoever acts on it has a
//! line here and asks the others at that time. Nor jobs that add replicas or spread leaders:
//! nothing stops or goes by them.

use crate::resources::{CLAIM, MEMBER, POD, STATEFUL_SET};
use palladion_plan::ProofKind as Kind;
use palladion_plan::{About, Act, Hazard};

/// Every step of this mind that could hurt.
pub const HAZARDS: &[Hazard] = &[
    // Permits: a node starts that did not run. With what it has kept it may start again
    // (`Idle`); whoever takes a lost one's place needs `Dead`.
    permit("Initialize", &[Kind::AllEmpty]),
    permit("Join", &[Kind::AllWell, Kind::Dead, Kind::Idle]),
    // Replicas are taken off a node, or the node is forgotten.
    of_member(
        Act::Ordered("/spec/operation/node", "/spec/operation/id"),
        About::Object,
        &[Kind::AllWell, Kind::Dead],
    ),
    // An application stops, so that the others can forget its node.
    of_member(
        Act::SetTo("/spec/intent/kind", "StopApp"),
        About::Field("/spec/intent/volumeID"),
        &[Kind::AllWell],
    ),
    // A member is out, and must never start again.
    of_member(
        Act::SetTo("/spec/intent/kind", "Leave"),
        About::Field("/spec/intent/volumeID"),
        &[Kind::Gone],
    ),
    of_member(Act::SetTo("/spec/run", "Terminated"), About::Object, &[Kind::Gone]),
    of_member(Act::Deleted, About::Object, &[Kind::Left]),
    // A node stops.
    of_member(Act::Changed("/spec/restartToken"), About::Object, &[Kind::AllWell]),
    Hazard {
        resource: POD,
        act: Act::Deleted,
        about: About::Object,
        kinds: &[Kind::AllWell, Kind::Idle, Kind::Dead, Kind::NeverPart, Kind::Left],
    },
    Hazard {
        resource: STATEFUL_SET,
        act: Act::Lowered("/spec/replicas"),
        about: About::Object,
        kinds: &[Kind::Vacant],
    },
    Hazard {
        resource: STATEFUL_SET,
        act: Act::DeletedWithDependents,
        about: About::Object,
        kinds: &[Kind::OwnerDeleted],
    },
    // Data goes.
    Hazard {
        resource: CLAIM,
        act: Act::Deleted,
        about: About::Object,
        kinds: &[Kind::Dead, Kind::NeverPart, Kind::OwnerDeleted],
    },
];

const fn permit(kind: &'static str, kinds: &'static [Kind]) -> Hazard {
    of_member(Act::SetTo("/spec/start/kind", kind), About::Field("/spec/start/volumeID"), kinds)
}

const fn of_member(act: Act, about: About, kinds: &'static [Kind]) -> Hazard {
    Hazard { resource: MEMBER, act, about, kinds }
}

#[cfg(test)]
mod tests {
    use super::*;
    use palladion_api::member::RunState;
    use palladion_api::service_member::{ServiceIntentKind, ServicePermitKind};
    use palladion_plan::Loss;
    use palladion_plan::sim::Planted;
    use palladion_plan::sim::planted::{Case, NAME, each_is_needed, values};
    use serde_json::{Value, json};

    fn of_member(stored: Value, spec: Value) -> Planted {
        Planted::patch(MEMBER, json!({ "spec": stored }), json!({ "spec": spec }))
    }

    fn permit(kind: &str) -> Planted {
        of_member(json!({}), json!({ "start": { "kind": kind, "volumeID": "a volume" } }))
    }

    fn intent(kind: &str) -> Planted {
        of_member(json!({}), json!({ "intent": { "kind": kind, "volumeID": "a volume" } }))
    }

    fn forget(id: &str) -> Value {
        json!({ "operation": { "id": id, "kind": "Forget", "node": "rabbit@a" } })
    }

    /// A planted step for each hazard, what its proof must be about, and the kinds
    /// that do. A list of its own: the table has no say in it.
    fn planted() -> Vec<Case> {
        let replicas = json!({ "spec": { "replicas": 3 } });
        let fewer = Planted::patch(STATEFUL_SET, replicas, json!({ "spec": { "replicas": 2 } }));
        let restart = of_member(json!({ "restartToken": "1" }), json!({ "restartToken": "2" }));
        let ended = of_member(json!({ "run": "Running" }), json!({ "run": "Terminated" }));
        let job: &[Kind] = &[Kind::AllWell, Kind::Dead];
        vec![
            (permit("Initialize"), "a volume", &[Kind::AllEmpty]),
            (permit("Join"), "a volume", &[Kind::AllWell, Kind::Dead, Kind::Idle]),
            (of_member(json!({}), forget("1")), NAME, job),
            (of_member(forget("1"), forget("2")), NAME, job),
            (intent("StopApp"), "a volume", &[Kind::AllWell]),
            (intent("Leave"), "a volume", &[Kind::Gone]),
            (ended, NAME, &[Kind::Gone]),
            (Planted::deletion(MEMBER, Loss::Nothing), NAME, &[Kind::Left]),
            (restart, NAME, &[Kind::AllWell]),
            (
                Planted::deletion(POD, Loss::Process),
                NAME,
                &[Kind::AllWell, Kind::Idle, Kind::Dead, Kind::NeverPart, Kind::Left],
            ),
            (fewer, NAME, &[Kind::Vacant]),
            (Planted::deletion(STATEFUL_SET, Loss::Process), NAME, &[Kind::OwnerDeleted]),
            (
                Planted::deletion(CLAIM, Loss::Data),
                NAME,
                &[Kind::Dead, Kind::NeverPart, Kind::OwnerDeleted],
            ),
        ]
    }

    #[test]
    fn every_step_that_could_hurt_is_refused_without_its_proof() {
        for (step, about, kinds) in planted() {
            assert_eq!(step.needs(HAZARDS, about, kinds), Ok(()));
        }
    }

    #[test]
    fn a_line_that_the_table_loses_is_seen() {
        assert_eq!(each_is_needed(HAZARDS, &planted()), Ok(()));
    }

    /// A rename of the API must not leave a hazard behind that nothing matches.
    #[test]
    fn hazards_name_values_as_the_api_writes_them() {
        let written = [
            json!(ServicePermitKind::Initialize),
            json!(ServicePermitKind::Join),
            json!(ServiceIntentKind::StopApp),
            json!(ServiceIntentKind::Leave),
            json!(RunState::Terminated),
        ];
        assert_eq!(values(HAZARDS), written);
    }
}
