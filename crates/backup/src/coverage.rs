//! Do the manifests that there are hold every write that was acknowledged?

use crate::names::HostId;
use crate::words::trouble::Missing;
use palladion_api::words::Names;
use std::collections::BTreeSet;

/// What has to be covered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Coverage {
    /// Every member of the ring.
    AllMembers(BTreeSet<HostId>),
    /// A majority of the replicas of each range: after a repair all is there that
    /// was acknowledged at QUORUM.
    QuorumOfEachRange(Vec<BTreeSet<HostId>>),
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
                let is_short = |range: &&BTreeSet<HostId>| {
                    range.intersection(have).count() < range.len() / 2 + 1
                };
                let short: Vec<_> = ranges.iter().filter(is_short).collect();
                let first = short.first()?;
                let replicas = Names::of(first.iter().map(HostId::as_str));
                let (short, ranges) = (short.len() as u64, ranges.len() as u64);
                Some(Missing::Ranges { short, ranges, replicas })
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
        let ranges = vec![hosts(&[1, 2, 3]), hosts(&[2, 3, 4])];
        let quorum = Coverage::QuorumOfEachRange(ranges);
        assert_eq!(quorum.missing(&hosts(&[2, 3])), None);
        assert!(quorum.missing(&hosts(&[1, 2])).unwrap().to_string().starts_with("1 of 2 ranges"));
        let half = Coverage::QuorumOfEachRange(vec![hosts(&[1, 2])]);
        assert!(half.missing(&hosts(&[1])).is_some());
        assert!(Coverage::AllMembers(hosts(&[])).missing(&hosts(&[1])).is_some());
        assert!(Coverage::QuorumOfEachRange(vec![]).missing(&hosts(&[1])).is_some());
    }
}
