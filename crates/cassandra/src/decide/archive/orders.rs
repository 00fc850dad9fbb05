//! What members are ordered: the same of all, as long as the spec asks for it. It is no part of a
//! turn, a job or a transfer, and goes on beside them.

use super::{archive, window};
use crate::decide::draft::Draft;
use crate::facts::{Facts, MemberFact};
use crate::resources as kinds;
use crate::validate::Valid;
use crate::words::archive::Doing;
use palladion_api::backup::{ArchiveOrder, TransferRepository};
use palladion_plan::Step;
use palladion_plan::difference::difference;
use serde_json::{Value, json};

/// Agents of before this protocol do not know the order.
pub const KNOWS_ARCHIVES: u32 = 12;

/// Write it to every member whose record differs.
pub fn decide(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) {
    let order = order(facts, valid);
    for member in facts.members.values().filter(|member| !member.is_gone()) {
        let (Some(object), Some(spec)) = (&member.object, &member.spec) else {
            continue;
        };
        let wanted = order.as_ref().filter(|_| knows(member));
        let doing = match (wanted, &spec.archive) {
            (Some(_), _) => Doing::Set { member: member.name.clone() },
            (None, Some(_)) => Doing::Withdraw { member: member.name.clone() },
            (None, None) => continue,
        };
        let patch = match wanted {
            None => Value::Null,
            Some(order) => match difference(object.at("/spec/archive"), &json!(order)) {
                None => continue,
                Some(change) => change,
            },
        };
        let patch = json!({ "spec": { "archive": patch } });
        draft.steps.push(Step::patch_seen(kinds::MEMBER, &object.meta, patch, doing));
    }
}

/// An agent that does not know it withdraws nothing, either: its successor goes on.
fn knows(member: &MemberFact) -> bool {
    let agent = member.status.agent.as_ref();
    agent.is_some_and(|agent| agent.protocol >= KNOWS_ARCHIVES)
        || member.spec.as_ref().is_some_and(|spec| spec.archive.is_some())
}

fn order(facts: &Facts<'_>, valid: &Valid) -> Option<ArchiveOrder> {
    let (backup, archive) = (valid.backup.as_ref()?, archive(valid)?);
    Some(ArchiveOrder {
        repository: TransferRepository { id: facts.repository()?, sealed: backup.is_sealed },
        store: backup.place.clone(),
        credentials_secret_name: backup.credentials_secret.clone(),
        max_loss_seconds: archive.max_loss_seconds,
        max_local_bytes: archive.max_local_bytes,
        // On record first.
        window: window::recorded(facts).window,
    })
}
