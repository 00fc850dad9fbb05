//! Who is a seed: chosen among members that have joined, the first ordinals of
//! every rack as in Rook's Cassandra operator, never by who is up now (safety
//! rule 2.12).

use crate::facts::{Facts, MemberFact};
use crate::validate::Valid;
use palladion_api::ids::{MemberName, StaticAddress};
use palladion_api::member::VolumeState;

/// Static addresses of the seeds, sorted. Empty while no member has joined.
pub fn of(facts: &Facts<'_>, valid: &Valid) -> Vec<StaticAddress> {
    but(facts, valid, None)
}

/// The seeds but for one member: a replacement must not be its own seed, and
/// its old address leads nowhere.
pub fn without(facts: &Facts<'_>, valid: &Valid, except: &MemberName) -> Vec<StaticAddress> {
    but(facts, valid, Some(except))
}

fn but(facts: &Facts<'_>, valid: &Valid, except: Option<&MemberName>) -> Vec<StaticAddress> {
    let joined = || {
        facts
            .members
            .values()
            .filter(|m| Some(&m.name) != except && m.recorded_host_id().is_some())
            .filter(|m| m.volume().is_none_or(|v| v.state != VolumeState::Lost))
    };
    let designated = |m: &&MemberFact| {
        u32::try_from(m.ordinal).is_ok_and(|ordinal| ordinal < valid.seeds_per_rack)
    };
    let mut seeds: Vec<StaticAddress> = joined().filter(designated).filter_map(address).collect();
    if seeds.is_empty() {
        seeds = joined().filter_map(address).take(1).collect();
    }
    seeds.sort();
    seeds
}

fn address(member: &MemberFact) -> Option<StaticAddress> {
    member
        .spec
        .as_ref()
        .and_then(|s| s.address.clone())
        .or_else(|| member.service.as_ref().and_then(|s| s.address.clone()))
}
