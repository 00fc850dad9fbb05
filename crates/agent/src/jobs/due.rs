//! Repair of what is due: in segments one after the other, or by what the operator
//! grants where several members repair at a time.

use super::adopt::adopt;
use super::bench::{Bench, Step};
use super::course::Course;
use super::granted;
use super::segments::{at_rest, change, look, now, read, surveyed};
use super::tries::Try;
use crate::admin::Reading;
use crate::admin::jobs::{Segment, Tables};
use crate::ranges::Range;
use crate::repair::batches::Copies;
use crate::repair::due::{Due, due};
use crate::repair::failing::{Failing, Resting, awake, cut};
use crate::repair::segments::plan;
use crate::repair::survey::Survey;
use crate::words::calls::Doing;
use crate::words::repair::Unclear;
use crate::words::work::Done;
use palladion_api::task::{DEFAULT_SEGMENT_BYTES, RepairTask};

/// What there is to repair, and in how large pieces.
pub(super) struct Plan<'a> {
    /// All that is due and does not rest.
    pub due: Vec<Due>,
    /// What rests after failures.
    pub resting: Option<Resting>,
    /// What there is.
    pub found: &'a Survey,
    failing: Vec<Failing>,
    bytes: Tables,
    segment_bytes: u64,
}

impl Plan<'_> {
    /// In which calls this is repaired. What comes first stands first, and is repaired first;
    /// what has failed before comes last.
    pub fn tries(&self, due: Vec<Due>) -> Vec<Try> {
        let (due, failed) = cut(due, &self.failing, now());
        let planned = plan(&due, &self.bytes, &self.found.held, self.segment_bytes);
        let planned = planned.into_iter().map(|segment| Try::of(segment, 0));
        planned.chain(failed.into_iter().map(|(segment, n)| Try::of(segment, n))).collect()
    }

    /// Who has copies of the keyspaces of which something is due.
    pub fn copies(&self) -> Copies {
        let is_due = |keyspace: &String| self.due.iter().any(|due| due.keyspace == *keyspace);
        let copies = self.found.copies.iter().filter(|(keyspace, _)| is_due(keyspace));
        copies.map(|(keyspace, copies)| (keyspace.clone(), copies.clone())).collect()
    }
}

/// Repair what is due.
pub async fn repair(bench: &Bench, what: &RepairTask) -> Step<Done> {
    let outcome = repair_all(bench, what).await;
    bench.metrics.note_intensity(0.0);
    outcome
}

async fn repair_all(bench: &Bench, what: &RepairTask) -> Step<Done> {
    adopt(bench).await?;
    bench.may_stop()?;
    let reading = read(bench).await?;
    let found = look(bench, &reading).await?;
    let (due, failing) = change(bench, |memory| {
        found.observed_by(memory, now());
        let due = due(memory, &bench.cover, now());
        memory.forget_all_but(&due);
        (due, memory.failing.clone())
    })?;
    let bytes = match bench.jobs()?.tables().await {
        Ok(bytes) => bytes,
        Err(error) => return Err(bench.failed(Doing::ListTables, error).await),
    };
    let (due, resting) = awake(due, &failing, now());
    let segment_bytes = what.segment_bytes.unwrap_or(DEFAULT_SEGMENT_BYTES);
    let plan = Plan { due, resting, found: &found, failing, bytes, segment_bytes };
    match &bench.job.grant {
        Some(_) => granted::repair(bench, plan, &reading).await,
        None => alone(bench, &plan, &reading).await,
    }
}

/// Repair all of it while no other member repairs.
async fn alone(bench: &Bench, plan: &Plan<'_>, reading: &Reading) -> Step<Done> {
    let mut left = plan.tries(plan.due.clone());
    let course = Course::begun(bench, reading, plan.copies(), left.len());
    let mut course = course.beside(plan.resting.clone());
    while !left.is_empty() {
        left = course.go_on(bench, left).await?;
        if !left.is_empty() {
            bench.book.say(course.again(bench));
            bench.pause(bench.pace.retry).await;
        }
    }
    course.end(bench)
}

/// What a repair of everything needs to be remembered by.
pub(super) struct Before {
    ring: String,
    found: Survey,
}

/// Look before a repair of everything; where that is not clear, it is not remembered.
pub(super) async fn seen(bench: &Bench) -> Result<Before, Unclear> {
    let server = |error: crate::admin::Error| Unclear::Server { why: error.to_string() };
    let reading = bench.admin.read().await.map_err(server)?;
    let ring = at_rest(&reading)?;
    let found = surveyed(bench, &reading).await?;
    Ok(Before { ring, found })
}

/// Another look, where ring or schema have changed since this one, or it was not clear.
pub(super) async fn seen_again(
    bench: &Bench,
    before: &Result<Before, Unclear>,
) -> Option<Result<Before, Unclear>> {
    if let (Ok(before), Ok(reading)) = (before, bench.admin.read().await)
        && at_rest(&reading).is_ok_and(|ring| ring == before.ring)
    {
        return None;
    }
    Some(seen(bench).await)
}

/// All own ranges of a keyspace, or of tables of it, were repaired. Where that cannot be
/// remembered it says why: they stay due.
pub(super) async fn remember(
    bench: &Bench,
    before: &Before,
    (keyspace, tables): (&str, &[String]),
    begun: i64,
) -> Step<Result<(), Unclear>> {
    // What was seen before is outdated in another ring or schema. Whoever looks again beside
    // this has noted what is new, and that must stay.
    match at_rest(&read(bench).await?) {
        Ok(ring) if ring == before.ring => {}
        Ok(_) => return Ok(Err(Unclear::Changed)),
        Err(why) => return Ok(Err(why)),
    }
    let known = before.found.schema.keyspaces.get(keyspace);
    let all = known.into_iter().flat_map(|known| known.tables.keys());
    let meant = all.filter(|name| tables.is_empty() || tables.contains(name));
    let ranges: Vec<Range> = before.found.own.get(keyspace).cloned().unwrap_or_default();
    let segment = Segment { keyspace: keyspace.into(), tables: meant.cloned().collect(), ranges };
    change(bench, |memory| {
        before.found.observed_by(memory, now());
        memory.begin(&segment, &before.ring, begun);
        memory.finish(&before.ring)
    })?;
    Ok(Ok(()))
}
