//! Who joins next, and what must be so before it may have the turn.

use super::{named, old_data};
use crate::decide::draft::Draft;
use crate::decide::evidence::{self, Question};
use crate::decide::turn::permit::{self, Course};
use crate::decide::turn::{failing, lock, yet_to_grow};
use crate::facts::{Facts, MemberFact};
use crate::validate::Valid;
use crate::words::join::{Doing, Problem, Waiting};
use jiff::Timestamp;
use palladion_api::service::{ServiceStep, ServiceTurn};
use palladion_api::service_member::MemberVolumeState;
use palladion_plan::members::late;
use palladion_plan::members::turn::{self as shared, Unclaimed, has_failed_for_good};
use palladion_plan::{Flow, turn};
use std::cmp::Reverse;

/// The next member that should join, if the cluster allows it.
pub fn next(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) -> Flow {
    // All that follows would wait for those.
    if stranded(facts).next().is_some() {
        return Flow::Free;
    }
    let Some(member) = newcomer(facts, valid, draft) else {
        return Flow::Free;
    };
    let question = Question::about(member).without([facts.node_of(member)]);
    if let Err(why) = evidence::is_quiet(facts, &question)
        && !is_awaited(facts, member)
    {
        let waiting = Waiting::ForCluster { member: member.name.clone(), why };
        draft.wait_for(waiting).about(member.subject());
        // What waits for a lost one holds up nobody who does not.
        return if facts.lost_nodes().is_empty() { Flow::Busy } else { Flow::Free };
    }
    begin(facts, member, draft)
}

/// One that the others name, or wait for, and that has no permit: whatever else is to be done
/// waits for its answer, and it needs nobody's. Without it none that is not wanted any more may
/// leave, itself among these.
pub fn of_stranded(facts: &Facts<'_>, draft: &mut Draft) -> Flow {
    let (failed, others): (Vec<_>, Vec<_>) = stranded(facts).partition(|m| has_failed_for_good(m));
    for member in failed {
        draft.report(failure_of(facts, member));
    }
    match others.into_iter().min_by_key(|m| place(facts, m)) {
        Some(member) => begin(facts, member, draft),
        None => Flow::Free,
    }
}

fn failure_of(facts: &Facts<'_>, member: &MemberFact) -> Problem {
    let namespace = facts.snapshot.owner.meta.namespace.clone();
    Problem::Failed { member: member.name.clone(), server: member.server_words(), namespace }
}

fn begin(facts: &Facts<'_>, member: &MemberFact, draft: &mut Draft) -> Flow {
    let name = || member.name.clone();
    let Some(volume) = member.volume() else {
        return Flow::Free;
    };
    let turn = turn::new(facts.snapshot, &member.name, &volume.volume_id, ServiceStep::Join);
    draft.steps.push(lock::write(facts, &turn, Doing::Start { member: name() }));
    Flow::Busy
}

/// Was its join begun, so that the others know it already, or nobody serves without it? Of
/// two nodes the first pauses when the second goes away.
pub fn is_awaited(facts: &Facts<'_>, member: &MemberFact) -> bool {
    let is_known = facts.is_named(member) || facts.views().next().is_none();
    is_known && evidence::is_begun(facts, member)
}

/// Did its node end while the others took it in, so that they name it or wait for it, and has it no
/// permit by which it would go on?
pub fn is_stranded(facts: &Facts<'_>, member: &MemberFact) -> bool {
    let is_left_alone = !member.is_marked() && member.loss().is_none() && !member.may_run();
    is_left_alone && is_awaited(facts, member)
}

/// Is there another member that the others name and that does not run, when this turn is under
/// way? What it waits for are answers of all that are named.
pub fn comes_first(facts: &Facts<'_>, turn: &ServiceTurn) -> bool {
    stranded(facts).any(|m| m.name != turn.member)
}

/// Where nobody serves, somebody waits for one of several that were begun. Is another one likelier
/// to be that one than the member of this turn?
pub(super) fn gives_way(facts: &Facts<'_>, member: &MemberFact) -> bool {
    let is_open = is_awaited(facts, member) && !facts.is_named(member);
    let own = likelihood(facts, member);
    is_open && others(facts, member).any(|m| likelihood(facts, m) < own)
}

/// Is there another one that somebody may wait for as well, where nobody serves?
pub(super) fn is_one_of_several(facts: &Facts<'_>, member: &MemberFact) -> bool {
    others(facts, member).next().is_some()
}

/// Others that may have the turn in its place.
fn others<'a>(
    facts: &'a Facts<'_>,
    member: &'a MemberFact,
) -> impl Iterator<Item = &'a MemberFact> {
    stranded(facts).filter(|m| m.name != member.name && !has_failed_for_good(m))
}

