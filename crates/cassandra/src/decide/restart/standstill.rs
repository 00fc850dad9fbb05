//! A rollout that does not move until somebody does something: why, and since when. The
//! cluster says so under `Degraded`, and so does each task that waits for the rollout.

use crate::decide::maintenance::access;
use crate::decide::restart::going_without;
use crate::facts::words::{pod_words, server_words};
use crate::facts::{Facts, MemberFact, PodFact};
use crate::validate::Valid;
use crate::words::jobs::Waiting;
use crate::words::restart::Problem;
use jiff::{SignedDuration, Timestamp};
use palladion_api::cluster::{Turn, TurnStep};
use palladion_api::member::ServerState;

/// A restart that is not over after this does not move: a drain and a start take minutes.
const SLOW: SignedDuration = SignedDuration::from_mins(10);

/// What a restarted member does not come back for.
pub fn of_member(member: &MemberFact, pod: &PodFact) -> Option<Problem> {
    let failed = member.agent_speaks()
        && member.status.server.as_ref().is_some_and(|s| s.state == ServerState::Failed);
    let is_stuck = pod.trouble.is_some() || pod.unschedulable.is_some() || failed;
    is_stuck.then(|| Problem::Stuck {
        member: member.name.clone(),
        pod: pod_words(member),
        server: server_words(member),
    })
}

/// A rollout that stands in its turn, as a task waits for it. A server that fails is started
/// over and over: what it is at just now decides only in the first minutes, and the task
/// does not repeat it.
pub fn in_turn(facts: &Facts<'_>, turn: &Turn) -> Option<Waiting> {
    let member = facts.members.get(&turn.member).filter(|_| turn.step == TurnStep::Restart)?;
    let pod = member.pod.as_ref().filter(|pod| !pod.terminating && !member.is_normal())?;
    if of_member(member, pod).is_none() && facts.now() < turn.since.0 + SLOW {
        return None;
    }
    let cluster = facts.snapshot.owner.meta.name.clone();
    Some(Waiting::RolloutStuck { cluster, member: member.name.clone(), since: turn.since.0 })
}

/// When a restart that is under way has taken so long that it stands.
pub fn stands_at(facts: &Facts<'_>) -> Option<Timestamp> {
    let turn = facts.turn().filter(|turn| turn.step == TurnStep::Restart)?;
    let at = turn.since.0.checked_add(SLOW).ok()?;
    (at > facts.now()).then_some(at)
}

/// One that stands between two members, as whoever waits for its end waits for it.
pub fn between_turns(facts: &Facts<'_>, valid: &Valid) -> Option<Waiting> {
    if let Some((member, why)) = access::locked_out(facts, valid) {
        let since = member.reported_server().map_or(facts.now(), |server| server.since.0);
        return Some(waiting(facts, since, why));
    }
    let (member, why) = going_without::held_up(facts, valid)?;
    let down_since = member.down_note().and_then(|note| note.parse::<Timestamp>().ok());
    Some(waiting(facts, down_since.unwrap_or(facts.now()), why))
}

fn waiting(facts: &Facts<'_>, since: Timestamp, why: Problem) -> Waiting {
    let cluster = facts.snapshot.owner.meta.name.clone();
    Waiting::RolloutWaits { cluster, since, why }
}
