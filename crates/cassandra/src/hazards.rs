//! What in this mind's steps could hurt, and what must be proven before. The
//! linter refuses a plan in which such a step carries no proof, one of another
//! kind, one about somebody else, or one that is too old.

use crate::resources::{CLAIM, MEMBER, POD, STATEFUL_SET};
use palladion_plan::ProofKind as Kind;
use palladion_plan::{About, Act, Hazard};

/// Every step of this mind that could hurt.
pub const HAZARDS: &[Hazard] = &[
    // Permits: a server starts that did not run.
    permit("Initialize", "/spec/start/volumeID", &[Kind::AllEmpty]),
    permit("Join", "/spec/start/volumeID", &[Kind::AllWell]),
    permit("Replace", "/spec/start/hostID", &[Kind::Dead, Kind::DeadAsNamed]),
    permit("ResumeLeave", "/spec/start/hostID", &[Kind::Down]),
    // A member leaves, is taken out, or must never start again.
    of_member(
        Act::SetTo("/spec/intent/kind", "Decommission"),
        About::Field("/spec/intent/hostID"),
        &[Kind::AllWell],
    ),
    of_member(
        Act::SetTo("/spec/operation/kind", "RemoveNode"),
        About::Field("/spec/operation/target"),
        &[Kind::Dead, Kind::DeadAsNamed],
    ),
    of_member(
        Act::SetTo("/spec/run", "Terminated"),
        About::Object,
        &[Kind::Gone, Kind::GoneAsNamed, Kind::NeverPart],
    ),
    of_member(Act::Deleted, About::Object, &[Kind::Left]),
    // A server stops.
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
        act: Act::Deleted,
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
    use serde_json::json;

    /// The kinds of proof stand in the table alone: a slip in it would be seen by nobody.
    #[test]
    fn only_the_end_of_its_member_lets_a_claim_go_and_only_a_whole_ring_a_member_join_or_leave() {
        let kinds = |act: Act| {
            let of = |h: &&Hazard| h.act == act && [CLAIM, MEMBER].contains(&h.resource);
            HAZARDS.iter().find(of).map(|h| h.kinds).unwrap_or_default()
        };
        for act in [
            Act::SetTo("/spec/start/kind", "Join"),
            Act::SetTo("/spec/intent/kind", "Decommission"),
        ] {
            assert_eq!(kinds(act), [Kind::AllWell], "{act:?}");
        }
        assert_eq!(kinds(Act::SetTo("/spec/start/kind", "Initialize")), [Kind::AllEmpty]);
        let claims = HAZARDS.iter().filter(|h| h.resource == CLAIM);
        let kinds: Vec<Kind> = claims.flat_map(|h| h.kinds).copied().collect();
        let its_end = [
            Kind::Dead,
            Kind::DeadAsNamed,
            Kind::Gone,
            Kind::GoneAsNamed,
            Kind::NeverPart,
            Kind::Left,
            Kind::OwnerDeleted,
        ];
        assert_eq!(kinds, its_end);
    }

    /// A rename of the API must not leave a hazard behind that nothing matches.
    #[test]
    fn hazards_name_values_as_the_api_writes_them() {
        let written = [
            json!(PermitKind::Initialize),
            json!(PermitKind::Join),
            json!(PermitKind::Replace),
            json!(PermitKind::ResumeLeave),
            json!(IntentKind::Decommission),
            json!(OperationKind::RemoveNode),
            json!(RunState::Terminated),
        ];
        let named: Vec<_> = HAZARDS
            .iter()
            .filter_map(|hazard| match hazard.act {
                Act::SetTo(_, value) => Some(json!(value)),
                Act::Deleted | Act::Changed(_) | Act::Lowered(_) => None,
            })
            .collect();
        assert_eq!(named, written);
    }
}
