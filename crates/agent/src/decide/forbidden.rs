//! What forbids every start, whoever permits it.

use super::{Action, Decision, Facts, SpecFact, is_stale_twin};
use crate::volume::judge::has_left;
use crate::volume::ledger::{Ban, Ledger, Membership};
use crate::words::start::{Forbidden, Waiting};
use palladion_api::member::{CassandraMemberSpec, DataBeforeStart, RunState, ServerState};
use palladion_api::words::Names;

/// What forbids every start, in the order in which people should be told.
pub fn forbidden(facts: &Facts<'_>, known: SpecFact<'_>, ledger: &Ledger) -> Option<Decision> {
    let spec = known.spec;
    let stopped =
        |action, words: Forbidden| Some(Decision::because(action, ServerState::Stopped, words));
    if spec.run == RunState::Terminated && ledger.ban == Ban::None {
        return stopped(Action::Ban(Ban::Terminated), Forbidden::Terminated);
    }
    if must_be_banned(spec, ledger) {
        return stopped(Action::Ban(Ban::GivenUp), Forbidden::GivenUp);
    }
    match ledger.ban {
        Ban::None => {}
        Ban::Terminated if lifts_the_ban(spec, ledger) => {}
        Ban::Terminated => return Some(banned(spec, Forbidden::Banned)),
        Ban::GivenUp => return Some(banned(spec, Forbidden::GivenUp)),
    }
    if has_left(ledger, spec) && !retires(spec, ledger) {
        let left = Forbidden::Left;
        return Some(Decision::because(Action::Nothing, ServerState::Decommissioned, left));
    }
    if is_stale_twin(spec, ledger) {
        let (recorded, found) = (spec.volume_id.clone().unwrap_or_default(), &ledger.volume_id);
        return Some(Decision::wait(Waiting::OtherVolume { recorded, found: found.clone() }));
    }
    if let Some(removal) = spec.removal.as_ref().filter(|r| r.volume_id == ledger.volume_id) {
        return Some(Decision::wait(Waiting::BeingRemoved { host_id: removal.host_id.clone() }));
    }
    if spec.run == RunState::Stopped {
        return stopped(Action::Nothing, Forbidden::BySpec);
    }
    if let RunState::Unknown(run) = spec.run {
        let version = env!("CARGO_PKG_VERSION");
        return Some(Decision::wait(Waiting::UnknownRun { run, version }));
    }
    if !spec.revisions.iter().any(|r| r == facts.revision) {
        let (revision, released) = (facts.revision.to_string(), Names::of(&spec.revisions));
        return Some(Decision::wait(Waiting::NotReleased { revision, released }));
    }
    None
}

/// The ledger forbids it. Where the record of a member wants its server to run, it
/// waits for what only people can give: a replacement.
fn banned(spec: &CassandraMemberSpec, words: Forbidden) -> Decision {
    let is_missed = spec.run == RunState::Running && spec.host_id.is_some();
    let state = if is_missed { ServerState::Waiting } else { ServerState::Stopped };
    Decision::because(Action::Nothing, state, words)
}

/// Has a user given up this very volume, and is that not in the ledger yet? There
/// it outlives the spec, and the member's record. Of a successor nothing is said.
pub fn must_be_banned(spec: &CassandraMemberSpec, ledger: &Ledger) -> bool {
    is_given_up(spec, ledger) && ledger.ban != Ban::GivenUp
}

/// Has a user given up this very volume?
pub fn is_given_up(spec: &CassandraMemberSpec, ledger: &Ledger) -> bool {
    spec.terminated.as_ref().is_some_and(|t| t.volume_id == ledger.volume_id)
}

/// The ban of one that has left is on data. It is lifted by a permit that sets the data aside; and,
/// where no member's data ever was, by one for a later pod: the member is
/// wanted again. A permit for the pod that was told to stop for good may be an
/// old one that comes late.
fn lifts_the_ban(spec: &CassandraMemberSpec, ledger: &Ledger) -> bool {
    let never_joined = matches!(ledger.membership, Membership::Empty | Membership::Joining { .. });
    let is_later = spec.start.as_ref().is_some_and(|p| {
        p.volume_id == ledger.volume_id
            && !ledger.has_used(&p.nonce)
            && ledger.ban_pod.as_ref() != Some(&p.pod_uid)
    });
    retires(spec, ledger) || never_joined && is_later
}

/// Is there an unused permit for this volume that sets the old data aside,
/// because its host ID is proven gone? Then nothing starts on that data.
pub fn retires(spec: &CassandraMemberSpec, ledger: &Ledger) -> bool {
    spec.start.as_ref().is_some_and(|p| {
        p.volume_id == ledger.volume_id
            && p.data == DataBeforeStart::Retire
            && !ledger.has_used(&p.nonce)
    })
}
