//! Operations on the system keyspaces that a member was asked for and cannot begin: nobody logs in
//! where the native transport is off. They are not asked for longer than some minutes, so that
//! they hold up no tasks.

use super::super::asked_in_vain;
use super::{is_of_change, ordered};
use crate::decide::draft::Draft;
use crate::decide::maintenance::debts::patch;
use crate::facts::Facts;
use crate::words::maintenance::Doing;
use serde_json::json;

/// Take back what nobody has begun for long; look again when that is so.
pub fn withdraw(facts: &Facts<'_>, draft: &mut Draft) {
    for member in facts.joined() {
        let Some(operation) = ordered(member).filter(|o| is_of_change(&o.id)) else { continue };
        match asked_in_vain::unbegun_until(facts, member, operation) {
            Some(at) if facts.now() < at => draft.wake_at(at),
            Some(_) => {
                let (operation, member_name) = (operation.kind.into(), member.name.clone());
                let doing = Doing::WithdrawUnbegunOperation { operation, member: member_name };
                draft.steps.extend(patch(member, json!({ "operation": null }), doing));
            }
            None => {}
        }
    }
}
