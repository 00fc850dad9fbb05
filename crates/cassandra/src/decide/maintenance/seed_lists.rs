//! The seed lists that members are given, brought up to date while nobody joins.

use crate::decide::draft::Draft;
use crate::decide::turn::seeds;
use crate::facts::{Facts, MemberFact};
use crate::resources as kinds;
use crate::validate::Valid;
use crate::words::maintenance::Doing;
use palladion_plan::Step;
use serde_json::json;

/// Seeds in other datacenters, for every member whose record differs. They restart nobody,
/// and no server names one that it does not have as a member.
pub fn elsewhere(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) {
    for member in facts.members.values().filter(|m| !m.is_gone()) {
        let (Some(object), Some(spec)) = (&member.object, &member.spec) else {
            continue;
        };
        let wanted = seeds::elsewhere(valid, Some(member));
        if spec.external_seeds == wanted {
            continue;
        }
        draft.steps.push(Step::patch_seen(
            kinds::MEMBER,
            &object.meta,
            json!({ "spec": { "externalSeeds": Some(wanted).filter(|w| !w.is_empty()) } }),
            Doing::SetExternalSeeds { member: member.name.clone() },
        ));
    }
}

/// After an outage in which the disks of seeds were lost, the others wait for
/// seeds that never come back. While no member is up they are given at once
/// those that have data; an empty volume is never among them.
pub fn rescue(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) {
    let mut joined = facts.joined();
    if !joined.any(MemberFact::is_normal) {
        refresh(facts, valid, draft);
    }
}

/// Bring the seed lists of all members up to date, once nobody joins.
pub fn refresh(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) {
    let seeds = seeds::of(facts, valid);
    if seeds.is_empty() || draft.has_work() {
        return;
    }
    for member in facts.members.values() {
        let (Some(object), Some(spec)) = (&member.object, &member.spec) else {
            continue;
        };
        let mut have = spec.seeds.clone();
        have.sort();
        if have == seeds || member.recorded_host_id().is_none() {
            continue;
        }
        draft.steps.push(Step::patch_seen(
            kinds::MEMBER,
            &object.meta,
            json!({ "spec": { "seeds": seeds } }),
            Doing::SetSeeds { member: member.name.clone() },
        ));
    }
}
