//! Which member takes the place of which member of a backup: rack by rack, since copies of a row
//! are in different racks. Whatever the ring is to be like later, it begins like the backup.

use crate::validate::Valid;
use crate::words::restores::Topology;
use palladion_api::backup::BackedUpMember;
use palladion_api::cluster::RestoredPlace;
use palladion_api::ids::{MemberName, RackName, VolumeId};
use palladion_plan::words::{Count, Names};
use std::collections::{BTreeMap, BTreeSet};

/// What the ring is like.
pub struct Ring<'a> {
    /// The name of its datacenter.
    pub datacenter: &'a str,
    /// Tokens of a member.
    pub tokens: u32,
    /// Its members with their volumes, by rack and in the order of their ordinals.
    pub racks: BTreeMap<RackName, Vec<(MemberName, VolumeId)>>,
}

impl<'a> Ring<'a> {
    /// With these members.
    pub fn of(
        valid: &'a Valid,
        members: impl IntoIterator<Item = (RackName, MemberName, VolumeId)>,
    ) -> Self {
        let mut racks: BTreeMap<RackName, Vec<(MemberName, VolumeId)>> = BTreeMap::new();
        for (rack, member, volume) in members {
            racks.entry(rack).or_default().push((member, volume));
        }
        let tokens = valid.racks.first().map_or(0, |rack| rack.server.num_tokens);
        Self { datacenter: &valid.datacenter, tokens, racks }
    }
}

/// Give each member its place.
///
/// # Errors
/// The ring is not like the backup.
pub fn places(
    backup: &[BackedUpMember],
    ring: &Ring<'_>,
    datacenters: &BTreeMap<String, String>,
) -> Result<Vec<RestoredPlace>, Topology> {
    let of_backup: BTreeSet<&String> = backup.iter().map(|member| &member.datacenter).collect();
    match of_backup.iter().collect::<Vec<_>>()[..] {
        [only] => {
            let becomes = datacenters.get(*only).unwrap_or(only);
            if becomes != ring.datacenter {
                let (backup, ring) = ((*only).clone(), ring.datacenter.to_string());
                return Err(Topology::Datacenter { backup, ring });
            }
        }
        _ => return Err(Topology::Datacenters { datacenters: Names::of(of_backup) }),
    }
    let mut sources: BTreeMap<RackName, Vec<&BackedUpMember>> = BTreeMap::new();
    for member in backup {
        if member.tokens != ring.tokens {
            let source = member.host_id.to_string();
            return Err(Topology::Tokens { source, backup: member.tokens, ring: ring.tokens });
        }
        sources.entry(RackName::new(&member.rack)).or_default().push(member);
    }
    if !sources.keys().eq(ring.racks.keys()) {
        let (backup, ring) = (Names::of(sources.keys()), Names::of(ring.racks.keys()));
        return Err(Topology::Racks { backup, ring });
    }
    let mut all = Vec::new();
    for ((rack, mut sources), members) in sources.into_iter().zip(ring.racks.values()) {
        if sources.len() != members.len() {
            let (backup, ring) = (Count::of(sources.len(), "member"), members.len());
            return Err(Topology::Members { rack: rack.to_string(), backup, ring });
        }
        sources.sort_by(|a, b| a.host_id.cmp(&b.host_id));
        all.extend(members.iter().zip(sources).map(|((member, volume), source)| RestoredPlace {
            member: member.clone(),
            volume_id: volume.clone(),
            source: source.host_id.clone(),
            tokens_hash: source.tokens_hash.clone(),
        }));
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn member(host: &str, rack: &str) -> BackedUpMember {
        let all = json!({
            "hostID": host, "datacenter": "dc1", "rack": rack, "version": "5.0.5", "tokens": 16,
            "tokensHash": format!("tokens of {host}"),
        });
        serde_json::from_value(all).unwrap()
    }

    fn ring<'a>(racks: &[(&str, usize)]) -> Ring<'a> {
        let of = |rack: &str, count: usize| {
            let member = |n: usize| {
                (MemberName::new(format!("r-{rack}-{n}")), VolumeId::new(format!("v-{rack}-{n}")))
            };
            (RackName::new(rack), (0..count).map(member).collect())
        };
        let racks = racks.iter().map(|(rack, count)| of(rack, *count)).collect();
        Ring { datacenter: "dc1", tokens: 16, racks }
    }

    fn pairs(found: &[RestoredPlace]) -> Vec<String> {
        found.iter().map(|place| format!("{} {}", place.member, place.source)).collect()
    }

    #[test]
    fn each_member_of_a_rack_takes_one_place_of_that_rack() {
        let backup = [member("h3", "a"), member("h1", "a"), member("h2", "b")];
        let found = places(&backup, &ring(&[("a", 2), ("b", 1)]), &BTreeMap::new()).unwrap();
        assert_eq!(pairs(&found), ["r-a-0 h1", "r-a-1 h3", "r-b-0 h2"]);
        assert_eq!(found[1].tokens_hash, "tokens of h3");
        assert_eq!(found[1].volume_id, "v-a-1".into());
    }

    #[test]
    fn a_ring_that_is_not_like_the_backup_takes_none_of_it() {
        let backup = [member("h1", "a"), member("h2", "b")];
        let none = BTreeMap::new();
        let refused = |ring: &Ring<'_>| places(&backup, ring, &none).unwrap_err().to_string();
        let words = refused(&ring(&[("a", 1)]));
        assert!(words.contains("racks a and b") && words.contains("has racks a"), "{words}");
        let words = refused(&ring(&[("a", 1), ("b", 2)]));
        assert!(words.contains("1 member in rack b, and the ring has 2"), "{words}");
        let eight = Ring { tokens: 8, ..ring(&[("a", 1), ("b", 1)]) };
        assert!(refused(&eight).contains("16 tokens"), "{}", refused(&eight));
        let other = Ring { datacenter: "dc2", ..ring(&[("a", 1), ("b", 1)]) };
        assert!(refused(&other).contains("the ring is in datacenter dc2"), "{}", refused(&other));
        let renamed = BTreeMap::from([("dc1".to_string(), "dc2".to_string())]);
        assert!(places(&backup, &other, &renamed).is_ok());
    }

    #[test]
    fn datacenters_are_restored_one_at_a_time() {
        let mut backup = [member("h1", "a"), member("h2", "b")];
        backup[1].datacenter = "dc2".into();
        let words = places(&backup, &ring(&[("a", 1), ("b", 1)]), &BTreeMap::new()).unwrap_err();
        assert!(words.to_string().contains("dc1 and dc2"), "{words}");
    }
}
