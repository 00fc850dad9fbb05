//! A repair of what is due as it goes: one segment after the other, with pauses, and
//! what it has come to. A segment that fails keeps none of the others from its turn.

use super::bench::{Bench, Halt, Step};
use super::segments::{calm, change, left, look, now, one, read, unclear};
use crate::admin::Reading;
use crate::admin::jobs::Segment;
use crate::metrics::SegmentResult;
use crate::repair::Schema;
use crate::repair::batches::Copies;
use crate::repair::outlook::is_late;
use crate::repair::pace::{Intensity, SoFar, Urgency, pause, share};
use crate::repair::pressure::Load;
use crate::words::repair::Unclear;
use crate::words::work::{Done, Failed};
use palladion_api::member::{JobCause, JobUnit};
use palladion_api::task::{KeyspaceResult, KeyspaceState};
use palladion_api::words::{Count, Names};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;
use tokio::time::Instant;

/// How the segments of a keyspace went: the first failure, and how many.
type Failures = BTreeMap<String, (usize, String)>;

/// What a job has come to.
pub struct Course {
    schema: Option<String>,
    /// What there is, where that has changed since it was planned.
    there: Option<Schema>,
    copies: Copies,
    /// For how long segments of each were repaired.
    keyspaces: BTreeMap<String, Duration>,
    so_far: SoFar,
    intensity: Intensity,
    failures: Failures,
    left_out: Option<(usize, BTreeSet<String>)>,
}

impl Course {
    /// Nothing is done yet of so many segments, of keyspaces with these copies, in a server
    /// of which this was read.
    pub fn begun(bench: &Bench, reading: &Reading, copies: Copies, segments: usize) -> Self {
        let schema = reading.schema_version.clone();
        let (keyspaces, failures) = (BTreeMap::new(), Failures::new());
        let left = u32::try_from(segments).unwrap_or(u32::MAX);
        let (so_far, intensity) = (SoFar { left, ..SoFar::default() }, intensity(bench));
        let (there, left_out) = (None, None);
        Self { schema, there, copies, keyspaces, so_far, intensity, failures, left_out }
    }

    fn total(&self) -> usize {
        usize::try_from(self.so_far.done.saturating_add(self.so_far.left)).unwrap_or(usize::MAX)
    }

    fn done(&self) -> usize {
        usize::try_from(self.so_far.done).unwrap_or(usize::MAX)
    }

    /// How far it is.
    pub fn show(&self, bench: &Bench) {
        bench.show_parts(self.done(), self.total(), JobUnit::Segments);
    }

    /// So many batches were left out, for lack of these members.
    pub fn leave_out(&mut self, batches: usize, members: BTreeSet<String>) {
        self.left_out = Some((batches, members));
    }

    /// Repair these, in a ring of the same members.
    pub async fn go_on(&mut self, bench: &Bench, segments: Vec<Segment>) -> Step<()> {
        let mut left: VecDeque<(Segment, Size)> =
            segments.into_iter().map(|segment| (segment, Size::AsPlanned)).collect();
        while let Some((segment, size)) = left.pop_front() {
            self.show(bench);
            bench.may_stop()?;
            let own = urgency(bench, &segment);
            let is_spared = bench.load() == Load::High && own == Urgency::InTime;
            let halves = segment.halves().filter(|_| is_spared && size == Size::AsPlanned);
            if let Some((first, second)) = halves {
                self.so_far.left = self.so_far.left.saturating_add(1);
                left.push_front((second, Size::Half));
                left.push_front((first, Size::Half));
                continue;
            }
            let begun = Instant::now();
            let outcome = self.repair(bench, &segment).await;
            count(bench, &outcome);
            match outcome? {
                Outcome::Done | Outcome::Failed => {
                    // Who waits is the next one.
                    let next = left.front().map_or(own, |(next, _)| urgency(bench, next));
                    self.rest(bench, begun.elapsed(), next).await;
                }
                Outcome::Gone => self.so_far.left = self.so_far.left.saturating_sub(1),
            }
        }
        Ok(())
    }

    /// A schema that has changed is looked at again. Where copies are on other members than
    /// at the beginning, neither what is due nor whom a grant keeps free is known any more.
    pub async fn look_again(&mut self, bench: &Bench, reading: &Reading) -> Step<()> {
        if reading.schema_version == self.schema {
            return Ok(());
        }
        let found = look(bench, reading).await?;
        change(bench, |memory| found.observed_by(memory, now()))?;
        let mut planned = self.copies.iter();
        let other = planned.find(|(keyspace, copies)| {
            found.copies.get(*keyspace).is_some_and(|found| found != *copies)
        });
        if let Some((keyspace, _)) = other {
            return Err(unclear(Unclear::OtherCopies { keyspace: keyspace.clone() }));
        }
        self.schema.clone_from(&reading.schema_version);
        self.there = Some(found.schema);
        Ok(())
    }

    /// What is left to repair of a segment: a call that names a table which was dropped fails.
    fn left_of(&self, segment: &Segment) -> Option<Segment> {
        self.there.as_ref().map_or_else(|| Some(segment.clone()), |there| segment.within(there))
    }

    /// A segment; whether it has failed is kept, and ends nothing.
    async fn repair(&mut self, bench: &Bench, segment: &Segment) -> Step<Outcome> {
        // Whoever moves does so for longer than a segment takes: none of the others is tried.
        let reading = read(bench).await?;
        let ring = calm(&reading)?;
        self.look_again(bench, &reading).await?;
        let Some(segment) = self.left_of(segment) else {
            return Ok(Outcome::Gone);
        };
        let begun = Instant::now();
        let outcome = left(bench, one(bench, &segment, &ring).await);
        *self.keyspaces.entry(segment.keyspace.clone()).or_default() += begun.elapsed();
        match outcome {
            Ok(()) => Ok(Outcome::Done),
            Err(Halt::Failed(JobCause::ServerError, why)) => {
                self.failures.entry(segment.keyspace.clone()).or_insert((0, why)).0 += 1;
                Ok(Outcome::Failed)
            }
            Err(halt) => Err(halt),
        }
    }

