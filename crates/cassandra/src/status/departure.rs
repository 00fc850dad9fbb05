//! Whether a datacenter that is to leave its ring has left it, and what may be deleted then.

use crate::decide::departure::{self, Stage};
use crate::facts::Facts;
use crate::words::departure::{Leaving, Left};
use palladion_api::conditions::DATACENTER_LEFT;
use palladion_plan::Conditions;
use palladion_plan::words::Count;

/// Set the condition where the datacenter is, or was, to leave.
pub fn condition(writer: &mut Conditions, facts: &Facts<'_>) {
    let is_told = writer.all().iter().any(|c| c.type_ == DATACENTER_LEFT);
    let datacenter = facts.spec.datacenter.name.clone();
    let members = Count::of(facts.joined().count(), "member");
    let held = |why: String| {
        let datacenter = datacenter.clone();
        Leaving::Held { datacenter, members, why }
    };
    let leaving = match departure::of(facts) {
        None if is_told => Leaving::TakenBack { datacenter, members },
        None => return,
        Some(Stage::Left) if !facts.had_members() => Leaving::NobodyKnown { datacenter },
        Some(Stage::Left) => {
            let claims = facts.members.values().filter(|m| m.claim.is_some()).count();
            return writer.set_true(DATACENTER_LEFT, Left::All { datacenter, claims });
        }
        Some(Stage::Waits(why) | Stage::Repairs(why)) => held(why.to_string()),
        Some(Stage::Refused(why)) => held(why.to_string()),
        Some(Stage::Closes | Stage::RecordsRepairs | Stage::Goes) => {
            Leaving::Members { datacenter, members }
        }
    };
    writer.set_false(DATACENTER_LEFT, leaving);
}
