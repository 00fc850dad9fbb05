//! An order is a function of what is stored, so that it is the same at every decision, and is
//! written where a member has another one.

use crate::decide::draft::Draft;
use crate::decide::turn::lock::seen;
use crate::facts::{Facts, MemberFact};
use crate::resources as kinds;
use crate::words::backups::Doing;
use palladion_api::backup::Transfer;
use palladion_plan::difference::difference;
use palladion_plan::{Fence, ObjectKey, Step};
use serde_json::{Value, json};
use std::fmt::Display;

/// For what members work: a backup, a restore, or backups that expire. Every write for it holds while that is the
/// one that is under way.
#[derive(Clone, Copy, Debug)]
pub enum Whose {
    /// Of the backup that is under way.
    Backup,
    /// Of the restore that is under way.
    Restore,
    /// Of the backups that expire now.
    Retention,
}

impl Whose {
    /// Where that one stands in the cluster, by a name that no other one has.
    pub fn under_way(self) -> &'static str {
        match self {
            Self::Backup => "/status/backup/backupUID",
            Self::Restore => "/status/restore/restoreUID",
            Self::Retention => "/status/retention/id",
        }
    }
}

/// Order this of a member, unless it is ordered already. It holds while the cluster has, at these
/// places too, what was seen there.
pub fn give(
    facts: &Facts<'_>,
    (whose, seen): (Whose, &[&'static str]),
    (member, order): (&MemberFact, &Transfer),
    doing: impl Display,
    draft: &mut Draft,
) {
    let Some(object) = &member.object else {
        return;
    };
    let Some(change) = difference(object.at("/spec/transfer"), &json!(order)) else {
        return;
    };
    // Whole: a write that comes late, when the order before is withdrawn, would leave a part of
    // one, which nobody can read.
    let patch = json!({ "spec": { "transfer": whole(json!(order), &change) } });
    // Its agent reports often meanwhile, so not as it was seen: the epoch in the order, and the
    // fences, keep the order of a leader that was frozen from counting.
    let step = Step::patch_seen(kinds::MEMBER, &object.meta, patch, doing);
    let pointers = seen.iter().copied().chain([whose.under_way()]);
    draft.steps.push(fenced(facts, pointers, step));
}

/// The order, with what goes of the one before.
fn whole(mut order: Value, change: &Value) -> Value {
    if let (Value::Object(into), Value::Object(change)) = (&mut order, change) {
        for (key, changed) in change {
            let part = match into.remove(key) {
                Some(part) => whole(part, changed),
                None => changed.clone(),
            };
            into.insert(key.clone(), part);
        }
    }
    order
}

/// Withdraw what this member is ordered, unless it is ordered something else in this decision: an
/// order is written as what differs from the one before it, which must be there then.
pub fn take_from(facts: &Facts<'_>, member: &MemberFact, draft: &mut Draft) {
    let Some(object) = &member.object else {
        return;
    };
    if draft.steps.iter().any(|step| orders(step, &object.meta.name)) {
        return;
    }
    let doing = Doing::Withdraw { member: member.name.clone() };
    let patch = json!({ "spec": { "transfer": null } });
    let step = Step::patch_seen(kinds::MEMBER, &object.meta, patch, doing);
    let whose = [Whose::Backup, Whose::Restore, Whose::Retention].map(Whose::under_way);
    draft.steps.push(fenced(facts, whose, step));
}

fn orders(step: &Step, member: &str) -> bool {
    let Step::Patch { key, patch, .. } = step else {
        return false;
    };
    let is_of_transfer = patch.pointer("/spec/transfer").is_some();
    key.resource == kinds::MEMBER && key.name == member && is_of_transfer
}

/// A step that holds only while the cluster has, at these places and of its leader, what was seen.
pub fn fenced(
    facts: &Facts<'_>,
    pointers: impl IntoIterator<Item = &'static str>,
    step: Step,
) -> Step {
    let owner = &facts.snapshot.owner.meta;
    pointers.into_iter().chain(["/status/epoch"]).fold(step, |step, pointer| {
        let (pointer, expected) = seen(facts, pointer);
        let object = ObjectKey::new(kinds::CLUSTER, &owner.namespace, &owner.name);
        step.fenced(Fence { object, pointer, expected, lock: None })
    })
}
