//! Who is a seed: chosen among members that have joined, the first ordinals of
//! every rack (thesis T7), never by who is alive now (safety, section 2).

use super::Draft;
use crate::facts::{Facts, MemberFact};
use crate::resources as kinds;
use crate::validate::Valid;
use palladion_api::member::VolumeState;
use palladion_plan::{ObjectKey, Precondition, Step, Subresource};
use serde_json::json;

/// Static addresses of the seeds, sorted. Empty while no member has joined.
pub fn of(facts: &Facts<'_>, valid: &Valid) -> Vec<String> {
    without(facts, valid, "")
}

/// The seeds but for one member: a replacement must not be its own seed, and
/// its old address leads nowhere.
pub fn without(facts: &Facts<'_>, valid: &Valid, except: &str) -> Vec<String> {
    let joined = || {
        facts
            .members
            .values()
            .filter(|m| m.name != except && m.recorded_host_id().is_some())
            .filter(|m| m.volume().is_none_or(|v| v.state != VolumeState::Lost))
    };
    let designated = |m: &&MemberFact| {
        u32::try_from(m.ordinal).is_ok_and(|ordinal| ordinal < valid.seeds_per_rack)
    };
    let mut seeds: Vec<String> = joined().filter(designated).filter_map(address).collect();
    if seeds.is_empty() {
        seeds = joined().filter_map(address).take(1).collect();
    }
    seeds.sort();
    seeds
}

fn address(member: &MemberFact) -> Option<String> {
    member
        .spec
        .as_ref()
        .and_then(|s| s.address.clone())
        .or_else(|| member.service.as_ref().and_then(|s| s.address.clone()))
}

/// After an outage in which the disks of seeds were lost, the others wait for
/// seeds that never come back. While no member is up they are told at once who
/// else has data; an empty volume is never among them.
pub fn rescue(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) {
    let mut joined = facts.members.values().filter(|m| m.recorded_host_id().is_some());
    if !joined.any(MemberFact::is_normal) {
        refresh(facts, valid, draft);
    }
}

/// Bring the seed lists of all members up to date, once nobody joins.
pub fn refresh(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) {
    let seeds = of(facts, valid);
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
        draft.steps.push(Step::Patch {
            key: ObjectKey::new(kinds::MEMBER, &valid.namespace, &member.name),
            patch: json!({ "spec": { "seeds": seeds } }),
            subresource: Subresource::None,
            precondition: Precondition::Uid(object.meta.uid.clone()),
            fence: None,
            doing: format!("tell member {} the seeds", member.name),
            event: None,
        });
    }
}
