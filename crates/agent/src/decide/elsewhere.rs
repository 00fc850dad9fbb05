//! Seeds in other datacenters: who is named to a server, so that two rings of one name
//! never gossip. A server that is a member names only whom it has as a member already;
//! one with an empty volume, which knows nobody, names one address that answers.

use crate::words::start::Waiting;
use palladion_api::ids::{SeedAddress, StaticAddress};
use palladion_api::member::{CassandraMemberSpec, RingMember};
use palladion_api::words::Names;
use std::collections::BTreeSet;

/// Where seeds in other datacenters were found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Elsewhere {
    /// Their addresses, in the order of the spec.
    pub addresses: Vec<StaticAddress>,
    /// Names that could not be resolved.
    pub unresolved: BTreeSet<SeedAddress>,
    /// The first of them whose port for other members has answered a moment ago.
    pub answers: Option<StaticAddress>,
}

/// The only seed of a server with an empty volume that joins where no member of its own
/// datacenter is known. One, because two of them may be members of two rings.
///
/// # Errors
/// What it waits for.
pub fn first(
    elsewhere: &Elsewhere,
    spec: &CassandraMemberSpec,
    own: &StaticAddress,
) -> Result<StaticAddress, Waiting> {
    let answers = elsewhere.answers.as_ref().filter(|seed| *seed != own);
    answers
        .cloned()
        .ok_or_else(|| Waiting::NoSeedAnswers { seeds: Names::of(spec.external_seeds.iter()) })
}

/// The seeds of a server that is a member: those of its datacenter, and of the others whom
/// it has as members. While a name cannot be resolved, whoever is listed stays.
pub fn listed(
    spec: &CassandraMemberSpec,
    elsewhere: &Elsewhere,
    view: &[RingMember],
    listed: &[StaticAddress],
) -> Vec<StaticAddress> {
    let mut seeds = spec.seeds.clone();
    if spec.external_seeds.is_empty() {
        return seeds;
    }
    let stays = listed.iter().filter(|_| !elsewhere.unresolved.is_empty());
    let others: BTreeSet<&StaticAddress> = elsewhere.addresses.iter().chain(stays).collect();
    let is_member =
        |seed: &&&StaticAddress| view.iter().any(|m| m.address == ***seed && !m.host_id.is_empty());
    let is_new = |seed: &&&StaticAddress| !spec.seeds.contains(**seed);
    seeds.extend(others.iter().filter(is_member).filter(is_new).map(|seed| (*seed).clone()));
    seeds
}

#[cfg(test)]
mod tests {
    use super::*;
    use palladion_api::member::{Liveness, MemberState};

    fn member(address: &'static str, host_id: &'static str) -> RingMember {
        RingMember {
            host_id: host_id.into(),
            address: address.into(),
            liveness: Liveness::Down,
            state: MemberState::Normal,
            datacenter: Some("west".into()),
            version: None,
        }
    }

    fn spec() -> CassandraMemberSpec {
        CassandraMemberSpec {
            seeds: vec!["10.0.0.1".into()],
            external_seeds: vec!["seeds.west".into()],
            ..CassandraMemberSpec::default()
        }
    }

    fn found(addresses: &[&'static str]) -> Elsewhere {
        let addresses = addresses.iter().map(|a| StaticAddress::from(*a)).collect();
        Elsewhere { addresses, ..Elsewhere::default() }
    }

    #[test]
    fn a_member_names_only_whom_its_server_has_as_a_member() {
        let view = [member("10.0.0.1", "h1"), member("10.9.0.1", "h9"), member("10.9.0.3", "")];
        let of_two_rings = found(&["10.9.0.1", "10.9.0.2", "10.9.0.3", "10.0.0.1"]);
        let seeds = listed(&spec(), &of_two_rings, &view, &[]);
        assert_eq!(seeds, ["10.0.0.1".into(), "10.9.0.1".into()]);
        assert_eq!(listed(&spec(), &of_two_rings, &[], &[]), ["10.0.0.1".into()]);
    }

    #[test]
    fn what_cannot_be_resolved_removes_nobody_that_is_a_member() {
        let view = [member("10.0.0.1", "h1"), member("10.9.0.1", "h9")];
        let before = ["10.0.0.1".into(), "10.9.0.1".into(), "10.9.0.2".into()];
        let mut unresolved = found(&[]);
        unresolved.unresolved.insert("seeds.west".into());
        let both = ["10.0.0.1".into(), "10.9.0.1".into()];
        assert_eq!(listed(&spec(), &unresolved, &view, &before), both);
        assert_eq!(listed(&spec(), &found(&[]), &view, &before), ["10.0.0.1".into()]);
        let none = CassandraMemberSpec { external_seeds: Vec::new(), ..spec() };
        assert_eq!(listed(&none, &unresolved, &view, &before), ["10.0.0.1".into()]);
    }
}
