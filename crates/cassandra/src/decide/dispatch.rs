//! Whose turn it is: the one that is under way goes on, or the next one is
//! given. Every start, stop, join and restart goes through here, one at a time.

use super::draft::Draft;
use super::maintenance::{pay, seed_lists, system_keyspaces};
use super::restart::{self, broken, versions};
use super::tasks::Way;
use super::turn::{asked_in_vain, epoch, silent, stopping};
use super::{departure, initialize, join, leave, lock, readdress, remove, replace, tasks, wanted};
use crate::facts::Facts;
use crate::validate::Valid;
use crate::words::jobs::Waiting;
use palladion_api::cluster::{Turn, TurnStep};
use palladion_plan::Flow;

/// Go on with the turn that is under way, or give the next one. Says what of it
/// comes before the jobs that members work at.
pub fn decide(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) -> Way {
    let busy = Way::Closed(Waiting::RingFirst);
    if epoch::is_behind(facts) {
        return busy;
    }
    asked_in_vain::report(facts, draft);
    join::identities::record(facts, draft);
    readdress::record(facts, draft);
    draft.steps.extend(wanted::forget_now(facts));
    let is_held = stopping::hold(facts, draft).is_busy();
    if stopping::is_wanted(facts) {
        tasks::stop_all(facts, draft);
    }
    // One disruption in a plan: what this one ends is seen before the next begins.
    if is_held || draft.is_disruptive() || broken::replace_broken_pod(facts, valid, draft).is_busy()
    {
        return busy;
    }
    match facts.turn() {
        Some(turn) => {
            if !lock::hold_turn(facts, turn, draft).is_busy() {
                lock::answer(facts, turn, draft);
                advance(facts, valid, turn, draft);
            }
            silent::report(facts, turn, draft);
            tasks::after(facts, draft);
            busy
        }
        None if stopping::is_wanted(facts) => busy,
        None => {
            if facts.is_locked() {
                next_in_region(facts, valid, draft);
            } else {
                next(facts, valid, draft);
            }
            match facts.restoring() {
                Some(_) => busy,
                None => tasks::before(facts, valid, draft),
            }
        }
    }
}

fn advance(facts: &Facts<'_>, valid: &Valid, turn: &Turn, draft: &mut Draft) {
    match turn.step {
        TurnStep::Initialize | TurnStep::Join => join::advance(facts, valid, turn, draft),
        TurnStep::Restart => restart::advance(facts, valid, turn, draft),
        TurnStep::Leave => leave::advance(facts, valid, turn, draft),
        TurnStep::Replace => replace::advance(facts, valid, turn, draft),
        TurnStep::ResumeLeave => leave::resume::advance(facts, valid, turn, draft),
        TurnStep::Remove => remove::advance(facts, valid, turn, draft),
        TurnStep::Stop => wanted::stop(facts, turn, draft),
        TurnStep::Start => wanted::start(facts, valid, turn, draft),
        TurnStep::Readdress => readdress::advance(facts, valid, turn, draft),
    }
}

/// The same in a ring that regions share. What needs no lock goes on without it.
fn next_in_region(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) {
    let mut next_turn = Draft::default();
    next(facts, valid, &mut next_turn);
    let waits = lock::give_way(facts, &mut next_turn).is_busy();
    draft.take(next_turn);
    if waits && facts.ring_exists() && versions::mixed(facts, valid).is_none() {
        let _ = pay::pay(facts, draft);
    }
}

/// Nobody has the turn: who needs it most?
fn next(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) {
    if readdress::left_over(facts, draft).is_busy()
        || join::adopt_permit(facts, draft).is_busy()
        || leave::adopt_intent(facts, draft).is_busy()
        || is_over(facts, valid, draft)
        || join::first::next(facts, valid, draft).is_busy()
        || initialize::next(facts, valid, draft).is_busy()
    {
        return;
    }
    if facts.closed_without_restore().is_some() {
        initialize::restored::report(facts, valid, draft);
        if !facts.lets_clients_in() {
            return;
        }
    }
    if facts.restoring().is_some() {
        return restored(facts, valid, draft);
    }
    if !facts.ring_exists() {
        return;
    }
    seed_lists::rescue(facts, valid, draft);
    if remove::left_over(facts, draft).is_busy()
        || leave::resume::next(facts, draft).is_busy()
        || join::returning::next(facts, draft).is_busy()
        || readdress::next(facts, valid, draft).is_busy()
    {
        return;
    }
    // What people want of a member waits for the ring, and the ring does not wait
    // for it: it is told behind what is under way.
    let mut wishes = Draft::default();
    if !wanted::next(facts, valid, &mut wishes).is_busy() {
        next_of_ring(facts, valid, draft);
    }
    draft.take(wishes);
}

/// Nothing begins in a datacenter that has left its ring.
fn is_over(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) -> bool {
    let is_over = departure::is_over(facts);
    if is_over {
        leave::never_joined(facts, valid, draft);
    }
    is_over
}

/// A ring that is being restored: its members start, and nothing else is done with them.
fn restored(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) {
    initialize::restored::report(facts, valid, draft);
    if initialize::restored::is_over(facts) {
        return;
    }
    seed_lists::rescue(facts, valid, draft);
    let busy =
        join::returning::next(facts, draft).is_busy() || join::next(facts, valid, draft).is_busy();
    // Who asks for more members meanwhile has them when clients are let in.
    if !busy && facts.all_places_are_taken() {
        system_keyspaces::set(facts, valid, facts.joined().count(), draft);
    }
}

/// The ring's own work: its shape, its revision, its maintenance.
fn next_of_ring(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) {
    let busy = restart::of_idle(facts, valid, draft).is_busy()
        || shape(facts, valid, draft).is_busy()
        || restart::next(facts, valid, draft).is_busy();
    if busy {
        return;
    }
    if versions::mixed(facts, valid).is_none() && pay::pay(facts, draft).is_busy() {
        // However long that takes.
        system_keyspaces::withdraw_unbegun(facts, draft);
        return;
    }
    if versions::mixed(facts, valid).is_none() && !leave::lowers_replication(facts, valid) {
        system_keyspaces::decide(facts, valid, draft);
    }
    seed_lists::refresh(facts, valid, draft);
}

/// Changes of the ring's shape. While versions are mixed the upgrade goes first.
fn shape(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) -> Flow {
    // A leave that stands holds up everything, the upgrade too: it goes on as
    // long as all servers run one line, whatever line the spec wants.
    let alike = versions::are_alike(facts);
    if alike && leave::already_left(facts, valid, draft).is_busy() {
        return Flow::Busy;
    }
    let mut found = Draft::default();
    let replacing = replace::next(facts, valid, &mut found).is_busy();
    if !replacing && alike && leave::again::next(facts, valid, draft).is_busy() {
        return Flow::Busy;
    }
    let busy = replacing
        || join::next(facts, valid, &mut found).is_busy()
        || leave::next(facts, valid, &mut found).is_busy();
    if busy && versions::forbid(facts, valid, draft) {
        return Flow::Free;
    }
    // What cannot begin holds up nothing that a person wants without it.
    if replacing && found.steps.is_empty() {
        restart::going_without::beside_replacement(facts, valid, draft);
    }
    draft.take(found);
    if busy { Flow::Busy } else { Flow::Free }
}
