//! Backups that leave members out: a majority of the replicas of each range has to be in them, by
//! what a server says of its ring.

use super::{Own, Ring, host, hosts};
use crate::orders::OfRing;
use crate::words::refusal::Refusal;
use crate::words::stopped::Stopped;
use palladion_api::backup::{DescribeWork, QuorumWork, SentManifest};
use palladion_api::words::Names;
use palladion_backup::Trouble;
use palladion_backup::coverage::Coverage;
use palladion_backup::hash::Hash;
use palladion_backup::manifest::ring::LeftOut;
use palladion_backup::names::HostId;
use std::collections::BTreeSet;

pub(super) fn fits(work: Option<&QuorumWork>) -> Result<(), Refusal> {
    let mut all = work.into_iter().flat_map(|work| &work.left_out);
    all.try_for_each(|out| host(out.host_id.as_str()).map(drop))
}

/// Is this member left out?
pub(super) fn is_left_out(work: Option<&QuorumWork>, host: &str) -> bool {
    work.into_iter().flat_map(|work| &work.left_out).any(|out| out.host_id.as_str() == host)
}

/// Do the members suffice that are not left out? The hash of the ring's tokens, by which it is known
/// at the end that nobody has joined or left since.
///
/// # Errors
/// They do not, or the ring has members that nobody has named.
pub fn suffices(
    (work, quorum): (&DescribeWork, &QuorumWork),
    ring: &Ring,
) -> Result<String, Stopped> {
    let there = ring.members.keys().filter(|host| !is_left_out(Some(quorum), host));
    let there = hosts(there)?;
    let ordered = work.members.iter().map(|of| host(of.as_str()));
    let ordered: BTreeSet<HostId> = ordered.collect::<Result<_, _>>()?;
    if there != ordered {
        let names = |of: &BTreeSet<HostId>| Names::of(of.iter().map(HostId::as_str));
        return Err(Stopped::RingChanged { ordered: names(&ordered), found: names(&there) });
    }
    match Coverage::QuorumOfEachRange(ring.replicas.clone()).missing(&there) {
        None => Ok(tokens_hash(ring)),
        Some(missing) => Err(Trouble::Uncovered { missing }.into()),
    }
}

/// Of all tokens, whoever owns them: who takes the place of a member has the same.
fn tokens_hash(ring: &Ring) -> String {
    let all: BTreeSet<&str> = ring.members.values().flatten().map(String::as_str).collect();
    let all: Vec<&str> = all.into_iter().collect();
    Hash::of(all.join("\n").as_bytes()).to_string()
}

/// Call each place by the member that has sent what it holds, whoever has it now.
pub(super) fn call_as_sent(sent: &[SentManifest], ring: &mut Ring) {
    for (old, new) in sent.iter().filter_map(|of| Some((&of.host_id, of.replaced_by.as_ref()?))) {
        let Some(tokens) = ring.members.remove(new.as_str()) else { continue };
        ring.members.insert(old.to_string(), tokens);
        let parsed = (HostId::parse(old.as_str()), HostId::parse(new.as_str()));
        let (Some(old), Some(new)) = parsed else { continue };
        for range in &mut ring.replicas {
            if range.hosts.remove(&new) {
                range.hosts.insert(old.clone());
            }
        }
    }
}

/// What has to be covered, and which members of the ring are left out.
pub(super) fn covers(
    work: Option<&QuorumWork>,
    own: &Own,
    ring: &Ring,
) -> Result<(OfRing, Vec<LeftOut>), Stopped> {
    let Some(work) = work else {
        return Ok((OfRing::AllMembers(hosts(ring.members.keys())?), Vec::new()));
    };
    if work.tokens_hash.as_ref().is_some_and(|hash| *hash != tokens_hash(ring)) {
        return Err(Stopped::OtherTokensNow);
    }
    if work.schema_version.as_ref().is_some_and(|version| *version != ring.schema_version) {
        return Err(Stopped::OtherSchemaNow);
    }
    let mut left_out = Vec::new();
    for out in &work.left_out {
        // Another one has its place, and is named as well.
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
