//! Repair of what is due: the real memory and what follows from it, over the
//! ranges and tables of the model. One range in a call, whatever its size.

use super::agent::{Agent, Reach};
use super::ring::Ring;
use super::rows::RANGES;
use super::work::{ALONE, KEYSPACE, TABLES};
use palladion_agent::admin::jobs::Segment;
use palladion_agent::decide::Source;
use palladion_agent::decide::job::Stop;
use palladion_agent::ranges::Range;
use palladion_agent::repair::batches::{Batch, OFFERED, batches};
use palladion_agent::repair::due::{Due, due};
use palladion_agent::repair::failing::{TRIES, awake, cut};
use palladion_agent::repair::memory::Own;
use palladion_agent::repair::outlook::outlook;
use palladion_agent::repair::schema::{Keyspace, Table};
use palladion_agent::repair::survey::calm_ring;
use palladion_agent::repair::{Memory, Schema};
use palladion_agent::volume::jobs::{Ended, Item};
use palladion_api::ids::HostId;
use palladion_api::member::{Batch as Offer, Grant, Job, JobCause, JobState, Liveness};
use palladion_api::repair::{AutoRepair, RepairStatus};
use palladion_api::task::TaskKind;
use palladion_plan::sim::Activity;
use std::collections::BTreeSet;

/// Tokens of one range.
const STEP: i64 = 1 << 32;

/// Agents of before this protocol do not know `spec.repair`.
const KNOWS_REPAIR: u32 = 4;
/// Those of before this one know no grants.
const KNOWS_GRANTS: u32 = 5;

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

