//! Repair beside that of other members: of what is due only that is repaired which
//! the operator grants, so that no member that has copies is in two repairs at a time.
//! A grant is over when that is noted on the volume; until then its members are busy.

use super::bench::{Bench, Step};
use super::course::Course;
use super::due::Plan;
use super::segments::unclear;
use super::tries::Try;
use crate::admin::Reading;
use crate::repair::batches::{Batch, OFFERED, batches};
use crate::repair::survey::calm_ring;
use crate::words::repair::Unclear;
use crate::words::work::Done;
use palladion_api::ids::HostId;
use palladion_api::member::{Batch as Offer, Liveness};
use std::collections::BTreeSet;
use tokio::time::Instant;

/// A batch that is left to do.
struct Part {
    offer: Offer,
    tries: Vec<Try>,
    /// Parts of it have failed, and are offered from then on; in words, why.
    again: Option<(Instant, Option<String>)>,
}

impl Part {
    /// Has it all its members up?
    fn is_whole(&self, down: &BTreeSet<HostId>) -> bool {
        !self.offer.host_ids.iter().any(|host| down.contains(host))
    }

    fn is_ready(&self) -> bool {
        self.again.as_ref().is_none_or(|(again, _)| *again <= Instant::now())
    }
}

/// Repair what is granted, until nothing is left.
pub async fn repair(bench: &Bench, plan: Plan<'_>, reading: &Reading) -> Step<Done> {
    let all = batches(plan.due.clone(), &plan.found.copies);
    let part = |batch: &Batch| {
        let tries = plan.tries(batch.due.clone());
        Part { offer: batch.offer(), tries, again: None }
    };
    let mut parts: Vec<Part> = all.iter().map(part).collect();
    let segments = parts.iter().map(|part| part.tries.len()).sum();
    let course = Course::begun(bench, reading, plan.copies(), segments);
    let mut course = course.beside(plan.resting);
    let ring = ring_of(reading)?;
    let mut over = bench.book.read(|notes| notes.open()?.status.last_grant).unwrap_or(0);
    let mut alone: Option<Instant> = None;
    while !parts.is_empty() {
        course.show(bench);
        bench.may_stop()?;
        let reading = course.clear(bench).await?;
        // Whoever has copies is another one now.
        if ring_of(&reading)? != ring {
            return Err(unclear(Unclear::OtherRing));
        }
        let down = down(&reading);
        if offer(bench, &parts, &down) == 0 {
            if alone.get_or_insert_with(Instant::now).elapsed() >= bench.pace.alone {
                let keyspaces = parts.iter().flat_map(|part| &part.tries);
                let keyspaces = keyspaces.map(|what| what.segment.keyspace.clone()).collect();
                let members = down.iter().map(ToString::to_string).collect();
                course.leave_out(parts.len(), members, keyspaces);
                break;
            }
        } else {
            alone = None;
        }
        say(bench, &parts);
        let Some(grant) = bench.grant_after(over).await else { continue };
        // When it is over, what was offered before it must not pass for what is left.
        bench.book.offer(Vec::new());
        // What is granted and not there is done already.
        let is_meant = |part: &Part| part.offer.host_ids == grant.host_ids;
        if let Some(at) = parts.iter().position(is_meant) {
            let Part { offer, tries, .. } = parts.remove(at);
            let tries = course.go_on(bench, tries).await?;
            if !tries.is_empty() {
                // Its members are free meanwhile, and others repair.
                let again = Instant::now().checked_add(bench.pace.retry);
                let again = again.map(|at| (at, course.again(bench)));
                parts.push(Part { offer, tries, again });
            }
        }
        bench.note(|notes| notes.end_grant(grant.number))?;
        over = grant.number;
    }
    bench.book.offer(Vec::new());
    course.end(bench)
}

fn ring_of(reading: &Reading) -> Step<String> {
    calm_ring(reading).map_err(unclear)
}

fn down(reading: &Reading) -> BTreeSet<HostId> {
    let members = reading.members.iter().flatten();
    members.filter(|m| m.liveness != Liveness::Up).map(|m| m.host_id.clone()).collect()
}

/// Offer what has all its members up, unless it has just failed; so many have them up.
fn offer(bench: &Bench, parts: &[Part], down: &BTreeSet<HostId>) -> usize {
    let whole = || parts.iter().filter(|part| part.is_whole(down));
    let ready = whole().filter(|part| part.is_ready()).take(OFFERED);
    bench.book.offer(ready.map(|part| part.offer.clone()).collect());
    whole().count()
}

/// Say why some of it is not offered now.
fn say(bench: &Bench, parts: &[Part]) {
    let failed = parts.iter().filter(|part| !part.is_ready());
    let mut why = failed.filter_map(|part| part.again.as_ref()?.1.clone());
    bench.book.say(why.next());
}
