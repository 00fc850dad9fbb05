//! Do the manifests that there are hold every write that was acknowledged?

use crate::names::HostId;
use crate::words::trouble::Missing;
use palladion_api::words::Names;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// What has to be covered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Coverage {
    /// Every member of the ring.
    AllMembers(BTreeSet<HostId>),
    /// A majority of the replicas of each range: after a repair all is there that
    /// was acknowledged at QUORUM.
    QuorumOfEachRange(Vec<Replicas>),
}

/// Who has a copy of a range, or of several that the same members have.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Replicas {
    /// The keyspace.
    pub keyspace: String,
    /// The members.
    pub hosts: BTreeSet<HostId>,
}

impl Coverage {
    /// What is missing, for people; `None` if all is covered.
    pub fn missing(&self, have: &BTreeSet<HostId>) -> Option<Missing> {
        match self {
            Self::AllMembers(ring) if ring.is_empty() => Some(Missing::NoMembers),
            Self::AllMembers(ring) => {
                let missing: Vec<&str> = ring.difference(have).map(HostId::as_str).collect();
                (!missing.is_empty()).then(|| Missing::Members { hosts: Names::of(missing) })
            }
            Self::QuorumOfEachRange(ranges) if ranges.is_empty() => Some(Missing::NoRanges),
            Self::QuorumOfEachRange(ranges) => {
                // Where nobody has a copy nothing was acknowledged.
                let is_short = |range: &&Replicas| {
                    !range.hosts.is_empty()
                        && range.hosts.intersection(have).count() < range.hosts.len() / 2 + 1
                };
                let first = ranges.iter().find(is_short)?;
                let hosts = |of: BTreeSet<&HostId>| Names::of(of.into_iter().map(HostId::as_str));
                Some(Missing::Ranges {
                    keyspace: first.keyspace.clone(),
                    replicas: hosts(first.hosts.iter().collect()),
                    without: hosts(first.hosts.difference(have).collect()),
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(numbers: &[u8]) -> BTreeSet<HostId> {
        let host = |n: &u8| HostId::parse(&format!("00000000-0000-4000-8000-0000000000{n:02}"));
        numbers.iter().filter_map(host).collect()
    }

    #[test]
    fn a_member_or_a_majority_that_is_missing_is_named() {
        let all = Coverage::AllMembers(hosts(&[1, 2, 3]));
        assert_eq!(all.missing(&hosts(&[1, 2, 3])), None);
        assert!(all.missing(&hosts(&[1, 2])).unwrap().to_string().ends_with("03"));
        let of = |keyspace: &str, numbers: &[u8]| Replicas {
            keyspace: keyspace.into(),
            hosts: hosts(numbers),
        };
        let ranges = vec![of("shop", &[1, 2, 3]), of("logs", &[2, 3, 4])];
        let quorum = Coverage::QuorumOfEachRange(ranges);
        assert_eq!(quorum.missing(&hosts(&[2, 3])), None);
        let words = quorum.missing(&hosts(&[1, 2])).unwrap().to_string();
        assert!(words.contains("keyspace logs") && !words.contains("shop"), "{words}");
        // Its datacenter was removed.
        let nowhere = Coverage::QuorumOfEachRange(vec![of("gone", &[]), of("shop", &[1, 2, 3])]);
        assert_eq!(nowhere.missing(&hosts(&[1, 2])), None);
        let half = Coverage::QuorumOfEachRange(vec![of("shop", &[1, 2])]);
        assert!(half.missing(&hosts(&[1])).is_some());
        assert!(Coverage::AllMembers(hosts(&[])).missing(&hosts(&[1])).is_some());
        assert!(Coverage::QuorumOfEachRange(vec![]).missing(&hosts(&[1])).is_some());
    }
}
