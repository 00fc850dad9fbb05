//! Whose turn it is: the one that is under way goes on, or the next one is given. Every
//! start, stop, join and restart goes through here, one at a time.

use super::draft::Draft;
use super::evidence::of_grounds;
use super::turn::{failing, lock};
use super::{initialize, join, leave, maintain, replace, rescue, restart};
use crate::facts::Facts;
use crate::validate::Valid;
use crate::words::turn::Ended;
use palladion_api::service::{ServiceStep, ServiceTurn};
use palladion_plan::Flow;
use palladion_plan::members::{lost, revisions, survey, turn};

/// Go on with the turn that is under way, or give the next one.
pub fn decide(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) {
    if turn::is_behind(facts) {
        return;
    }
    // One disruption in a plan: what this one ends is seen before the next begins.
    if draft.is_disruptive() || revisions::replace_broken_pod(facts, of_grounds, draft).is_busy() {
        return;
    }
    match facts.turn() {
        Some(turn) => advance(facts, valid, turn, draft),
        None => next(facts, valid, draft),
    }
}

fn advance(facts: &Facts<'_>, valid: &Valid, turn: &ServiceTurn, draft: &mut Draft) {
    failing::report(facts, turn, draft);
    if replace::takes_over(facts, valid, turn) {
        // While a member is lost, only its replacement changes the cluster.
        return lock::release(facts, turn, Ended::ReplacementFirst, draft);
    }
    if restart::takes_over(facts, valid, turn) {
        // It is what the turn would wait for.
        return lock::release(facts, turn, Ended::RestartFirst, draft);
    }
    if join::comes_first(facts, turn) && !is_begun(facts, valid, turn) {
        return lock::release(facts, turn, Ended::JoinFirst, draft);
    }
    if replace::comes_to_nothing(facts, turn) {
        if can_others(facts, valid, turn) {
            return replace::give_way(facts, turn, draft);
        }
        if replace::pass_on(facts, valid, turn, draft).is_busy() {
            return;
        }
    }
    match turn.step {
        ServiceStep::Initialize => initialize::advance(facts, valid, turn, draft),
        ServiceStep::Join => join::advance(facts, valid, turn, draft),
        ServiceStep::Leave => leave::advance(facts, valid, turn, draft),
        ServiceStep::Replace => replace::advance(facts, valid, turn, draft),
        ServiceStep::Restart => restart::advance(facts, valid, turn, draft),
        // Whoever has lost the others is not forced to go on, and strangers are removed
        // by hand.
        ServiceStep::Rescue | ServiceStep::Remove => {
            lock::release(facts, turn, Ended::NotForRabbitmq, draft);
        }
    }
}

/// Has anything of this turn been done, so that it comes to its end before another is given?
fn is_begun(facts: &Facts<'_>, valid: &Valid, turn: &ServiceTurn) -> bool {
    match turn.step {
        ServiceStep::Join => join::is_begun(facts, turn),
        ServiceStep::Restart => restart::is_begun(facts, valid, turn),
        ServiceStep::Leave => leave::is_begun(facts, turn),
        ServiceStep::Replace => replace::is_begun(facts, turn),
        // It comes before all joins, and the others are none of RabbitMQ's.
        ServiceStep::Initialize | ServiceStep::Rescue | ServiceStep::Remove => true,
    }
}

/// Can others go on where this replacement does not?
fn can_others(facts: &Facts<'_>, valid: &Valid, turn: &ServiceTurn) -> bool {
    replace::can_another(facts, valid, turn)
        || leave::can_lost(facts, valid)
        || restart::can_be(facts, valid)
}

/// Nobody has the turn: who needs it most?
fn next(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) {
    if join::adopt_permit(facts, draft).is_busy() {
        return;
    }
    if !facts.exists() {
        return initialize::next(facts, valid, draft);
    }
    rescue::report(facts, draft);
    if survey::complete(facts, draft).is_busy()
        || restart::of_broken(facts, valid, draft).is_busy()
        || join::of_stranded(facts, draft).is_busy()
        || join::go_on_after_permit(facts, valid, draft).is_busy()
        || replace::next(facts, valid, draft).is_busy()
        || leave::of_lost(facts, valid, draft).is_busy()
        || after_others(facts, valid, draft).is_busy()
        || join::next(facts, valid, draft).is_busy()
        || leave::next(facts, valid, draft).is_busy()
        || maintain::before_upgrade(facts, valid, draft).is_busy()
        || restart::next(facts, valid, draft).is_busy()
    {
        return;
    }
    let _ = maintain::after_changes(facts, draft);
}

/// A replacement that has given way begins again when nobody else can go on.
fn after_others(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) -> Flow {
    let Some(member) = lost::given_way(facts, valid) else {
        return Flow::Free;
    };
    if failing::wait(facts, member, draft).is_busy() {
        return Flow::Free;
    }
    restart::of_spared(facts, valid, draft).or(|| replace::begin(facts, member, draft))
}
