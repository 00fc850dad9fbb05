//! The turn to initialize: from the permit to the first node that serves.

use crate::decide::draft::Draft;
use crate::decide::evidence;
use crate::decide::turn::lock;
use crate::decide::turn::permit::{self, Course, Permit};
use crate::facts::{Facts, MemberFact};
use crate::validate::Valid;
use crate::words::turn::Ended;
use palladion_api::service::ServiceTurn;
use palladion_plan::Event;
use palladion_plan::members::first_start::{self, Next};
use palladion_plan::members::{survey, turn as shared};
use palladion_plan::words::initialize::{Doing, Happened, Waiting};

/// Go on with the turn.
pub fn advance(facts: &Facts<'_>, valid: &Valid, turn: &ServiceTurn, draft: &mut Draft) {
    let Some(member) = facts.members.get(&turn.member) else {
        return lock::release(facts, turn, Ended::MemberGone, draft);
    };
    match permit::course(facts, turn, member) {
        Course::NotGiven => before_permit(facts, turn, member, draft),
        Course::PodEnded => lock::release(facts, turn, Ended::PodGone, draft),
        Course::Open => {
            first_start::report_tries(turn, member, draft);
            let (name, server) = (member.name.clone(), member.server_words());
            let waiting = Waiting::Serving { member: name, server };
            draft.wait_for(waiting).about(member.subject());
        }
        Course::Done => finish(facts, turn, member, draft),
        Course::Failed => {
            let next = first_start::after_failure(facts, valid, turn, member, draft);
            go_on(facts, turn, member, next, draft);
        }
        Course::Refused(why) => {
            let refused = (turn, why);
            let next = first_start::after_refusal(facts, valid, refused, member, draft);
            go_on(facts, turn, member, next, draft);
        }
    }
}

fn go_on(
    facts: &Facts<'_>,
    turn: &ServiceTurn,
    member: &MemberFact,
    next: Next,
    draft: &mut Draft,
) {
    let doing = Doing::Again { member: member.name.clone() };
    match next {
        Next::Pause => {}
        Next::Again(next) => draft.steps.push(lock::write(facts, &next, doing)),
        Next::Survey => lock::release(facts, turn, Ended::VolumesFirst, draft),
    }
}

fn before_permit(facts: &Facts<'_>, turn: &ServiceTurn, member: &MemberFact, draft: &mut Draft) {
    first_start::report_tries(turn, member, draft);
    match permit::keeps_volume(turn, member) {
        None => {
            let (name, pod) = (member.name.clone(), member.pod_words());
            draft.wait_for(Waiting::Report { member: name, pod }).about(member.subject());
            return;
        }
        Some(false) => return lock::release(facts, turn, Ended::OtherVolume, draft),
        Some(true) => {}
    }
    let Some(proof) = evidence::is_first(facts, turn, member) else {
        return lock::release(facts, turn, Ended::NotWanted, draft);
    };
    let data = shared::data_before_first(member);
    let (nodes, flags) = (Vec::new(), Vec::new());
    permit::give(facts, &Permit { turn, member, nodes, flags, data, proof: &proof }, draft);
}

fn finish(facts: &Facts<'_>, turn: &ServiceTurn, member: &MemberFact, draft: &mut Draft) {
    draft.steps.extend(permit::withdraw(facts, member));
    let event = Event::normal(Happened::Initialized { member: member.name.clone() });
    // What the first node has imported, nobody reports: the Secret may have come, or changed,
    // since it was set up. What is mounted now is imported when nothing else is to be done.
    let more = [("initialized", survey::served(facts))];
    draft.steps.push(shared::finish(facts, turn, &more, Some(event)));
}
