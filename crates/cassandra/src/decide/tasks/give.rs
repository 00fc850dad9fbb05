//! What a member is given of a task, and how that ends: each write is fenced on
//! the ring's job.

use super::follow::deadline;
use super::preconditions::{knows_grants, lock_fence};
use super::queue::Job;
use super::{batches, pace};
use crate::decide::evidence::Proof;
use crate::decide::evidence::given::asked;
use crate::facts::{Facts, MemberFact};
use crate::resources as kinds;
use crate::words::jobs::Doing;
use palladion_api::member;
use palladion_api::rules::repair::LEAST_SEGMENT_BYTES;
use palladion_api::task::{TaskKind, TaskMember, Work};
use palladion_plan::{Fence, Step};
use serde_json::{Value, json};

/// Give a member its part of the task. The ID names the ring's job, the member's
/// place and the try, so that it is given once.
pub fn give(
    facts: &Facts<'_>,
    job: &Job<'_>,
    (place, entry): (usize, &TaskMember),
    (member, proof): (&MemberFact, Option<&Proof>),
) -> Option<Step> {
    let (object, held) = (member.object.as_ref()?, facts.status.job.as_ref()?);
    let of_unit = format!("{}-{place}-", held.nonce);
    // One that was stopped without need costs no try, and its ID is used up all the same.
    let told = member.status.job.as_ref().and_then(|told| told.id.strip_prefix(&of_unit));
    let last: u32 = told.and_then(|number| number.parse().ok()).unwrap_or(0);
    let number = (entry.tries + 1).max(last + 1);
    let recorded = member.spec.as_ref().and_then(|s| s.volume_id.as_ref());
    let given = member::Job {
        id: format!("{of_unit}{number}"),
        task: job.task.uid().clone(),
        epoch: facts.snapshot.epoch,
        host_id: member.recorded_host_id()?.clone(),
        volume_id: recorded.or(member.volume().map(|v| &v.volume_id))?.clone(),
        deadline_seconds: deadline(&job.task, job.kind),
        wanted: member::JobWanted::Run,
        pace_seconds: pace::seconds(facts, job, member),
        grant: (batches::is_by_grants(job) && knows_grants(member)).then(member::Grant::default),
        work: accepted(job.task.spec.work.clone()),
    };
    let mut patch = json!(given);
    // What an earlier job may have had and this one lacks.
    for kind in TaskKind::ALL.iter().filter(|kind| **kind != job.kind) {
        patch[kind.field()] = Value::Null;
    }
    for field in ["grant", "paceSeconds"] {
        if patch.get(field).is_none() {
            patch[field] = Value::Null;
        }
    }
    let doing = Doing::Give { work: job.kind.into(), member: member.name.clone() };
    let patch = json!({ "spec": { "job": patch } });
    let lock = lock_fence(facts, job.kind);
    let step = Step::patch_as_seen(kinds::MEMBER, &object.meta, patch, doing)
        .fenced(Fence { lock, ..facts.job_fence() })
        .proven(proof.map(Proof::stated));
    Some(step)
}

/// As the schema of a member accepts it: the task may have been stored before there was a
/// least.
fn accepted(mut work: Work) -> Work {
    if let Some(bytes) = work.repair.as_mut().and_then(|repair| repair.segment_bytes.as_mut()) {
        *bytes = LEAST_SEGMENT_BYTES.max(*bytes);
    }
    work
}

/// Let a member repair what it has offered.
pub fn grant(facts: &Facts<'_>, member: &MemberFact, batch: &member::Batch) -> Option<Step> {
    let object = member.object.as_ref()?;
    let number = asked(member)?.grant.as_ref()?.number + 1;
    let next = member::Grant { number, host_ids: batch.host_ids.clone() };
    let patch = json!({ "spec": { "job": { "grant": next } } });
    let doing = Doing::Grant { member: member.name.clone() };
    let step = Step::patch_as_seen(kinds::MEMBER, &object.meta, patch, doing);
    Some(step.fenced(facts.job_fence()))
}

/// Stop what a member does, and have it report how far that came.
pub fn stop(facts: &Facts<'_>, member: &MemberFact) -> Option<Step> {
    let asked = asked(member).filter(|job| job.wanted != member::JobWanted::Stop)?;
    let kind = asked.work.body()?.kind();
    let doing = Doing::Stop { work: kind.into(), member: member.name.clone() };
    let patch = json!({ "spec": { "job": { "wanted": member::JobWanted::Stop } } });
    let meta = &member.object.as_ref()?.meta;
    let step = Step::patch_as_seen(kinds::MEMBER, meta, patch, doing);
    Some(step.fenced(facts.job_fence()))
}

/// Take away what has ended, or what belongs to no task any more: an agent that
/// works at it stops.
pub fn clear(facts: &Facts<'_>, member: &MemberFact) -> Option<Step> {
    let meta = &member.object.as_ref().filter(|_| asked(member).is_some())?.meta;
    let doing = Doing::Clear { member: member.name.clone() };
    let step = Step::patch_as_seen(kinds::MEMBER, meta, json!({ "spec": { "job": null } }), doing);
    Some(step.fenced(facts.job_fence()))
}
