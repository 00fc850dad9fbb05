//! Numbers of a spec: how many members, tokens, seeds and seconds.

use crate::words::refusal::Refusal;
use palladion_api::cluster::CassandraClusterSpec;

/// Numbers that a ring cannot be made with.
pub fn check(spec: &CassandraClusterSpec) -> Result<(), Refusal> {
    let racks = &spec.datacenter.racks;
    if let Some(rack) = racks.iter().find(|r| r.members < 0) {
        let (rack, members) = (rack.name.clone(), rack.members);
        return Err(Refusal::NegativeMembers { rack, members });
    }
    if racks.iter().all(|r| r.members == 0) {
        return Err(Refusal::NoMembers);
    }
    let least_one = [
        ("numTokens", spec.num_tokens),
        ("seedsPerRack", spec.seeds_per_rack),
        ("terminationGracePeriodSeconds", spec.termination_grace_period_seconds),
    ];
    match least_one.iter().find(|(_, number)| *number == 0) {
        Some((field, _)) => Err(Refusal::Zero { field }),
        None => Ok(()),
    }
}
