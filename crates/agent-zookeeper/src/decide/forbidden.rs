//! What forbids every start, whoever permits it.

use super::{Action, Decision, Facts, SpecFact, StaleTwin, stale_twin};
use crate::volume::ledger::{Ban, Ledger, Membership};
use crate::words::start::{Forbidden, Waiting};
use palladion_api::member::RunState;
use palladion_api::service_member::{
    DataBeforeServiceStart, MemberServerState, ServiceMemberSpec, ServicePermitKind,
};
use palladion_api::words::Names;

/// What forbids every start, in the order in which people should be told.
pub fn forbidden(facts: &Facts<'_>, known: SpecFact<'_>, ledger: &Ledger) -> Option<Decision> {
    let spec = known.spec;
    let stopped = |action, words: Forbidden| {
        Some(Decision::because(action, MemberServerState::Stopped, words))
    };
    if let Some(twin) = stale_twin(spec, ledger) {
        return Some(Decision::wait(words(&twin, spec, ledger)));
    }
    if is_marked_as_lost(spec, ledger) {
        return stopped(
            Action::Nothing,
            Forbidden::MarkedAsLost { volume: ledger.volume_id.clone() },
        );
    }
    if spec.run == RunState::Terminated && ledger.ban == Ban::None {
        return stopped(Action::Terminate, Forbidden::Terminated);
    }
    if ledger.membership == Membership::Left && !joins_as_another(spec, ledger) {
        let left = Forbidden::Left;
        return Some(Decision::because(Action::Nothing, MemberServerState::Left, left));
    }
    match ledger.ban {
        Ban::None => {}
        Ban::Terminated if lifts_the_ban(spec, ledger) => {}
        Ban::Terminated => return stopped(Action::Nothing, Forbidden::Banned),
    }
    match spec.run {
        RunState::Running => {}
        RunState::Stopped | RunState::Terminated => {
            return stopped(Action::Nothing, Forbidden::BySpec);
        }
        RunState::Unknown(run) => {
            let version = env!("CARGO_PKG_VERSION");
            return Some(Decision::wait(Waiting::UnknownRun { run, version }));
        }
    }
    if !spec.revisions.iter().any(|r| r == facts.revision) {
        let (revision, released) = (facts.revision.to_string(), Names::of(&spec.revisions));
        return Some(Decision::wait(Waiting::NotReleased { revision, released }));
    }
    None
}

/// Why the data on this volume is not this member's.
fn words(twin: &StaleTwin, spec: &ServiceMemberSpec, ledger: &Ledger) -> Waiting {
    match twin {
        StaleTwin::Volume => Waiting::OtherVolume {
            recorded: spec.volume_id.clone().unwrap_or_default(),
            found: ledger.volume_id.clone(),
        },
        StaleTwin::ServerId { recorded, found } => {
            Waiting::OtherServerId { recorded: *recorded, found: *found }
        }
    }
}

/// Does the spec say that this very volume is lost, or was left out of a rescue? A
/// server on it could draw those in that went on without it.
pub fn is_marked_as_lost(spec: &ServiceMemberSpec, ledger: &Ledger) -> bool {
    spec.replace.as_ref().is_some_and(|loss| loss.lost.volume_id == ledger.volume_id)
}

/// Is the volume of a server that has left to be wiped, for a server under another ID? It
/// never comes back under the one whose vote was taken away.
fn joins_as_another(spec: &ServiceMemberSpec, ledger: &Ledger) -> bool {
    let is_wiped = spec.start.as_ref().is_some_and(|permit| {
        permit.kind == ServicePermitKind::Join && permit.data == DataBeforeServiceStart::Wipe
    });
    is_wiped && is_for_a_later_pod(spec, ledger) && spec.server_id != ledger.server_id
}

/// The ban is lifted only where no participant's data is, by a permit for a
/// later pod: the member is wanted again. A permit for the pod that was told to stop
/// for good may be an old one that comes late.
fn lifts_the_ban(spec: &ServiceMemberSpec, ledger: &Ledger) -> bool {
    let has_a_vote = match ledger.membership {
        Membership::Empty | Membership::Joining { .. } | Membership::Left => false,
        Membership::Joined => true,
    };
    !has_a_vote && is_for_a_later_pod(spec, ledger)
}

/// Is there a permit for this volume that was not used, for a pod after the one that was told
/// to stop for good?
fn is_for_a_later_pod(spec: &ServiceMemberSpec, ledger: &Ledger) -> bool {
    spec.start.as_ref().is_some_and(|permit| {
        permit.volume_id == ledger.volume_id
            && !ledger.has_used(&permit.nonce)
            && ledger.ban_pod.as_ref() != Some(&permit.pod_uid)
    })
}
