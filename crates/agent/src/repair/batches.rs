//! What is due, by the members that have copies of it. A repair reads the data of
//! all of these, so that none of them should be in two at a time; what of the ring
//! has no member in common is repaired at a time.

use super::due::Due;
use crate::ranges::Range;
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_api::ids::HostId;
use palladion_api::member::Batch as Offer;
use std::collections::BTreeMap;

/// As many are offered at a time: the operator takes one of them.
pub const OFFERED: usize = 32;

/// Own ranges of each keyspace, each with the sorted host IDs of those that have copies.
pub type Copies = BTreeMap<String, Vec<(Range, Vec<HostId>)>>;

/// What is due, of which the same members have copies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    /// Their sorted host IDs.
    pub replicas: Vec<HostId>,
    /// What is due, in its order.
    pub due: Vec<Due>,
}

impl Batch {
    /// As the operator is told of it.
    pub fn offer(&self) -> Offer {
        let is_new = self.due.iter().any(|due| due.at.is_none());
        let first = self.due.iter().map(|due| due.due).min().filter(|_| !is_new);
        let due_at = first.and_then(|at| Timestamp::from_second(at).ok()).map(Time);
        Offer { host_ids: self.replicas.clone(), due_at }
    }
}

/// What is due in batches, in the order of the first of each. What nobody is known
/// to have a copy of is in none.
pub fn batches(due: Vec<Due>, copies: &Copies) -> Vec<Batch> {
    let mut all: Vec<Batch> = Vec::new();
    let mut places: BTreeMap<&[HostId], usize> = BTreeMap::new();
    for due in due {
        let ranges = copies.get(&due.keyspace).into_iter().flatten();
        let has = |(range, _): &&(Range, Vec<HostId>)| range.overlaps(due.span);
        let Some((_, replicas)) = ranges.clone().find(has) else { continue };
        let place = *places.entry(replicas).or_insert_with(|| {
            all.push(Batch { replicas: replicas.clone(), due: Vec::new() });
            all.len() - 1
        });
        all[place].due.push(due);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ranges::Span;

    fn due(keyspace: &str, first: i64, at: Option<i64>) -> Due {
        Due {
            keyspace: keyspace.into(),
            tables: vec!["t".into()],
            span: Span { first, last: first + 9 },
            at,
            due: at.unwrap_or(5) + 100,
        }
    }

    fn hosts(names: &str) -> Vec<HostId> {
        names.split(',').map(HostId::new).collect()
    }

    #[test]
    fn ranges_with_the_same_copies_are_one_batch_in_the_order_of_the_first() {
        let range = |start| Range { start, end: start + 100 };
        let copies: Copies = [
            (
                "shop".to_string(),
                vec![
                    (range(0), hosts("a,b")),
                    (range(100), hosts("a,c")),
                    (range(200), hosts("a,b")),
                ],
            ),
            ("log".to_string(), vec![(range(0), hosts("a,c"))]),
        ]
        .into();
        let all = vec![
            due("shop", 110, None),
            due("shop", 210, Some(7)),
            due("log", 20, Some(8)),
            due("shop", 10, Some(9)),
            due("gone", 10, Some(9)),
        ];
        let found = batches(all.clone(), &copies);
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].replicas, hosts("a,c"));
        assert_eq!(found[0].due, [all[0].clone(), all[2].clone()]);
        assert_eq!(found[0].offer().due_at, None, "a part was never repaired");
        assert_eq!(found[1].due, [all[1].clone(), all[3].clone()]);
        let first = found[1].offer().due_at.unwrap().0;
        assert_eq!(first.as_second(), 107, "since when the first is due");
    }
}
