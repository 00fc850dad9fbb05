//! What forbids every start, whoever permits it.

use super::{Action, Decision, Facts, SpecFact, is_stale_twin};
use crate::volume::ledger::{Ban, Ledger, Membership};
use palladion_api::member::{CassandraMemberSpec, DataBeforeStart, RunState, ServerState};
use palladion_api::reasons::Reason;

/// What forbids every start, in the order in which people should be told.
pub fn forbidden(facts: &Facts<'_>, known: SpecFact<'_>, ledger: &Ledger) -> Option<Decision> {
    let spec = known.spec;
    let stopped = |action, message: &str| {
        Some(Decision::new(
            action,
            ServerState::Stopped,
            Reason::StoppedByIntent,
            Some(message.to_string()),
        ))
    };
    if spec.run == RunState::Terminated && ledger.ban == Ban::None {
        return stopped(
            Action::Ban,
            "the spec says that the server is stopped for good",
        );
    }
    if ledger.ban == Ban::Terminated && !retires(spec, ledger) {
        return stopped(
            Action::Nothing,
            "the server was stopped for good; none starts on this data again",
        );
    }
    if ledger.membership == Membership::Left && !retires(spec, ledger) {
        return Some(Decision::new(
            Action::Nothing,
            ServerState::Decommissioned,
            Reason::Decommissioned,
            Some(
                "the member has left the ring; its server is never started again on this data"
                    .to_string(),
            ),
        ));
    }
    if is_stale_twin(spec, ledger) {
        let recorded = spec.volume_id.as_deref().unwrap_or_default();
        return Some(Decision::wait(
            Reason::StaleTwin,
            format!(
                "volume {recorded} is recorded for this member, this is volume {}",
                ledger.volume_id
            ),
        ));
    }
    if spec.run == RunState::Stopped {
        return stopped(Action::Nothing, "the spec says `run: Stopped`");
    }
    if !spec.revisions.iter().any(|r| r == facts.revision) {
        return Some(Decision::wait(
            Reason::WaitingForRevision,
            format!(
                "this pod has revision {}; released are: {}",
                facts.revision,
                spec.revisions.join(", ")
            ),
        ));
    }
    None
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
