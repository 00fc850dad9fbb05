//! Orders to change the configuration end with the turn that they were given in. A member that
//! was silent when its turn ended would carry its order out when it is back: the version that
//! the order names keeps it from undoing a change, and not from making one that nobody wants any
//! more. Under another question of its turn it stays until its end is known: whoever has it may
//! be at it, and by its record the turn waits for that.

use super::change;
use crate::decide::draft::Draft;
use crate::facts::Facts;
use crate::resources as kinds;
use crate::words::turn::Doing;
use palladion_plan::Step;
use serde_json::json;

/// Withdraw every order that does not belong to the turn.
pub fn decide(facts: &Facts<'_>, draft: &mut Draft) {
    let turn = facts.turn();
    let current = turn.and_then(change::order_of);
    for member in facts.members.values() {
        let (Some(object), Some(spec)) = (&member.object, &member.spec) else { continue };
        let is_left = spec.operation.as_ref().is_some_and(|o| current.as_ref() != Some(&o.id));
        let is_open = turn.and_then(|turn| change::open_order(facts, turn, member)).is_some();
        if is_left && !is_open {
            let doing = Doing::WithdrawOrder { executor: member.name.clone() };
            let patch = json!({ "spec": { "operation": null } });
            let step = Step::patch_as_seen(kinds::MEMBER, &object.meta, patch, doing);
            draft.steps.push(step.fenced(facts.fence()));
        }
    }
}
