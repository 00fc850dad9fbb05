//! The turn of a rescue: the others are left out and stop, then one goes on alone. In an
//! election a server takes over any newer configuration that another one sends, so that
//! none of the others may run.

use super::running;
use super::survey::survey;
use crate::decide::draft::Draft;
use crate::decide::evidence;
use crate::decide::turn::lock;
use crate::decide::turn::permit::{self, Course, Permit};
use crate::facts::{Facts, MemberFact, Voter};
use crate::words::rescue::{Doing, Happened, Waiting};
use crate::words::turn::Ended;
use jiff::SignedDuration;
use palladion_api::service::ServiceTurn;
use palladion_api::service_member::{DataBeforeServiceStart, LossCause, ServicePermitKind};
use palladion_plan::members::lost;
use palladion_plan::words::Names;
use palladion_plan::words::lost::Lost;
use palladion_plan::{Event, turn};

/// From a start that failed to the next.
const RETRY: SignedDuration = SignedDuration::from_secs(10);

/// Go on with the turn.
pub fn advance(facts: &Facts<'_>, turn: &ServiceTurn, draft: &mut Draft) {
    let Some(member) = facts.members.get(&turn.member).filter(|m| m.object.is_some()) else {
        return lock::release(facts, turn, Ended::MemberGone, draft);
    };
    match permit::course(turn, member) {
        Course::NotGiven => before_permit(facts, turn, member, draft),
        Course::Open => {
            let (name, server) = (member.name.clone(), member.server_words());
            draft.wait_for(Waiting::Leading { member: name, server }).about(member.subject());
        }
        Course::Done => {
            draft.steps.extend(permit::withdraw(facts, member));
            let event = Event::normal(Happened::Rescued { member: member.name.clone() });
            draft.steps.push(lock::finish(facts, turn, Some(event)));
        }
        Course::PodEnded | Course::Failed | Course::Refused(_) => {
            let again = turn.since.0 + RETRY;
            let (name, server) = (member.name.clone(), member.server_words());
            if facts.now() < again {
                let waiting = Waiting::Leading { member: name, server };
                draft.wait_for(waiting).about(member.subject()).until(again);
                return;
            }
            let mut next = turn::again(facts.snapshot, turn);
            next.question = None;
            draft.steps.push(lock::write(facts, &next, Doing::Again { member: name }));
        }
    }
}

fn before_permit(facts: &Facts<'_>, turn: &ServiceTurn, member: &MemberFact, draft: &mut Draft) {
    let left = survey(facts).filter(|left| left.is_allowed(facts));
    let (Some(left), Some(address)) = (left, member.address()) else {
        return release(facts, turn, member, Ended::NotWanted, draft);
    };
    if permit::keeps_volume(turn, member) == Some(false) {
        return release(facts, turn, member, Ended::OtherVolume, draft);
    }
    let others = || left.rest.iter().filter(|m| m.name != member.name);
    for other in others().filter(|m| !m.is_marked()) {
        let why = Lost::LeftOut { member: member.name.clone() };
        let mark = lost::mark(other, LossCause::Rescue, why, Some(facts.fence()));
        draft.steps.extend(mark);
    }
    let left_out = others().filter(|m| !has_ended(m));
    let lost = left.lost.iter().filter(|m| !m.is_marked() || m.may_run());
    // Nor may one that was begun in the place of a lost one.
    draft.steps.extend(left.replaced.iter().filter_map(|m| permit::withdraw(facts, m)));
    let begun = left.replaced.iter().filter(|m| m.may_run());
    let running: Vec<&MemberFact> = left_out.chain(lost).chain(begun).copied().collect();
    if !running.is_empty() {
        running::report(facts, &left, (member, &running), draft);
        let waiting = Waiting::ForEnd {
            member: member.name.clone(),
            others: Names::of(running.iter().map(|m| &m.name)),
        };
        draft.wait_for(waiting).about(member.subject());
        return;
    }
    // What the one was chosen by may be of before: an agent that was cut off has reported
    // less than its server has acknowledged since. Now nothing is added to any of them.
    if left.best(facts).ok().is_none_or(|best| best.name != member.name) {
        return release(facts, turn, member, Ended::NotTheNewest, draft);
    }
    // From here on none of the others comes back with the volume that it has.
    let lost = left.lost.iter().chain(&left.replaced).copied();
    if lost::hold(facts, lost, draft).is_busy() {
        return;
    }
    let volumes = Names::of(left.about());
    let proof = evidence::is_named(facts, member, volumes);
    let data = DataBeforeServiceStart::Keep;
    let permit = Permit { turn, member, address, peers: Vec::new(), data, proof: &proof };
    permit::give(facts, &permit, draft);
}

/// Has its server ended since it was left out, so that what its agent reports of the volume
/// is all that there will be? That agent says so itself. Where nobody can run, nothing is
/// reported either.
fn has_ended(member: &MemberFact) -> bool {
    let has_ended = match member.server() {
        Some(_) => lost::has_heard(member),
        None => !member.may_run(),
    };
    member.is_marked() && has_ended
}

/// End the turn. As long as no permit was given nobody has gone on alone, and nobody stays
/// left out: on these volumes may be what nobody else has. Whoever votes no more was left out
/// by an earlier rescue, which others have gone on from.
fn release(
    facts: &Facts<'_>,
    turn: &ServiceTurn,
    member: &MemberFact,
    why: Ended,
    draft: &mut Draft,
) {
    let kind = member.spec.as_ref().and_then(|s| s.start.as_ref()).map(|s| s.kind);
    let was_permitted = turn.attempt > 1 || kind == Some(ServicePermitKind::Rescue);
    if !was_permitted {
        let known = facts.configuration();
        let votes = |id| known.as_ref().is_some_and(|c| c.has_participant(id));
        let is_left_out = |m: &&MemberFact| {
            m.is_marked() && m.loss().is_some_and(|l| l.cause == LossCause::Rescue)
        };
        let marked = facts.enrolled().filter(is_left_out);
        let marked = marked.filter(|m| m.server_id().is_some_and(votes));
        draft.steps.extend(marked.filter_map(|m| lost::unmark(m, facts.fence())));
    }
    lock::release(facts, turn, why, draft);
}
