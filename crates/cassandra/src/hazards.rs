//! What in this mind's steps could hurt, and what must be proven before. The
//! linter refuses a plan in which such a step carries no proof, one of another
//! kind, one about somebody else, or one that is too old.
//!
//! Not here, because nothing stops or goes by it: the mark of a volume
//! (`/spec/replace`). Whoever acts on it has a line here and asks the ring at
//! that time; that fewer may speak for the ring then, only a mark by a user's
//! task brings about, and the proof says so (`DeadAsNamed`, `GoneAsNamed`).
//! Of the operations, a repair, a flush and rewritten SSTables lose nothing.

use crate::resources::{CLAIM, MEMBER, POD, STATEFUL_SET};
use palladion_plan::ProofKind as Kind;
use palladion_plan::{About, Act, Hazard};

/// Every step of this mind that could hurt.
pub const HAZARDS: &[Hazard] = &[
    // Permits: a server starts that did not run.
    permit("Initialize", "/spec/start/volumeID", &[Kind::AllEmpty]),
    // The first of its datacenter joins a ring elsewhere, of which nobody here can be asked.
    permit("Join", "/spec/start/volumeID", &[Kind::AllWell, Kind::AllEmpty]),
    permit("Replace", "/spec/start/hostID", &[Kind::Dead, Kind::DeadAsNamed]),
    permit("ResumeLeave", "/spec/start/hostID", &[Kind::Down]),
    permit("Readdress", "/spec/start/hostID", &[Kind::Down, Kind::Wanted]),
    // A member leaves, is taken out, or must never start again.
    of_member(
        Act::SetTo("/spec/intent/kind", "Decommission"),
        About::Field("/spec/intent/hostID"),
        &[Kind::AllWell],
    ),
    of_member(
        Act::SetTo("/spec/intent/kind", "LeaveWithDatacenter"),
        About::Field("/spec/intent/hostID"),
        &[Kind::AllWell],
    ),
    of_member(
        Act::SetTo("/spec/operation/kind", "RemoveNode"),
        About::Field("/spec/operation/target"),
        &[Kind::Dead, Kind::DeadAsNamed],
    ),
    // A cleanup drops what its member does not own: nobody may be about to come
    // or go. A change of replication takes ranges from members that hold them.
    of_member(Act::SetTo("/spec/operation/kind", "Cleanup"), About::Object, &[Kind::Quiet]),
    of_member(Act::Ordered("/spec/job/cleanup", "/spec/job/id"), About::Object, &[Kind::Quiet]),
    of_member(Act::Ordered("/spec/job/replication", "/spec/job/id"), About::Object, &[Kind::Quiet]),
    // Whoever is removed with its datacenter never comes back.
    of_member(
        Act::Ordered("/spec/job/removeDatacenter", "/spec/job/id"),
        About::Object,
        &[Kind::Quiet],
    ),
    of_member(
        Act::SetTo("/spec/operation/kind", "AlterReplication"),
        About::Object,
        &[Kind::Quiet],
    ),
    of_member(
        Act::SetTo("/spec/run", "Terminated"),
        About::Object,
        &[Kind::Gone, Kind::GoneAsNamed, Kind::NeverJoined],
    ),
    of_member(Act::Deleted, About::Object, &[Kind::Left]),
    // A person gives up a volume: its server stops for good.
    of_member(
        Act::Changed("/spec/terminated/volumeID"),
        About::Field("/spec/terminated/volumeID"),
        &[Kind::AllWell, Kind::Idle, Kind::Wanted],
    ),
    // A server stops.
    of_member(
        Act::SetTo("/spec/run", "Stopped"),
        About::Object,
        &[Kind::AllWell, Kind::Idle, Kind::Wanted],
    ),
    // It serves nobody until a person restarts it.
    of_member(Act::Changed("/spec/drain/nonce"), About::Object, &[Kind::AllWell]),
    of_member(Act::Changed("/spec/restartToken"), About::Object, &[Kind::AllWell, Kind::Idle]),
    Hazard {
        resource: POD,
        act: Act::Deleted,
        about: About::Object,
        kinds: &[
            Kind::AllWell,
            Kind::Idle,
            Kind::Dead,
            Kind::DeadAsNamed,
            Kind::Gone,
            Kind::GoneAsNamed,
            Kind::NeverPart,
        ],
    },
    Hazard {
        resource: STATEFUL_SET,
        act: Act::Lowered("/spec/replicas"),
        about: About::Object,
        kinds: &[Kind::Vacant, Kind::Wanted],
    },
    Hazard {
        resource: STATEFUL_SET,
        act: Act::DeletedWithDependents,
        about: About::Object,
        kinds: &[Kind::Vacant, Kind::OwnerDeleted],
    },
    // Data goes.
    Hazard {
        resource: CLAIM,
        act: Act::Deleted,
        about: About::Object,
        kinds: &[
            Kind::Dead,
            Kind::DeadAsNamed,
            Kind::Gone,
            Kind::GoneAsNamed,
            Kind::NeverPart,
            Kind::Left,
            Kind::OwnerDeleted,
        ],
    },
];

