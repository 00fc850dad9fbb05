//! Operations on the system keyspaces that a member was asked for and cannot begin: nobody logs in
//! where the native transport is off. They are not asked for longer than some minutes, so that
//! they hold up no tasks.

use super::super::asked_in_vain;
use super::{ALTER, ordered};
use crate::decide::draft::Draft;
use crate::decide::maintenance::debts::patch;
use crate::facts::{Facts, MemberFact};
use crate::words::maintenance::Doing;
use palladion_plan::Step;
use serde_json::json;

/// Take back what nobody has begun for long; look again when that is so.
pub(super) fn withdraw(facts: &Facts<'_>, draft: &mut Draft) {
    for member in facts.joined() {
        let operation = ordered(member);
        let of_ours = operation.filter(|o| o.id.starts_with(ALTER) || o.id.starts_with(REPAIR));
        let until = of_ours.and_then(|o| asked_in_vain::unbegun_until(facts, member, o));
        match until {
            Some(at) if facts.now() < at => draft.wake_at(at),
            Some(_) => draft.steps.extend(step(member)),
            None => {}
        }
    }
}

/// How the IDs of repairs after a change begin.
const REPAIR: &str = "repair-system-keyspaces-";

fn step(member: &MemberFact) -> Option<Step> {
    let operation = ordered(member)?.kind.into();
    let doing = Doing::WithdrawUnbegunOperation { operation, member: member.name.clone() };
    patch(member, json!({ "operation": null }), doing)
}