/// How a part ends that nobody could take back.
pub(super) fn unheard() -> Ended {
    let why = "the API server was not heard";
    Ended::by(JobState::Interrupted, JobCause::ApiServerUnreachable, why)
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
        let enabled = self.reading().is_some_and(|reading| reading.auto_repair == Some(true));
        let auto_repair = enabled.then_some(AutoRepair::Enabled);
        Some(RepairStatus { auto_repair, ..outlook(&self.repairs, cover) })
    }

    /// What is due and does not rest, in batches.
    fn due_in_batches(&mut self, reach: &mut Reach<'_>) -> Vec<Batch> {
        self.observe(reach);
        let cover = self.saved.as_ref().and_then(|s| s.spec.repair.clone()).unwrap_or_default();
        let now = self.clock_at(reach.now).as_second();
        let (all, _) = awake(due(&self.repairs, &cover, now), &self.repairs.failing, now);
        // What has failed before comes last.
        let (mut all, failed) = cut(all, &self.repairs.failing, now);
        for (segment, _) in failed {
            let due = |range: &Range| Due {
                keyspace: segment.keyspace.clone(),
                tables: segment.tables.clone(),
                span: range.spans().next().expect("a range of the model"),
                at: None,
                due: now,
            };
            all.extend(segment.ranges.iter().map(due));
        }
        let ranges = self.repairs.keyspaces.get(KEYSPACE).map(|known| known.ranges.clone());
        let with_copies = |range: Range| {
            let mut owners = reach.ring.owners(index_of(&range));
            owners.sort();
            (range, owners)
        };
        let ranges = ranges.into_iter().flatten().map(with_copies).collect();
        batches(all, &[(KEYSPACE.to_string(), ranges)].into())
    }

    /// The next range that is due, as far as it is granted; none is left: it has succeeded.
    pub(super) fn call_segment(&mut self, job: &Job, reach: &mut Reach<'_>) {
        let all = self.due_in_batches(reach);
        let is_granted = job.grant.is_some() && self.protocol >= KNOWS_GRANTS;
        let next = match is_granted {
            false => all.iter().flat_map(|batch| &batch.due).next().cloned(),
            true => self.granted().and_then(|grant| {
                let batch = all.iter().find(|batch| batch.replicas == grant.host_ids);
                if batch.is_none() {
                    self.notes.end_grant(grant.number);
                }
                batch?.due.first().cloned()
            }),
        };
        match next {
            Some(next) => self.begin_segment(next, reach),
            None if all.is_empty() => self.end_segments(reach),
            None => self.offer(&all, reach),
        }
    }

    /// What the spec grants, if that is not over.
    fn granted(&self) -> Option<Grant> {
        let note = self.notes.open().filter(|_| self.source == Source::Live)?;
        let asked = self.saved.as_ref()?.spec.job.as_ref().filter(|job| job.id == note.job.id)?;
        let last = note.status.last_grant.unwrap_or(0);
        let is_new = |grant: &&Grant| grant.number > last && !grant.host_ids.is_empty();
        asked.grant.as_ref().filter(is_new).cloned()
    }

    /// Offer what is due where all are up that have copies.
    fn offer(&mut self, all: &[Batch], reach: &mut Reach<'_>) {
        let is_up = |host: &HostId| {
            let members = self.reading().into_iter().flat_map(|r| r.members.iter().flatten());
            members.clone().any(|m| m.host_id == *host && m.liveness == Liveness::Up)
        };
        let whole = all.iter().filter(|batch| batch.replicas.iter().all(is_up));
        let offers: Vec<Offer> = whole.take(OFFERED).map(Batch::offer).collect();
        let is_alone = offers.is_empty();
        self.offers = offers;
        let Some(work) = &mut self.work else { return };
        work.waits = true;
        if !is_alone {
            work.alone = None;
            return;
        }
        let since = *work.alone.get_or_insert(reach.now);
        if reach.now >= since + ALONE {
            let why = "members are down that have copies";
            let ended = Ended::by(JobState::Failed, JobCause::ReplicasDown, why);
            self.end_work(ended, reach);
        }
    }

    /// It waits for a grant, and is stopped, or looks again.
    pub(super) fn wait_for_a_grant(&mut self, job: &Job, reach: &mut Reach<'_>) -> Activity {
        let before = (self.offers.clone(), self.notes.clone(), self.work.is_some());
        match self.work.as_ref().and_then(|work| work.stopping) {
            Some(Stop::Asked) => {
                self.end_work(Ended::as_asked(JobState::Aborted, "stopped"), reach);
            }
            Some(Stop::Deadline) => {
                let why = "it took too long";
                let ended = Ended::by(JobState::Failed, JobCause::DeadlineExceeded, why);
                self.end_work(ended, reach);
            }
            Some(Stop::Unheard) => self.end_work(unheard(), reach),
            None => {
                if let Some(work) = &mut self.work {
                    work.waits = false;
                }
                self.call_segment(job, reach);
            }
        }
        match before == (self.offers.clone(), self.notes.clone(), self.work.is_some()) {
            true => Activity::default(),
            false => Activity::ACTED,
        }
    }

    fn end_work(&mut self, ended: Ended, reach: &Reach<'_>) {
        self.notes.end(ended, self.clock_at(reach.now));
        (self.work, self.offers) = (None, Vec::new());
    }

    /// Nothing is left.
    fn end_segments(&mut self, reach: &Reach<'_>) {
        self.offers.clear();
        let why = self.work.as_ref().and_then(|work| work.failed.clone());
        match why {
            Some(why) => {
                self.end_work(Ended::by(JobState::Failed, JobCause::ServerError, why), reach);
            }
            None => self.succeed(self.clock_at(reach.now)),
        }
    }

    fn begin_segment(&mut self, first: Due, reach: &mut Reach<'_>) {
        let now = self.clock_at(reach.now);
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

    /// A segment has failed; once too often, and it rests.
    pub(super) fn fail_segment(&mut self, why: &str, reach: &mut Reach<'_>) {
        let now = self.clock_at(reach.now).as_second();
        let Some(segment) = self.repairs.open.as_ref().map(|open| open.segment.clone()) else {
            return;
        };
        let failures = self.repairs.failures(&segment, now) + 1;
        self.remember(reach, |memory| {
            memory.fail(&segment, std::slice::from_ref(&segment), failures, now);
        });
        if let Some(work) = self.work.as_mut().filter(|_| failures >= TRIES) {
            work.failed.get_or_insert_with(|| why.to_string());
        }
    }

    /// A call has come to its end.
    pub(super) fn finish_segment(&mut self, ranges: &BTreeSet<u32>, reach: &mut Reach<'_>) {
        let ring = self.ring_of_members();
        let mut counts = false;
        self.remember(reach, |memory| counts = memory.finish(&ring));
        if counts {
            reach.ring.counted.extend(ranges);
        }
        self.notes.leave_item();
    }

    fn ring_of_members(&self) -> String {
        let calm = self.reading().cloned().map(|r| calm_ring(&r));
        calm.and_then(Result::ok).unwrap_or_default()
    }
}
