//! The ClusterIP of a member's Service goes on record as soon as it differs: from then
//! on the member does not start by itself under the old one, which may be another
//! Service's by now (safety rule 2.2).

use crate::decide::draft::Draft;
use crate::decide::evidence::marks;
use crate::facts::{Facts, MemberFact, leaver};
use crate::resources as kinds;
use crate::words::readdress::Doing;
use palladion_api::cluster::{Turn, TurnStep};
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
    // Whoever was leaving comes back to leave under the address that the ring knows.
    let is_leaver = leaver::is_interrupted(member) || leaver::failed_halfway(member).is_some();
    if member.recorded_host_id().is_none()
        || marks::of(member).is_some()
        || is_leaver && member.status.address.as_ref() != Some(address)
        || turn.any(|t| t.step != TurnStep::Readdress || has_permit(member, t))
    {
        return None;
    }
    let doing = Doing::Record { member: member.name.clone(), address: address.clone() };
    let meta = &member.object.as_ref()?.meta;
    let patch = json!({ "spec": { "address": address } });
    Some(Step::patch_as_seen(kinds::MEMBER, meta, patch, doing))
}

/// The permit of a turn is about the address that the others were asked about.
fn has_permit(member: &MemberFact, turn: &Turn) -> bool {
    let permit = member.spec.as_ref().and_then(|s| s.start.as_ref());
    permit.is_some_and(|permit| permit.nonce == turn.nonce)
}