const fn permit(kind: &'static str, about: &'static str, kinds: &'static [Kind]) -> Hazard {
    of_member(Act::SetTo("/spec/start/kind", kind), About::Field(about), kinds)
}

const fn of_member(act: Act, about: About, kinds: &'static [Kind]) -> Hazard {
    Hazard { resource: MEMBER, act, about, kinds }
}

#[cfg(test)]
mod tests {
    use super::*;
    use palladion_api::member::{IntentKind, OperationKind, PermitKind, RunState};
    use palladion_plan::Loss;
    use palladion_plan::sim::Planted;
    use palladion_plan::sim::planted::{Case, NAME, each_is_needed, values};
    use serde_json::{Value, json};

    fn of_member(stored: Value, spec: Value) -> Planted {
        Planted::patch(MEMBER, json!({ "spec": stored }), json!({ "spec": spec }))
    }

    fn permit(kind: &str) -> Planted {
        let start = json!({ "kind": kind, "volumeID": "a volume", "hostID": "a host ID" });
        of_member(json!({}), json!({ "start": start }))
    }

    /// The second try of a member's part asks for the same.
    fn cleanup(id: &str) -> Value {
        json!({ "job": { "id": id, "cleanup": { "jobs": 1 } } })
    }

    fn replication(id: &str) -> Value {
        json!({ "job": { "id": id, "replication": { "factor": 0 } } })
    }

    fn operation(kind: &str) -> Planted {
        let operation = json!({ "id": "1", "kind": kind, "target": "a host ID" });
        of_member(json!({}), json!({ "operation": operation }))
    }

