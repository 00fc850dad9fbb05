//! Who is a seed: chosen among members that have joined, the first ordinals of
//! every rack as in Rook's Cassandra operator and whom people want, never by who
//! is up now (safety rule 2.12).

use crate::facts::{Facts, MemberFact};
use crate::validate::Valid;
use palladion_api::cluster::RingOrigin;
use palladion_api::ids::{MemberName, SeedAddress, StaticAddress};
use palladion_api::member::{SeedChoice, VolumeState};

/// Static addresses of the seeds, sorted. Empty while no member has joined.
pub fn of(facts: &Facts<'_>, valid: &Valid) -> Vec<StaticAddress> {
    but(facts, valid, None)
}

/// The seeds but for one member: a replacement must not be its own seed, and
/// its old address leads nowhere.
pub fn without(facts: &Facts<'_>, valid: &Valid, except: &MemberName) -> Vec<StaticAddress> {
    but(facts, valid, Some(except))
}

/// The seeds of one that comes back under another address: somebody who is up is
/// among them, or itself where nobody is.
pub fn to_come_back(facts: &Facts<'_>, valid: &Valid, member: &MemberFact) -> Vec<StaticAddress> {
    let mut seeds = of(facts, valid);
    let others = joined(facts).filter(|m| m.name != member.name && m.is_normal());
    let up: Vec<StaticAddress> = others.filter_map(address).collect();
    if !seeds.iter().any(|seed| up.contains(seed)) {
        seeds.extend(up.into_iter().next().or_else(|| address(member)));
    }
    seeds.sort();
    seeds.dedup();
    seeds
}

/// Seeds in other datacenters, for this member. In a ring that begins here a member with an
/// empty volume is given none: it joins by those of its own datacenter alone.
pub fn elsewhere(valid: &Valid, member: Option<&MemberFact>) -> Vec<SeedAddress> {
    let is_member = member.is_some_and(|m| m.recorded_host_id().is_some());
    match valid.elsewhere.origin {
        RingOrigin::New if !is_member => Vec::new(),
        RingOrigin::New | RingOrigin::Existing => valid.elsewhere.seeds.clone(),
    }
}

fn but(facts: &Facts<'_>, valid: &Valid, except: Option<&MemberName>) -> Vec<StaticAddress> {
    let joined = || joined(facts).filter(|m| Some(&m.name) != except);
    let is_seed = |m: &&MemberFact| is_designated(valid, m) || is_last(facts, valid, m);
    let mut seeds: Vec<StaticAddress> = joined().filter(is_seed).filter_map(address).collect();
    if seeds.is_empty() {
        seeds = joined().filter_map(address).take(1).collect();
    }
    seeds.sort();
    seeds
}

fn joined<'a>(facts: &'a Facts<'_>) -> impl Iterator<Item = &'a MemberFact> {
    let joined = facts.members.values().filter(|m| m.recorded_host_id().is_some());
    joined.filter(|m| m.volume().is_none_or(|v| v.state != VolumeState::Lost))
}

/// Is this to be a seed, by its ordinal or because people want it?
pub fn is_designated(valid: &Valid, member: &MemberFact) -> bool {
    match member.wanted().map_or(SeedChoice::Auto, |w| w.seed) {
        SeedChoice::Always => true,
        SeedChoice::Never => false,
        SeedChoice::Auto | SeedChoice::Unknown(_) => is_early(valid, member.ordinal),
    }
}

/// Is it one of the first of its rack?
pub fn is_early(valid: &Valid, ordinal: i32) -> bool {
    u32::try_from(ordinal).is_ok_and(|ordinal| ordinal < valid.seeds_per_rack)
}

/// It is a seed now and people do not want that, but no other one is up and
/// normal. Who is no seed any more becomes none by this again.
pub fn is_last(facts: &Facts<'_>, valid: &Valid, member: &MemberFact) -> bool {
    let is_never = |m: &MemberFact| m.wanted().is_some_and(|w| w.seed == SeedChoice::Never);
    let is_now = |m: &MemberFact| address(m).is_some_and(|a| facts.status.seeds.contains(&a));
    // Of several that are not wanted any more the first one stays.
    let is_first = |m: &MemberFact| is_never(m) && is_now(m) && m.name < member.name;
    let stays = |m: &MemberFact| is_designated(valid, m) || is_first(m);
    let mut others = joined(facts).filter(|m| m.name != member.name);
    is_never(member) && is_now(member) && !others.any(|m| m.is_normal() && stays(m))
}

fn address(member: &MemberFact) -> Option<StaticAddress> {
    member
        .spec
        .as_ref()
        .and_then(|s| s.address.clone())
        .or_else(|| member.service.as_ref().and_then(|s| s.address.clone()))
}
