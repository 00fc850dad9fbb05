//! Which member is restarted next, and what must be so before it has the turn.

use crate::decide::draft::Draft;
use crate::decide::evidence;
use crate::decide::maintenance::access;
use crate::decide::objects::{replicas, restart_tokens};
use crate::decide::restart::going_without;
use crate::decide::restart::steps::give_token;
use crate::decide::turn::lock;
use crate::facts::Facts;
use crate::validate::Valid;
use crate::words::restart::{Doing, Waiting};
use crate::words::turn::Work;
use palladion_api::cluster::TurnStep;
use palladion_plan::Flow;

/// The next member on an older revision, or whose restart was asked for, if
/// the ring can spare it.
pub fn next(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) -> Flow {
    let without = going_without::of(facts, valid);
    let stopped = access::stops_rollout(facts, valid);
    if let Some(member) = stopped {
        let waiting = Waiting::ForLogIn { member: member.name.clone() };
        draft.wait_for(waiting).about(member.subject());
    }
    for (index, name) in replicas::in_order(facts, valid) {
        let Some(member) = facts.members.get(&name) else {
            continue;
        };
        if without.iter().any(|m| m.name == name) {
            continue;
        }
        let newest = facts.newest_revision(&valid.racks[index].set);
        let outdated = newest.is_some_and(|newest| {
            member.pod.as_ref().is_some_and(|p| !p.terminating && p.revision != newest)
        });
        let restart = restart_tokens::due(valid, member);
        if !(outdated || restart.is_some()) || member.recorded_host_id().is_none() {
            continue;
        }
        let nothing_runs =
            evidence::has_ended(facts, member).or_else(|| evidence::stands_stopped(facts, member));
        if let (Some(token), Some(proof)) = (restart, nothing_runs) {
            draft.steps.extend(give_token(member, &token, &proof, None));
            return Flow::Busy;
        }
        // Its pod waits until people start it again.
        if member.is_stopped() {
            continue;
        }
        // What stops a rollout holds up nothing else (safety rule 7.6).
        if outdated && stopped.is_some() {
            continue;
        }
        if let Err(why) = going_without::ring_is_quiet(facts, valid) {
            let otherwise = |why| Waiting::ForRing { member: name, why };
            evidence::wait_for_ring(member, Work::Restart, why, otherwise, draft);
            return Flow::Busy;
        }
        let Some(volume) = member.volume() else {
            continue;
        };
        let turn = lock::new(facts, &name, &volume.volume_id, TurnStep::Restart, 1);
        draft.steps.push(lock::take(facts, &turn, Doing::Begin { member: name }, None));
        return Flow::Busy;
    }
    Flow::Free
}
