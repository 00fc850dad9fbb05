//! A new leader raises the epoch before anything else, so that the writes of a
//! leader that was frozen and woke up again fail.

use crate::decide::draft::Draft;
use crate::facts::Facts;
use crate::resources as kinds;
use crate::words::turn::Doing;
use palladion_plan::{Step, turn};
use serde_json::json;

/// Raise the epoch of an ensemble that an earlier leader has written to.
pub fn decide(facts: &Facts<'_>, draft: &mut Draft) {
    let Some(raise) =
        turn::take_over(facts.snapshot, facts.status.epoch, facts.turn(), Doing::RaiseEpoch)
    else {
        return;
    };
    draft.steps.push(raise);
    // The member that the turn names is touched: a frozen leader's write to it
    // carries an old resourceVersion and fails.
    let member = facts.turn().and_then(|turn| facts.members.get(&turn.member));
    if let Some(object) = member.and_then(|m| m.object.as_ref()) {
        let patch = json!({ "spec": { "turnEpoch": facts.snapshot.epoch } });
        draft.steps.push(Step::patch_seen(kinds::MEMBER, &object.meta, patch, Doing::RaiseEpoch));
    }
}

/// True while this leader's epoch is not on record: no turn is taken or used.
pub fn is_behind(facts: &Facts<'_>) -> bool {
    facts.status.epoch.is_some_and(|seen| seen != facts.snapshot.epoch)
}
