//! Which member is restarted next, and what must be so before it has the turn.

use crate::clients;
use crate::decide::certificates;
use crate::decide::draft::Draft;
use crate::decide::evidence::{self, Proof};
use crate::decide::maintenance::access;
use crate::decide::objects::{replicas, restart_tokens};
use crate::decide::restart::going_without;
use crate::decide::restart::steps::give_token;
use crate::decide::turn::lock;
use crate::facts::{Facts, MemberFact};
use crate::validate::Valid;
use crate::words::certificates::Waiting::{BeforeAddress, BeforeRestart};
use crate::words::restart::{Doing, Waiting};
use crate::words::turn::Work;
use palladion_api::cluster::TurnStep;
use palladion_plan::Flow;

/// The next member on an older revision, or whose restart was asked for, if
/// the ring can spare it.
pub fn next(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) -> Flow {
    let stopped = access::stops_rollout(facts, valid);
    if let Some(member) = stopped {
        let waiting = Waiting::ForLogIn { member: member.name.clone() };
        draft.wait_for(waiting).about(member.subject());
    }
    let too_old = clients::too_old(facts, valid).is_some();
    for member in due(facts, valid) {
        let name = member.name.clone();
        // Its pod waits until people start it again.
        if member.is_stopped() {
            continue;
        }
        // What stops a rollout holds up nothing else (safety rule 7.6).
        if is_outdated(facts, valid, member) && stopped.is_some() {
            continue;
        }
        // `load_balancers` says so.
        let is_told = clients::lacks_address(valid, member) || too_old;
        if is_outdated(facts, valid, member) && is_told {
            continue;
        }
        if is_outdated(facts, valid, member)
            && certificates::pending::is_pending(facts, valid, member)
        {
            draft.wait_for(BeforeRestart { member: name }).about(member.subject());
            continue;
        }
        let announces =
            is_outdated(facts, valid, member) || clients::to_announce(valid, member).is_some();
        if announces && let Some(address) = certificates::pending::not_named(facts, valid, member) {
            let waiting = BeforeAddress { member: name, address: address.clone() };
            draft.wait_for(waiting).about(member.subject());
            continue;
        }
        if let Err(why) = going_without::ring_is_quiet(facts) {
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

/// A token for a member that serves nobody: it stops nothing, so that it needs no turn and
/// waits for nothing. A drained one comes first, as the rest waits for it.
pub fn of_idle(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) -> Flow {
    let due = due(facts, valid);
    let step = |idle: fn(&Facts<'_>, &MemberFact) -> Option<Proof>| {
        due.iter().find_map(|member| {
            let token = restart_tokens::due(valid, member)?;
            give_token(member, &token, &idle(facts, member)?, None)
        })
    };
    let first = step(evidence::is_drained);
    let step =
        first.or_else(|| step(evidence::has_ended)).or_else(|| step(evidence::stands_stopped));
    let flow = if step.is_some() { Flow::Busy } else { Flow::Free };
    draft.steps.extend(step);
    flow
}

/// Members of the ring on an older revision, or whose restart was asked for, in order,
/// but for those that the rollout goes on without.
pub fn due<'a>(facts: &'a Facts<'_>, valid: &Valid) -> Vec<&'a MemberFact> {
    let without = going_without::of(facts);
    let names = replicas::in_order(facts, valid).into_iter().map(|(_, name)| name);
    names
        .filter_map(|name| facts.members.get(&name))
        .filter(|m| !without.iter().any(|gone| gone.name == m.name))
        .filter(|m| m.recorded_host_id().is_some())
        .filter(|m| is_outdated(facts, valid, m) || restart_tokens::due(valid, m).is_some())
        .collect()
}

/// Is its pod of an older revision?
fn is_outdated(facts: &Facts<'_>, valid: &Valid, member: &MemberFact) -> bool {
    let rack = valid.racks.iter().find(|rack| rack.name == member.rack);
    let newest = rack.and_then(|rack| facts.newest_revision(&rack.set));
    newest.is_some_and(|newest| {
        member.pod.as_ref().is_some_and(|p| !p.terminating && p.revision != newest)
    })
}
