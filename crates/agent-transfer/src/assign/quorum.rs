//! Backups that leave members out: a majority of the replicas of each range has to be in them, by
//! what a server says of its ring.

use super::{Own, Ring, host, hosts};
use crate::orders::OfRing;
use crate::words::refusal::Refusal;
use crate::words::stopped::Stopped;
use palladion_api::backup::QuorumWork;
use palladion_backup::Trouble;
use palladion_backup::coverage::Coverage;
use palladion_backup::manifest::ring::LeftOut;

pub(super) fn fits(work: Option<&QuorumWork>) -> Result<(), Refusal> {
    let mut all = work.into_iter().flat_map(|work| &work.left_out);
    all.try_for_each(|out| host(out.host_id.as_str()).map(drop))
}

/// Is this member left out?
pub(super) fn is_left_out(work: Option<&QuorumWork>, host: &str) -> bool {
    work.into_iter().flat_map(|work| &work.left_out).any(|out| out.host_id.as_str() == host)
}

/// Do the members suffice that are not left out?
///
/// # Errors
/// They do not.
pub fn suffices(work: &QuorumWork, ring: &Ring) -> Result<(), Stopped> {
    let there = ring.members.keys().filter(|host| !is_left_out(Some(work), host));
    let there = hosts(there)?;
    match Coverage::QuorumOfEachRange(ring.replicas.clone()).missing(&there) {
        None => Ok(()),
        Some(missing) => Err(Trouble::Uncovered { missing }.into()),
    }
}

/// What has to be covered, and which members of the ring are left out.
pub(super) fn covers(
    work: Option<&QuorumWork>,
    own: &Own,
    ring: &Ring,
) -> Result<(OfRing, Vec<LeftOut>), Refusal> {
    let Some(work) = work else {
        return Ok((OfRing::AllMembers(hosts(ring.members.keys())?), Vec::new()));
    };
    let mut left_out = Vec::new();
    for out in &work.left_out {
        let Some(tokens) = ring.members.get(out.host_id.as_str()) else { continue };
        left_out.push(LeftOut {
            host: host(out.host_id.as_str())?,
            datacenter: own.datacenter.clone(),
            rack: out.rack.clone(),
            version: own.version.clone(),
            tokens: tokens.clone(),
        });
    }
    Ok((OfRing::QuorumOfEachRange(ring.replicas.clone()), left_out))
}
