//! A new leader raises the epoch before anything else, so that the writes of a
//! leader that was frozen and woke up again fail (safety rule 3.3).

use crate::decide::draft::Draft;
use crate::facts::Facts;
use crate::resources as kinds;
use palladion_api::ids::MemberName;
use palladion_plan::Step;
use serde_json::{Value, json};

/// Raise the epoch of a cluster that an earlier leader has written to.
pub fn decide(facts: &Facts<'_>, draft: &mut Draft) {
    let Some(seen) = facts.status.epoch else {
        return;
    };
    if seen >= facts.snapshot.epoch {
        return;
    }
    let mut status = json!({ "epoch": facts.snapshot.epoch });
    if let Some(turn) = facts.turn() {
        status["turn"] = json!({ "epoch": facts.snapshot.epoch });
        if let Some(step) = stamp(facts, &turn.member) {
            draft.steps.push(step);
        }
    }
    draft.steps.insert(
        0,
        Step::Claim {
            status,
            seen: vec![("/status/epoch".into(), Value::from(seen))],
            doing: "raise the leader's epoch".into(),
            event: None,
        },
    );
}

/// Touch the member that the turn names: a frozen leader's write to it carries
/// an old resourceVersion and fails.
fn stamp(facts: &Facts<'_>, member: &MemberName) -> Option<Step> {
    let object = facts.members.get(member)?.object.as_ref()?;
    Some(Step::patch_seen(
        kinds::MEMBER,
        &object.meta,
        json!({ "spec": { "turnEpoch": facts.snapshot.epoch } }),
        format!("take over the turn of member {member}"),
    ))
}

/// True while this leader's epoch is not on record: no turn is taken or used.
pub fn is_behind(facts: &Facts<'_>) -> bool {
    facts.status.epoch.is_some_and(|seen| seen != facts.snapshot.epoch)
}
