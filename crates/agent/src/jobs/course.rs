//! A repair of what is due as it goes: one segment after the other, with pauses, and
//! what it has come to. A segment that fails keeps none of the others from its turn.

use super::bench::{Bench, Halt, Step};
use super::intensity::{intensity, urgency};
use super::missed::{Outcome, missed};
use super::patience::Patience;
use super::segments::{calm, change, now, one, read, surveyed, unclear};
use super::tries::Try;
use crate::admin::Reading;
use crate::admin::jobs::Segment;
use crate::metrics::SegmentResult;
use crate::repair::Schema;
use crate::repair::batches::Copies;
use crate::repair::failing::{Resting, TRIES};
use crate::repair::pace::{Intensity, SoFar, Urgency, pause, share};
use crate::repair::pressure::Load;
use crate::words::repair::Unclear;
use crate::words::work::{Done, Failed};
use jiff::Timestamp;
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
    resting: Option<Resting>,
    left_out: Option<(usize, BTreeSet<String>)>,
    patience: Patience,
}

impl Course {
    /// Nothing is done yet of so many segments, of keyspaces with these copies, in a server
    /// of which this was read.
    pub fn begun(bench: &Bench, reading: &Reading, copies: Copies, segments: usize) -> Self {
        let left = u32::try_from(segments).unwrap_or(u32::MAX);
        Self {
            schema: reading.schema_version.clone(),
            there: None,
            copies,
            keyspaces: BTreeMap::new(),
            so_far: SoFar { left, ..SoFar::default() },
            intensity: intensity(bench),
            failures: Failures::new(),
            resting: None,
            left_out: None,
            patience: Patience::default(),
        }
    }