    /// After a segment that has taken so long, before one that is as urgent as this.
    async fn rest(&mut self, bench: &Bench, took: Duration, next: Urgency) {
        self.so_far.done = self.so_far.done.saturating_add(1);
        self.so_far.left = self.so_far.left.saturating_sub(1);
        self.so_far.work += took;
        let share = share(self.intensity, &self.so_far, bench.load(), next);
        bench.metrics.note_intensity(share);
        if self.so_far.left > 0 {
            let begun = Instant::now();
            bench.pause(pause(share, took)).await;
            self.so_far.pauses += begun.elapsed();
        }
    }

    /// It is over.
    pub fn end(self, bench: &Bench) -> Step<Done> {
        for (name, took) in &self.keyspaces {
            let failed = self.failures.get(name);
            let result = KeyspaceResult {
                name: name.clone(),
                state: failed.map_or(KeyspaceState::Succeeded, |_| KeyspaceState::Failed),
                seconds: took.as_secs(),
                message: failed.map(|(_, why)| why.clone()),
            };
            if !bench.book.read(|notes| notes.has_finished_keyspace(&bench.job.task, name)) {
                bench.note(|notes| notes.finish_keyspace(result))?;
            }
        }
        let failed = self.failures.values().map(|(count, _)| count).sum();
        let (segments, done) = (self.total(), self.done());
        if let Some((_, why)) = self.failures.into_values().next() {
            let why = Failed::Segments { failed, segments, why };
            return Err(Halt::Failed(JobCause::ServerError, why.to_string()));
        }
        if let Some((batches, members)) = self.left_out {
            let groups = Count::of(batches, "group");
            let why = Failed::ReplicasDown { groups, members: Names::of(members) };
            return Err(Halt::Failed(JobCause::ReplicasDown, why.to_string()));
        }
        Ok(match self.keyspaces.is_empty() {
            true => Done::NothingDue,
            false => Done::Segments {
                segments: Count::of(done, "segment"),
                keyspaces: Names::of(self.keyspaces.keys()),
            },
        })
    }
}

/// Was a segment cut already?
#[derive(Clone, Copy, PartialEq, Eq)]
enum Size {
    AsPlanned,
    Half,
}

/// How a segment ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Done,
    Failed,
    /// None of its tables is there any more.
    Gone,
}

fn count(bench: &Bench, outcome: &Step<Outcome>) {
    bench.metrics.count_segment(match outcome {
        Ok(Outcome::Gone) => return,
        Ok(Outcome::Done) => SegmentResult::Done,
        Ok(Outcome::Failed) | Err(Halt::Failed(..) | Halt::Refused(_)) => SegmentResult::Failed,
        Err(Halt::Lost | Halt::Stopped | Halt::LeftRunning { .. } | Halt::LeftWaiting { .. }) => {
            SegmentResult::Interrupted
        }
    });
}

/// How fast the job should be. Its time runs from when it was begun, whatever agent goes on
/// with it.
fn intensity(bench: &Bench) -> Intensity {
    let repair = bench.job.work.repair.as_ref();
    let percent = repair.and_then(|repair| repair.intensity_percent);
    let begun = bench.book.read(|notes| Some(notes.open()?.status.started_at.as_ref()?.0));
    let passed = begun.map_or(0, |begun| now().saturating_sub(begun.as_second()));
    let passed = Duration::from_secs(u64::try_from(passed).unwrap_or(0));
    let within = bench.job.pace_seconds.map(|seconds| Duration::from_secs(seconds.into()));
    let within = within.map(|within| within.saturating_sub(passed));
    match (percent, within) {
        (Some(percent), _) => Intensity::Percent(percent),
        (None, Some(within)) => Intensity::Within(within),
        (None, None) => Intensity::Full,
    }
}

/// Is this segment late?
fn urgency(bench: &Bench, segment: &Segment) -> Urgency {
    match bench.repairs.read(|memory| is_late(memory, segment, now())) {
        true => Urgency::Late,
        false => Urgency::InTime,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobs::place::Place;
    use jiff::Timestamp;
    use palladion_api::ids::PodUid;
    use palladion_api::task::{RepairScope, RepairTask, Work};

    #[test]
    fn the_time_of_a_job_runs_from_its_beginning_and_not_from_that_of_the_agent() {
        let place = Place::new();
        let repair = RepairTask { scope: RepairScope::Due, ..RepairTask::default() };
        let work = Work { repair: Some(repair), ..Work::default() };
        let mut bench = place.begun("a", "task", work);
        assert_eq!(intensity(&bench), Intensity::Full);
        bench.job.pace_seconds = Some(1000);
        assert_eq!(intensity(&bench), Intensity::Within(Duration::ZERO), "begun in 1970");
        let begun = Timestamp::from_second(now() - 400).unwrap();
        let pod: PodUid = "pod-1".into();
        place.book.change(|notes| notes.begin(&bench.job, &pod, "t1", begun)).unwrap();
        let Intensity::Within(left) = intensity(&bench) else {
            panic!("{:?}", intensity(&bench));
        };
        assert!((500..=600).contains(&left.as_secs()), "{left:?}");
        let begun = Timestamp::from_second(now() + 400).unwrap();
        place.book.change(|notes| notes.begin(&bench.job, &pod, "t1", begun)).unwrap();
        let whole = Intensity::Within(Duration::from_secs(1000));
        assert_eq!(intensity(&bench), whole, "by a clock that was ahead");
    }
}
