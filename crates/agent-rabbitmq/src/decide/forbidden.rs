//! What forbids every start, whoever permits it.

use super::{Action, Decision, Facts, SpecFact, StaleTwin, stale_twin};
use crate::volume::ledger::{Ban, Ledger, Membership};
use crate::words::start::{Forbidden, Waiting};
use palladion_agent_core::service::spec::{is_marked_as_lost, joins_anew, lifts_the_ban};
use palladion_api::member::RunState;
use palladion_api::service_member::{MemberServerState, ServiceMemberSpec};
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
        let volume = ledger.volume_id.clone();
        return stopped(Action::Nothing, Forbidden::MarkedAsLost { volume });
    }
    if spec.run == RunState::Terminated && ledger.ban == Ban::None {
        return stopped(Action::Terminate, Forbidden::Terminated);
    }
    // The others have forgotten it: it comes back as new, on a wiped volume.
    if ledger.membership == Membership::Left && !joins_anew(spec, ledger) {
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
        StaleTwin::NodeName { recorded, found } => {
            Waiting::OtherNodeName { recorded: recorded.clone(), found: found.clone() }
        }
    }
}
