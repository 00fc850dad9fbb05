//! Repair of what is due: the real memory and what follows from it, over the
//! ranges and tables of the model. One range in a call, whatever its size.

use super::agent::{Agent, Reach};
use super::ring::Ring;
use super::rows::RANGES;
use super::work::{KEYSPACE, TABLES};
use palladion_agent::repair::due::due;
use palladion_agent::repair::memory::Own;
use palladion_agent::repair::outlook::outlook;
use palladion_agent::repair::schema::{Keyspace, Table};
use palladion_agent::repair::segments::Segment;
use palladion_agent::repair::survey::calm_ring;
use palladion_agent::repair::{Memory, Range, Schema};
use palladion_agent::volume::jobs::Item;
use palladion_api::ids::HostId;
use palladion_api::member::Job;
use palladion_api::repair::RepairStatus;
use palladion_api::task::TaskKind;
use palladion_plan::sim::Activity;
use std::collections::BTreeSet;

/// Tokens of one range.
const STEP: i64 = 1 << 32;

/// Agents of before this protocol do not know `spec.repair`.
const KNOWS_REPAIR: u32 = 4;

/// A repair that a server has carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repaired {
    /// Whose range.
    pub member: String,
    /// Which.
    pub range: u32,
    /// Was it ever repaired before, as its member remembers?
    pub again: bool,
}

fn range_of(index: u32) -> Range {
    let start = i64::from(index) * STEP;
    Range { start, end: start + STEP }
}

fn index_of(range: &Range) -> u32 {
    u32::try_from(range.start / STEP).expect("a range of the model")
}

impl Ring {
    /// The ranges whose first copy is a server's, if there is another one.
    fn ranges_of(&self, host: &HostId) -> Own {
        let is_own = |index: &u32| {
            let owners = self.owners(*index);
            owners.first() == Some(host) && owners.len() > 1
        };
        let ranges = (0..RANGES).filter(is_own).map(range_of).collect();
        [(KEYSPACE.to_string(), ranges)].into()
    }

    fn schema(&self) -> Schema {
        let table = |name: &&str| {
            let table = Table { id: format!("{name}-1"), grace: self.grace };
            ((*name).to_string(), table)
        };
        let keyspace = Keyspace {
            replication: self.copies.to_string(),
            tables: TABLES.iter().map(table).collect(),
        };
        Schema { keyspaces: [(KEYSPACE.to_string(), keyspace)].into() }
    }
}

impl Agent {
    /// Look again where something has changed.
    pub(super) fn follow_repairs(&mut self, reach: &mut Reach<'_>) -> Activity {
        let known = reach.disks.get(&self.pod.disk).map(|d| d.content.repairs.clone());
        self.repairs = known.unwrap_or_default();
        let covers = self.saved.as_ref().is_some_and(|s| s.spec.repair.is_some());
        let reading = self.reading().filter(|r| r.serves() && calm_ring(r).is_ok());
        match (covers, reading.is_some() && self.work.is_none()) {
            (true, true) => self.observe(reach),
            (true | false, _) => Activity::default(),
        }
    }

    fn observe(&mut self, reach: &mut Reach<'_>) -> Activity {
        let Some(host) = self.reading().and_then(|r| r.host_id.clone()) else {
            return Activity::default();
        };
        let (schema, own) = (reach.ring.schema(), reach.ring.ranges_of(&host));
        let now = self.clock_at(reach.now).as_second();
        self.remember(reach, |memory| memory.observe(&host, &schema, &own, now))
    }

    fn remember(&mut self, reach: &mut Reach<'_>, change: impl FnOnce(&mut Memory)) -> Activity {
        let before = self.repairs.clone();
        change(&mut self.repairs);
        if let Some(disk) = reach.disks.get_mut(&self.pod.disk) {
            disk.content.repairs = self.repairs.clone();
        }
        if self.repairs == before { Activity::default() } else { Activity::ACTED }
    }

    /// What it tells of it.
    pub(super) fn outlook(&self) -> Option<RepairStatus> {
        if self.protocol < KNOWS_REPAIR {
            return None;
        }
        let cover = self.saved.as_ref()?.spec.repair.as_ref()?;
        self.repairs.host_id.as_ref()?;
        Some(outlook(&self.repairs, cover))
    }

    /// The next range that is due; none is left: it has succeeded.
    pub(super) fn call_segment(&mut self, job: &Job, reach: &mut Reach<'_>) {
        self.observe(reach);
        let cover = self.saved.as_ref().and_then(|s| s.spec.repair.clone()).unwrap_or_default();
        let now = self.clock_at(reach.now);
        let all = due(&self.repairs, &cover, now.as_second());
        let (Some(first), true) = (all.into_iter().next(), job.work.repair.is_some()) else {
            return self.succeed(now);
        };
        let ranges = vec![first.span.range()];
        let segment = Segment { keyspace: first.keyspace, tables: first.tables, ranges };
        let ring = self.ring_of_members();
        self.remember(reach, |memory| memory.begin(&segment, &ring, now.as_second()));
        self.notes.call(Item { keyspace: segment.keyspace.clone(), table: None });
        let ranges: BTreeSet<u32> = segment.ranges.iter().map(index_of).collect();
        let member = self.pod.key.name.clone();
        for range in ranges.clone() {
            let again = first.at.is_some();
            reach.ring.repaired.push(Repaired { member: member.clone(), range, again });
        }
        reach.ring.call(self.pod.uid.as_str(), TaskKind::Repair, Some(ranges), reach.now);
    }

    /// A call has come to its end.
    pub(super) fn finish_segment(&mut self, _: &BTreeSet<u32>, reach: &mut Reach<'_>) {
        let ring = self.ring_of_members();
        self.remember(reach, |memory| {
            memory.finish(&ring);
        });
        self.notes.leave_item();
    }

    fn ring_of_members(&self) -> String {
        let calm = self.reading().cloned().map(|r| calm_ring(&r));
        calm.and_then(Result::ok).unwrap_or_default()
    }
}