    /// A planted step for each hazard, what its proof must be about, and the kinds
    /// that do. A list of its own: the table has no say in it.
    fn planted() -> Vec<Case> {
        let leave = json!({ "intent": { "kind": "Decommission", "hostID": "a host ID" } });
        let with_all =
            json!({ "intent": { "kind": "LeaveWithDatacenter", "hostID": "a host ID" } });
        let restart = of_member(json!({ "restartToken": "1" }), json!({ "restartToken": "2" }));
        let drain = of_member(json!({}), json!({ "drain": { "nonce": "1" } }));
        let replicas = json!({ "spec": { "replicas": 3 } });
        let fewer = Planted::patch(STATEFUL_SET, replicas, json!({ "spec": { "replicas": 2 } }));
        vec![
            (permit("Initialize"), "a volume", &[Kind::AllEmpty]),
            (permit("Join"), "a volume", &[Kind::AllWell, Kind::AllEmpty]),
            (permit("Replace"), "a host ID", &[Kind::Dead, Kind::DeadAsNamed]),
            (permit("ResumeLeave"), "a host ID", &[Kind::Down]),
            (permit("Readdress"), "a host ID", &[Kind::Down, Kind::Wanted]),
            (of_member(json!({}), leave), "a host ID", &[Kind::AllWell]),
            (of_member(json!({}), with_all), "a host ID", &[Kind::AllWell]),
            (operation("RemoveNode"), "a host ID", &[Kind::Dead, Kind::DeadAsNamed]),
            (operation("Cleanup"), NAME, &[Kind::Quiet]),
            (
                of_member(json!({}), json!({ "job": { "id": "1", "cleanup": { "jobs": 1 } } })),
                NAME,
                &[Kind::Quiet],
            ),
            (of_member(cleanup("1"), cleanup("2")), NAME, &[Kind::Quiet]),
            (
                of_member(
                    json!({}),
                    json!({ "job": { "id": "1", "removeDatacenter": { "name": "dc2" } } }),
                ),
                NAME,
                &[Kind::Quiet],
            ),
            (operation("AlterReplication"), NAME, &[Kind::Quiet]),
            (
                of_member(
                    json!({}),
                    json!({ "job": { "id": "1", "replication": { "factor": 0 } } }),
                ),
                NAME,
                &[Kind::Quiet],
            ),
            (of_member(replication("1"), replication("2")), NAME, &[Kind::Quiet]),
            (
                of_member(json!({ "run": "Running" }), json!({ "run": "Terminated" })),
                NAME,
                &[Kind::Gone, Kind::GoneAsNamed, Kind::NeverJoined],
            ),
            (Planted::deletion(MEMBER, Loss::Nothing), NAME, &[Kind::Left]),
            (
                of_member(json!({}), json!({ "terminated": { "volumeID": "a volume" } })),
                "a volume",
                &[Kind::AllWell, Kind::Idle, Kind::Wanted],
            ),
            (
                of_member(json!({ "run": "Running" }), json!({ "run": "Stopped" })),
                NAME,
                &[Kind::AllWell, Kind::Idle, Kind::Wanted],
            ),
            (drain, NAME, &[Kind::AllWell]),
            (restart, NAME, &[Kind::AllWell, Kind::Idle]),
            (
                Planted::deletion(POD, Loss::Process),
                NAME,
                &[
                    Kind::AllWell,
                    Kind::Idle,
                    Kind::Dead,
                    Kind::DeadAsNamed,
                    Kind::Gone,
                    Kind::GoneAsNamed,
                    Kind::NeverPart,
                ],
            ),
            (fewer, NAME, &[Kind::Vacant, Kind::Wanted]),
            (
                Planted::deletion(STATEFUL_SET, Loss::Process),
                NAME,
                &[Kind::Vacant, Kind::OwnerDeleted],
            ),
            (
                Planted::deletion(CLAIM, Loss::Data),
                NAME,
                &[
                    Kind::Dead,
                    Kind::DeadAsNamed,
                    Kind::Gone,
                    Kind::GoneAsNamed,
                    Kind::NeverPart,
                    Kind::Left,
                    Kind::OwnerDeleted,
                ],
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

    #[test]
    fn other_operations_and_what_stands_there_already_need_no_proof() {
        let same = json!({ "restartToken": "1", "run": "Running" });
        for harmless in [
            operation("Repair"),
            operation("Flush"),
            operation("UpgradeSstables"),
            of_member(json!({}), json!({ "job": { "id": "1", "compact": { "output": "One" } } })),
            of_member(same.clone(), same),
            of_member(json!({ "intent": { "kind": "Decommission" } }), json!({ "intent": null })),
        ] {
            assert_eq!(harmless.needs_none(HAZARDS), Ok(()));
        }
    }

    /// A rename of the API must not leave a hazard behind that nothing matches.
    #[test]
    fn hazards_name_values_as_the_api_writes_them() {
        let written = [
            json!(PermitKind::Initialize),
            json!(PermitKind::Join),
            json!(PermitKind::Replace),
            json!(PermitKind::ResumeLeave),
            json!(PermitKind::Readdress),
            json!(IntentKind::Decommission),
            json!(IntentKind::LeaveWithDatacenter),
            json!(OperationKind::RemoveNode),
            json!(OperationKind::Cleanup),
            json!(OperationKind::AlterReplication),
            json!(RunState::Terminated),
            json!(RunState::Stopped),
        ];
        assert_eq!(values(HAZARDS), written);
    }
}
