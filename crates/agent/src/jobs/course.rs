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
use crate::words::work::{Done, Failed, Waits};
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
    left_out: Option<LeftOut>,
    patience: Patience,
    /// Why a segment has failed that is tried again.
    missed: Option<String>,
}

/// What was left out, for lack of members.
struct LeftOut {
    batches: usize,
    members: BTreeSet<String>,
    keyspaces: BTreeSet<String>,
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
            missed: None,
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

    /// So many batches with ranges of these keyspaces were left out, for lack of these members.
    pub fn leave_out(
        &mut self,
        batches: usize,
        members: BTreeSet<String>,
        keyspaces: BTreeSet<String>,
    ) {
        self.left_out = Some(LeftOut { batches, members, keyspaces });
    }

    /// Why what has failed last is tried again after a while, for those who look meanwhile.
    pub fn again(&self, bench: &Bench) -> Option<String> {
        let (why, until) = (self.missed.clone()?, in_whole_seconds(bench.pace.retry));
        Some(Waits::Again { why, until }.to_string())
    }

    /// Try each of these once, in a ring of the same members. What has failed and is to be
    /// tried again comes back.
    pub async fn go_on(&mut self, bench: &Bench, tries: Vec<Try>) -> Step<Vec<Try>> {
        let (mut left, mut again) = (VecDeque::from(tries), Vec::new());
        self.missed = None;
        bench.book.say(None);
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
            let Some((what, ring)) = counted(bench, self.ready(bench, &next).await)? else {
                self.so_far.left = self.so_far.left.saturating_sub(1);
                continue;
            };
            let begun = Instant::now();
            let outcome =
                counted(bench, missed(bench, &what, one(bench, &what.segment, &ring).await))?;
            let took = begun.elapsed();
            *self.keyspaces.entry(what.segment.keyspace.clone()).or_default() += took;
            bench.metrics.count_segment(match outcome {
                Outcome::Done => SegmentResult::Done,
                Outcome::Missed { result, .. } => result,
            });
            match outcome {
                Outcome::Done => self.pass(1),
                Outcome::Missed { tries, why, .. } => {
                    again.extend(self.miss(&what.segment.keyspace, tries, why));
                }
            }
            // Who waits is the next one.
            let after = left.front().or(again.first()).map_or(&next, |next| next);
            self.rest(bench, took, &after.segment).await;
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
        if !again.is_empty() {
            self.missed = Some(why.clone());
        }
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

    /// What is left of a segment, and the ring in which it is repaired; none if none of its
    /// tables is there any more. That may wait for a schema.
    async fn ready(&mut self, bench: &Bench, what: &Try) -> Step<Option<(Try, String)>> {
        let ring = calm(&self.clear(bench).await?)?;
        let left = self.left_of(&what.segment);
        if left.as_ref() != Some(&what.segment) {
            // It will never be repaired as it was planned.
            change(bench, |memory| memory.forget_failures(&what.segment))?;
        }
        Ok(left.map(|segment| (what.reduced_to(segment), ring)))
    }

    /// After a segment that has taken so long, before this one. How long that is changes
    /// meanwhile: the server gets done again what it has to do, or what waits is late.
    async fn rest(&mut self, bench: &Bench, took: Duration, next: &Segment) {
        self.so_far.work += took;
        let begun = Instant::now();
        while bench.asked().is_none() {
            let load = bench.load();
            let share = share(self.intensity, &self.so_far, load, urgency(bench, next));
            bench.metrics.note_intensity(share);
            let left = pause(share, took).saturating_sub(begun.elapsed());
            if self.so_far.left == 0 || left.is_zero() {
                break;
            }
            if left >= bench.pace.grant {
                let until = in_whole_seconds(left);
                bench.book.say(Some(match load {
                    Load::High => Waits::Spared { until }.to_string(),
                    Load::Usual => Waits::Paced { until }.to_string(),
                }));
            }
            bench.pause(left.min(bench.pace.grant)).await;
        }
        bench.book.say(None);
        self.so_far.pauses += begun.elapsed();
    }

    /// Why a keyspace is not done of which segments were repaired, if it is not.
    fn not_done(&self, keyspace: &str) -> Option<String> {
        if let Some((_, why)) = self.failures.get(keyspace) {
            return Some(why.clone());
        }
        let lacks = self.left_out.as_ref().filter(|left| left.keyspaces.contains(keyspace));
        let rest = self.resting.as_ref().filter(|resting| resting.keyspaces.contains(keyspace));
        lacks
            .map(|left| down(left).to_string())
            .or_else(|| rest.map(|resting| rests(resting).to_string()))
    }

    /// It is over.
    pub fn end(self, bench: &Bench) -> Step<Done> {
        for (name, took) in &self.keyspaces {
            let why = self.not_done(name);
            let result = KeyspaceResult {
                name: name.clone(),
                state: why.as_ref().map_or(KeyspaceState::Succeeded, |_| KeyspaceState::Failed),
                seconds: took.as_secs(),
                message: why,
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
        if let Some(left_out) = &self.left_out {
            return Err(Halt::Failed(JobCause::ReplicasDown, down(left_out).to_string()));
        }
        if let Some(resting) = &self.resting {
            return Err(Halt::Failed(JobCause::ServerError, rests(resting).to_string()));
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

fn down(left_out: &LeftOut) -> Failed {
    let groups = Count::of(left_out.batches, "group");
    Failed::ReplicasDown { groups, members: Names::of(&left_out.members) }
}

fn rests(resting: &Resting) -> Failed {
    let until = Timestamp::from_second(resting.until).unwrap_or(Timestamp::MAX);
    Failed::Resting { segments: Count::of(resting.segments, "segment"), tries: TRIES, until }
}

/// So long from now, as people read it.
fn in_whole_seconds(time: Duration) -> Timestamp {
    let at = Timestamp::now().checked_add(time).unwrap_or(Timestamp::MAX);
    Timestamp::from_second(at.as_second()).unwrap_or(at)
}

/// A segment that comes to no end of its own counts as well.
fn counted<T>(bench: &Bench, outcome: Step<T>) -> Step<T> {
    if let Err(halt) = &outcome {
        bench.metrics.count_segment(match halt {
            Halt::Failed(..) | Halt::Refused(_) => SegmentResult::Failed,
            Halt::Lost
            | Halt::Stopped
            | Halt::LeftRunning { .. }
            | Halt::LeftWaiting { .. }
            | Halt::LeftUnanswered { .. } => SegmentResult::Interrupted,
        });
    }
    outcome
}
