//! Members whose turn has ended because queues need or name their nodes, or cannot be moved off
//! them, or because an operation of it fails each time: who they are and since when stands in the status, by the operator's own clock. What was
//! asked in the turn of another member ends no turn, and postpones nobody.

use crate::facts::{Facts, MemberFact};
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_api::ids::MemberName;
use palladion_api::rabbitmq::PostponedTurn;
use palladion_api::service::{ServiceStep, ServiceTurn};
use palladion_api::service_member::QueueNames;

/// A turn waits so long itself: a leader that is being elected, a replica that is being added, or
/// the end of a queue that a node hears of late, takes seconds.
const PATIENCE: SignedDuration = SignedDuration::from_mins(1);
/// Each look costs every node a second of a processor. Whatever is done meanwhile asks as well,
/// and by that answer the member goes at once.
const LOOK_AGAIN: SignedDuration = SignedDuration::from_mins(10);

/// Has the turn waited for queues for long enough? One that was postponed for them before is after
/// one more look.
pub fn has_waited(facts: &Facts<'_>, turn: &ServiceTurn) -> bool {
    was_lately(facts, &turn.member) || facts.now() >= turn.since.0 + PATIENCE
}

/// Was its turn postponed, so lately that it is being looked at again?
pub fn was_lately(facts: &Facts<'_>, member: &MemberName) -> bool {
    lately(facts, member).is_some()
}

/// The record of its turn that was postponed so lately.
pub fn lately<'a>(facts: &'a Facts<'_>, member: &MemberName) -> Option<&'a PostponedTurn> {
    let mut records = facts.status.postponed.iter().filter(|p| p.member == *member);
    records.find(|p| within(facts, p, LOOK_AGAIN * 2).is_some())
}

/// What is on record of its last turn that was postponed, however long ago that was.
pub fn on_record<'a>(facts: &'a Facts<'_>, member: &MemberName) -> Option<&'a PostponedTurn> {
    facts.status.postponed.iter().find(|p| p.member == *member)
}

/// The record that a turn ends now. A restart says nothing of what an earlier turn of this member
/// has failed at.
pub fn of(facts: &Facts<'_>, turn: &ServiceTurn) -> PostponedTurn {
    let (member, since) = (turn.member.clone(), Time(facts.now()));
    match on_record(facts, &member).filter(|_| turn.step == ServiceStep::Restart) {
        Some(before) => PostponedTurn { since, ..before.clone() },
        None => PostponedTurn {
            member,
            since,
            unmoved: QueueNames::default(),
            failure: None,
            executor: None,
        },
    }
}

/// The records that stay when this turn is complete: of a restart, also what an earlier turn of
/// this member has failed at.
pub fn after(facts: &Facts<'_>, turn: &ServiceTurn) -> Vec<PostponedTurn> {
    let is_restart = turn.step == ServiceStep::Restart;
    let own = on_record(facts, &turn.member).filter(|p| is_restart && says_something(p));
    of_others(facts, &turn.member).into_iter().chain(own.cloned()).collect()
}

/// Does it say more than that a turn has ended?
fn says_something(record: &PostponedTurn) -> bool {
    !record.unmoved.is_empty() || record.failure.is_some()
}

/// Until when its turn is postponed.
pub fn until(facts: &Facts<'_>, member: &MemberName) -> Option<Timestamp> {
    // A spec that has changed since is a new question.
    let generation = facts.snapshot.owner.meta.generation;
    if facts.status.observed_generation != Some(generation) {
        return None;
    }
    let found = facts.status.postponed.iter().find(|postponed| postponed.member == *member)?;
    within(facts, found, LOOK_AGAIN)
}

/// Until when it was so long ago at the most, if it was. What a leader has recorded whose clock was
/// ahead does not count.
fn within(facts: &Facts<'_>, postponed: &PostponedTurn, time: SignedDuration) -> Option<Timestamp> {
    let (since, now) = (postponed.since.0, facts.now());
    let until = since.checked_add(time).ok()?;
    (since <= now && now < until).then_some(until)
}

/// The records of others that still say something; nothing where there are none. What is known of
/// a leaver stands until it is looked at again, however long others have the turn.
pub fn of_others(facts: &Facts<'_>, member: &MemberName) -> Vec<PostponedTurn> {
    let others = facts.status.postponed.iter().filter(|p| p.member != *member);
    let is_leaver =
        |p: &PostponedTurn| facts.members.get(&p.member).is_some_and(|m| is_leaver(facts, m));
    let counts = |p: &&PostponedTurn| within(facts, p, LOOK_AGAIN * 2).is_some() || is_leaver(p);
    others.filter(counts).cloned().collect()
}

/// Has it yet to leave, and has its leave given way to others, by what is on record?
pub fn is_leaver(facts: &Facts<'_>, member: &MemberFact) -> bool {
    let record = on_record(facts, &member.name).filter(|record| says_something(record));
    is_surplus(facts, member) && !member.is_gone() && record.is_some()
}

/// Does the spec not ask for it?
pub fn is_surplus(facts: &Facts<'_>, member: &MemberFact) -> bool {
    member.ordinal >= i32::try_from(facts.spec.nodes).unwrap_or(i32::MAX)
}
