//! The ClusterIP of a member's Service goes on record as soon as it differs: from then
//! on the member does not start by itself under the old one, which may be another
//! Service's by now (safety rule 2.2).

use crate::decide::draft::Draft;
use crate::decide::evidence::marks;
use crate::facts::{Facts, MemberFact};
use crate::resources as kinds;
use crate::words::readdress::Doing;
use palladion_api::cluster::TurnStep;
use palladion_plan::Step;
use serde_json::json;

/// Record the addresses that have changed.
pub fn record(facts: &Facts<'_>, draft: &mut Draft) {
    draft.steps.extend(facts.members.values().filter_map(|m| step(facts, m)));
}

fn step(facts: &Facts<'_>, member: &MemberFact) -> Option<Step> {
    let recorded = member.spec.as_ref()?.address.as_ref()?;
    let address = member.service.as_ref()?.address.as_ref().filter(|a| *a != recorded)?;
    // Whoever is replaced gets another address anyway, in a turn of its own.
    let mut turn = facts.turn().into_iter().filter(|t| t.member == member.name);
    if member.recorded_host_id().is_none()
        || marks::of(member).is_some()
        || turn.any(|t| t.step != TurnStep::Readdress)
    {
        return None;
    }
    let doing = Doing::Record { member: member.name.clone(), address: address.clone() };
    let meta = &member.object.as_ref()?.meta;
    let patch = json!({ "spec": { "address": address } });
    Some(Step::patch_as_seen(kinds::MEMBER, meta, patch, doing))
}