    /// The same, where this rests meanwhile.
    pub fn beside(self, resting: Option<Resting>) -> Self {
        Self { resting, ..self }
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

    /// Try each of these once, in a ring of the same members. What has failed and is to be
    /// tried again comes back.
    pub async fn go_on(&mut self, bench: &Bench, tries: Vec<Try>) -> Step<Vec<Try>> {
        let (mut left, mut again) = (VecDeque::from(tries), Vec::new());
        while let Some(next) = left.pop_front() {
            self.show(bench);
            bench.may_stop()?;
            let own = urgency(bench, &next.segment);
            let is_spared = bench.load() == Load::High && own == Urgency::InTime;
            if let Some([first, second]) = next.spared().filter(|_| is_spared) {
                self.so_far.left = self.so_far.left.saturating_add(1);
                left.push_front(second);
                left.push_front(first);
                continue;
            }
            let begun = Instant::now();
            let outcome = self.repair(bench, &next).await;
            count(bench, &outcome);
            match outcome? {
                Outcome::Done => self.pass(1),
                Outcome::Gone => {
                    self.so_far.left = self.so_far.left.saturating_sub(1);
                    continue;
                }
                Outcome::Missed { tries, why, .. } => {
                    again.extend(self.miss(&next.segment.keyspace, tries, why));
                }
            }
            // Who waits is the next one.
            let after = left.front().or(again.first());
            let after = after.map_or(own, |next| urgency(bench, &next.segment));
            self.rest(bench, begun.elapsed(), after).await;
        }
        Ok(again)
    }

    /// So many segments are over.
    fn pass(&mut self, segments: usize) {
        let segments = u32::try_from(segments).unwrap_or(u32::MAX);
        self.so_far.done = self.so_far.done.saturating_add(segments);
        self.so_far.left = self.so_far.left.saturating_sub(segments);
    }

    /// This is left of a segment that was not repaired; what is to be tried again comes back.
    fn miss(&mut self, keyspace: &str, tries: Vec<Try>, why: String) -> Vec<Try> {
        let pieces = u32::try_from(tries.len()).unwrap_or(u32::MAX);
        self.so_far.left = self.so_far.left.saturating_add(pieces.saturating_sub(1));
        let (over, again): (Vec<Try>, Vec<Try>) =
            tries.into_iter().partition(|next| next.failures >= TRIES);
        if !over.is_empty() {
            self.give_up(keyspace, over.len(), why);
        }
        again
    }

    fn give_up(&mut self, keyspace: &str, segments: usize, why: String) {
        self.pass(segments);
        self.failures.entry(keyspace.into()).or_insert((0, why)).0 += segments;
    }

    /// The ring as it is now, in which nobody moves, with a schema that is known. While
    /// that cannot be told nothing is offered: it may be another one than what is planned.
    pub async fn clear(&mut self, bench: &Bench) -> Step<Reading> {
        loop {
            let reading = read(bench).await?;
            // Whoever moves does so for longer than a segment takes: none of the others is tried.
            calm(&reading)?;
            match self.look_again(bench, &reading).await? {
                Ok(()) => {
                    self.patience.end(bench);
                    return Ok(reading);
                }
                Err(why) => {
                    bench.book.offer(Vec::new());
                    self.patience.wait(bench, why).await?;
                }
            }
        }
    }

    /// A schema that has changed is looked at again. Where copies are on other members than
    /// at the beginning, neither what is due nor whom a grant keeps free is known any more.
    async fn look_again(&mut self, bench: &Bench, reading: &Reading) -> Step<Result<(), Unclear>> {
        if reading.schema_version == self.schema {
            return Ok(Ok(()));
        }
        let found = match surveyed(bench, reading).await {
            Ok(found) => found,
            Err(why) if why.passes() => return Ok(Err(why)),
            Err(why) => return Err(unclear(why)),
        };
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
        Ok(Ok(()))
    }

    /// What is left to repair of a segment: a call that names a table which was dropped fails.
    fn left_of(&self, segment: &Segment) -> Option<Segment> {
        self.there.as_ref().map_or_else(|| Some(segment.clone()), |there| segment.within(there))
    }

    /// A segment; that it has failed is noted, and ends nothing.
    async fn repair(&mut self, bench: &Bench, what: &Try) -> Step<Outcome> {
        let ring = calm(&self.clear(bench).await?)?;
        let left = self.left_of(&what.segment);
        if left.as_ref() != Some(&what.segment) {
            // It will never be repaired as it was planned.
            change(bench, |memory| memory.forget_failures(&what.segment))?;
        }
        let Some(segment) = left else {
            return Ok(Outcome::Gone);
        };
        let what = what.reduced_to(segment);
        let begun = Instant::now();
        let ended = one(bench, &what.segment, &ring).await;
        *self.keyspaces.entry(what.segment.keyspace.clone()).or_default() += begun.elapsed();
        missed(bench, &what, ended)
    }

    /// After a segment that has taken so long, before one that is as urgent as this.
    async fn rest(&mut self, bench: &Bench, took: Duration, next: Urgency) {
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
                copies_before: None,
            };
            if !bench.book.read(|notes| notes.has_finished_keyspace(&bench.job.task, name)) {
                bench.note(|notes| notes.finish_keyspace(result))?;
            }
        }
        let failed = self.failures.values().map(|(count, _)| count).sum();
        let (segments, done) = (self.total(), self.done());
        if let Some((_, why)) = self.failures.into_values().next() {
            let why = Failed::Segments { failed, segments, tries: TRIES, why };
            return Err(Halt::Failed(JobCause::ServerError, why.to_string()));
        }
        if let Some((batches, members)) = self.left_out {
            let groups = Count::of(batches, "group");
            let why = Failed::ReplicasDown { groups, members: Names::of(members) };
            return Err(Halt::Failed(JobCause::ReplicasDown, why.to_string()));
        }
        if let Some(Resting { segments, until }) = self.resting {
            let until = Timestamp::from_second(until).unwrap_or(Timestamp::MAX);
            let segments = Count::of(segments, "segment");
            let why = Failed::Resting { segments, tries: TRIES, until };
            return Err(Halt::Failed(JobCause::ServerError, why.to_string()));
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

fn count(bench: &Bench, outcome: &Step<Outcome>) {
    bench.metrics.count_segment(match outcome {
        Ok(Outcome::Gone) => return,
        Ok(Outcome::Done) => SegmentResult::Done,
        Ok(Outcome::Missed { result, .. }) => *result,
        Err(Halt::Failed(..) | Halt::Refused(_)) => SegmentResult::Failed,
        Err(
            Halt::Lost
            | Halt::Stopped
            | Halt::LeftRunning { .. }
            | Halt::LeftWaiting { .. }
            | Halt::LeftUnanswered { .. },
        ) => SegmentResult::Interrupted,
    });
}
