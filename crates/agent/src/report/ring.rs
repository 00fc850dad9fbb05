//! How this member sees the ring: one line while all is well, the whole list
//! as evidence.

use super::hash_sorted;
use crate::admin::Reading;
use crate::volume::seconds;
use jiff::Timestamp;
use palladion_api::ids::Nonce;
use palladion_api::member::{
    DatacenterSummary, Disk, Evidence, Liveness, MOST_DATACENTERS, MOST_VERSIONS, MemberState,
    RingMember, RingSummary,
};
use std::collections::{BTreeMap, BTreeSet};

/// The compact view; `None` where the ring could not be read as a whole.
pub fn summary(reading: &Reading) -> Option<RingSummary> {
    let members = reading.members.as_ref()?;
    let host_ids = members.iter().map(|m| m.host_id.as_str()).filter(|id| !id.is_empty());
    Some(RingSummary {
        members: count(members.len()),
        hash: hash_sorted(host_ids),
        schema_agreed: reading.schema_agreed?,
        exceptions: members.iter().filter(|m| is_exceptional(m)).cloned().collect(),
        datacenters: datacenters(members),
    })
}

/// The members by datacenter, as far as that is known. Of a ring of more than can be
/// reported some are left out, so that the numbers do not add up: that is not known then.
fn datacenters(members: &[RingMember]) -> Vec<DatacenterSummary> {
    let mut by_name: BTreeMap<&str, Vec<&RingMember>> = BTreeMap::new();
    for member in members {
        if let Some(datacenter) = member.datacenter.as_deref() {
            by_name.entry(datacenter).or_default().push(member);
        }
    }
    let summary = |(name, members): (&str, Vec<&RingMember>)| {
        let host_ids = members.iter().map(|m| m.host_id.as_str()).filter(|id| !id.is_empty());
        let versions: BTreeSet<&str> =
            members.iter().filter_map(|m| m.version.as_deref()).collect();
        DatacenterSummary {
            name: name.to_string(),
            members: count(members.len()),
            hash: hash_sorted(host_ids),
            versions: versions.into_iter().take(MOST_VERSIONS).map(str::to_string).collect(),
            exceptions: count(members.iter().filter(|m| is_exceptional(m)).count()),
        }
    };
    by_name.into_iter().take(MOST_DATACENTERS).map(summary).collect()
}

fn is_exceptional(member: &RingMember) -> bool {
    member.liveness != Liveness::Up || member.state != MemberState::Normal
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// The answer to a question, from a look that was taken after it; without one
/// the answer says that the server could not be asked.
pub fn evidence(
    nonce: &Nonce,
    reading: Option<&Reading>,
    free_bytes: Option<u64>,
    now: Timestamp,
) -> Evidence {
    let load = reading.and_then(|r| r.figures.load);
    Evidence {
        nonce: nonce.clone(),
        read_at: seconds(now),
        mode: reading.and_then(Reading::reported_mode),
        schema_agreed: reading.and_then(|r| r.schema_agreed).unwrap_or(false),
        members: reading.and_then(|r| r.members.clone()),
        disk: load
            .zip(free_bytes)
            .map(|(load, free_bytes)| Disk { data_bytes: bytes(load), free_bytes }),
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a cast of a float saturates, and a load has no fraction"
)]
fn bytes(load: f64) -> u64 {
    load as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(host_id: &'static str, liveness: Liveness, state: MemberState) -> RingMember {
        let (datacenter, version) = (Some("dc1".into()), Some("5.0.5".into()));
        let (host_id, address) = (host_id.into(), "10.0.0.1".into());
        RingMember { host_id, address, liveness, state, datacenter, version }
    }

    fn reading(members: Vec<RingMember>) -> Reading {
        Reading {
            members: Some(members),
            schema_agreed: Some(true),
            mode: Some("NORMAL".into()),
            ..Reading::default()
        }
    }

    #[test]
    fn a_ring_that_is_well_is_one_line() {
        let well = reading(vec![
            member("h1", Liveness::Up, MemberState::Normal),
            member("h2", Liveness::Up, MemberState::Normal),
        ]);
        let summary = summary(&well).unwrap();
        assert_eq!((summary.members, summary.exceptions.len()), (2, 0));
    }

    #[test]
    fn exceptions_are_named() {
        let ill = reading(vec![
            member("h1", Liveness::Up, MemberState::Normal),
            member("h2", Liveness::Down, MemberState::Normal),
            member("", Liveness::Up, MemberState::Joining),
        ]);
        let summary = summary(&ill).unwrap();
        assert_eq!(summary.members, 3);
        assert_eq!(
            summary.exceptions.iter().map(|m| m.host_id.as_str()).collect::<Vec<_>>(),
            ["h2", ""]
        );
    }

    #[test]
    fn members_are_counted_by_datacenter_and_nobody_is_guessed() {
        let mut members = vec![
            member("h1", Liveness::Up, MemberState::Normal),
            member("h2", Liveness::Down, MemberState::Normal),
            member("h3", Liveness::Up, MemberState::Normal),
            member("h4", Liveness::Down, MemberState::Normal),
        ];
        members[2].datacenter = Some("west".into());
        members[2].version = Some("4.1.9".into());
        members[3].datacenter = None;
        let summary = super::summary(&reading(members.clone())).unwrap();
        let said: Vec<_> = summary
            .datacenters
            .iter()
            .map(|d| (d.name.as_str(), d.members, d.exceptions, d.versions.join(" ")))
            .collect();
        assert_eq!(said, [("dc1", 2, 1, "5.0.5".into()), ("west", 1, 0, "4.1.9".into())]);
        assert_eq!(summary.members, 4, "the datacenter of one is not known");
        assert_ne!(summary.datacenters[0].hash, summary.datacenters[1].hash);
        let many = members.iter().cycle().take(17).enumerate().map(|(nth, member)| RingMember {
            datacenter: Some(format!("dc{nth}")),
            ..member.clone()
        });
        let of_many = super::summary(&reading(many.collect())).unwrap();
        let named: u32 = of_many.datacenters.iter().map(|d| d.members).sum();
        assert_eq!((of_many.datacenters.len(), named, of_many.members), (16, 16, 17));
    }

    #[test]
    fn evidence_without_a_look_claims_nothing() {
        let evidence = evidence(&"n".into(), None, Some(1), Timestamp::UNIX_EPOCH);
        assert_eq!((evidence.mode, evidence.members, evidence.schema_agreed), (None, None, false));
        assert_eq!(evidence.disk, None);
        let figures =
            crate::admin::Figures { load: Some(4096.0), ..crate::admin::Figures::default() };
        let reading = Reading { figures, ..Reading::default() };
        let evidence =
            |free| super::evidence(&"n".into(), Some(&reading), free, Timestamp::UNIX_EPOCH);
        assert_eq!(evidence(None).disk, None);
        let disk = evidence(Some(8)).disk.unwrap();
        assert_eq!((disk.data_bytes, disk.free_bytes), (4096, 8));
        assert_eq!(super::summary(&Reading::default()), None);
    }
}
