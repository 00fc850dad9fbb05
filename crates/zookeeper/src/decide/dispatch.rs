//! Whose turn it is: the one that is under way goes on, or the next one is
//! given. Every start, stop, join and restart goes through here, one at a time.

use super::draft::Draft;
use super::evidence::of_grounds;
use super::turn::{change, lock, refused};
use super::{initialize, join, leave, remove, replace, rescue, restart};
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
    refused::report(facts, turn, draft);
    if rescue::takes_over(facts, turn) {
        // No work of any turn can be done, and only without one a user is asked.
        return lock::release(facts, turn, Ended::MajorityFirst, draft);
    }
    if replace::takes_over(facts, valid, turn) {
        // While a server is lost, only its replacement changes the ensemble.
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
        ServiceStep::Rescue => rescue::advance(facts, turn, draft),
        ServiceStep::Remove => remove::advance(facts, turn, draft),
    }
}

/// Has anything of this turn been done, so that it comes to its end before another is given?
fn is_begun(facts: &Facts<'_>, valid: &Valid, turn: &ServiceTurn) -> bool {
    match turn.step {
        ServiceStep::Join | ServiceStep::Replace => join::is_begun(facts, turn),
        ServiceStep::Restart => restart::is_begun(facts, valid, turn),
        ServiceStep::Remove => change::is_ordered(facts, turn),
        // The first needs no answer of one that does not run, and the others nobody's.
        ServiceStep::Leave | ServiceStep::Initialize | ServiceStep::Rescue => true,
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
    if survey::complete(facts, draft).is_busy()
        || rescue::next(facts, draft).is_busy()
        || join::of_stranded(facts, draft).is_busy()
        || remove::next(facts, draft).is_busy()
        || restart::of_broken(facts, valid, draft).is_busy()
        || replace::next(facts, valid, draft).is_busy()
        || leave::of_lost(facts, valid, draft).is_busy()
        || after_others(facts, valid, draft).is_busy()
        || join::next(facts, valid, draft).is_busy()
        || leave::next(facts, valid, draft).is_busy()
    {
        return;
    }
    let _ = restart::next(facts, valid, draft);
}

/// A replacement that has given way begins again when nobody else can go on.
fn after_others(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) -> Flow {
    let Some(member) = lost::given_way(facts, valid) else {
        return Flow::Free;
    };
    restart::of_spared(facts, valid, draft).or(|| replace::begin(facts, member, draft))
}