/// The order in which those begin: the likelier one first, and those that have run in vain one
/// after the other.
fn place(facts: &Facts<'_>, member: &MemberFact) -> (Likelihood, Option<Timestamp>) {
    (likelihood(facts, member), late::until(facts, member))
}

/// How likely it is that somebody waits for it; what is likelier comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Likelihood {
    /// Somebody has named it.
    Named,
    /// Nobody has, and it may have started last. For its permit all others had answered that they
    /// know of no other joiner: whoever started before it was taken in later, if at all.
    Started(Reverse<Option<Timestamp>>),
    /// It has run in vain.
    InVain,
}

fn likelihood(facts: &Facts<'_>, member: &MemberFact) -> Likelihood {
    let last = member.status.start_history.first().map(|start| start.started_at.0);
    match late::until(facts, member) {
        _ if facts.was_named(member) => Likelihood::Named,
        None => Likelihood::Started(Reverse(last)),
        Some(_) => Likelihood::InVain,
    }
}

/// All of them.
pub fn stranded<'a>(facts: &'a Facts<'_>) -> impl Iterator<Item = &'a MemberFact> {
    joining(facts).filter(|m| is_stranded(facts, m))
}

fn joining<'a>(facts: &'a Facts<'_>) -> impl Iterator<Item = &'a MemberFact> {
    facts.members.values().filter(|m| m.object.is_some() && !m.is_gone())
}

/// First in order with an agent that speaks and a volume that is no member's.
fn newcomer<'a>(facts: &'a Facts<'_>, valid: &Valid, draft: &mut Draft) -> Option<&'a MemberFact> {
    for name in valid.wanted() {
        let Some(member) = facts.members.get(&name).filter(|m| m.object.is_some()) else {
            continue;
        };
        if member.is_gone() || member.is_lost() || member.loss().is_some() {
            continue;
        }
        let Some(volume) = member.volume() else {
            // One that has served comes back by itself.
            if !member.has_served() {
                let waiting = Waiting::ForPod { member: name, pod: member.pod_words() };
                draft.wait_for(waiting).about(member.subject());
            }
            continue;
        };
        match volume.state {
            MemberVolumeState::Empty | MemberVolumeState::Incomplete | MemberVolumeState::Left => {}
            MemberVolumeState::Joined
                if old_data::on_volume(member).is_some()
                    && old_data::off_record(facts, member).is_none() => {}
            // Said by the status, each under a reason of its own.
            MemberVolumeState::Joined
            | MemberVolumeState::Lost
            | MemberVolumeState::NotMounted
            | MemberVolumeState::Foreign
            | MemberVolumeState::Unaccounted
            | MemberVolumeState::RolledBack
            | MemberVolumeState::Unknown => continue,
        }
        if has_failed_for_good(member) {
            draft.report(failure_of(facts, member));
            continue;
        }
        // Whoever has begun goes on with its own data. Of any other a person decides.
        if !is_awaited(facts, member)
            && (named::wait(facts, member, draft).is_busy()
                || failing::wait(facts, member, draft).is_busy()
                || is_postponed(facts, member, draft))
        {
            continue;
        }
        if member.service().is_some_and(|s| s.address.is_some()) {
            return Some(member);
        }
    }
    None
}

/// Has its node run in vain, so that others go on for a while?
fn is_postponed(facts: &Facts<'_>, member: &MemberFact, draft: &mut Draft) -> bool {
    late::report(facts, member, draft);
    late::until(facts, member).is_some()
}

/// A permit that is in use although no turn is on record (the status was lost): the turn
/// is taken up again under the same nonce.
pub fn adopt_permit(facts: &Facts<'_>, draft: &mut Draft) -> Flow {
    match shared::unclaimed_permit(facts, draft) {
        None => Flow::Free,
        Some((_, Unclaimed::NotKnown)) => Flow::Busy,
        Some((_, Unclaimed::Turn(turn))) => {
            draft.steps.push(shared::resume(facts, &turn));
            Flow::Busy
        }
    }
}

/// A member that has joined although no turn is on record any more: it has yet to take its
/// replicas, or to catch up. One that the spec asks for no more leaves without them.
pub fn go_on_after_permit(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) -> Flow {
    let is_wanted = |m: &&MemberFact| m.ordinal < valid.size && m.loss().is_none();
    for member in facts.enrolled().filter(is_wanted).filter(|m| facts.is_named(m)) {
        let on_record = yet_to_grow::nonce_of(member).zip(member.volume_id());
        let Some((nonce, volume)) = on_record else { continue };
        if failing::wait(facts, member, draft).is_busy() {
            continue;
        }
        let mut turn = turn::new(facts.snapshot, &member.name, volume, ServiceStep::Join);
        turn.nonce = nonce;
        if permit::course(facts, &turn, member) == Course::Done {
            draft.steps.push(shared::resume(facts, &turn));
            return Flow::Busy;
        }
    }
    Flow::Free
}
