//! What forbids every start, whoever permits it.

use super::{Action, Decision, Facts, SpecFact, is_stale_twin};
use crate::volume::ledger::{Ban, Ledger, Membership};
use palladion_api::ids::VolumeId;
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
        return stopped(Action::Ban, "the spec says that the server is stopped for good");
    }
    if ledger.ban == Ban::Terminated && !lifts_the_ban(spec, ledger) {
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
        let recorded = spec.volume_id.as_ref().map_or("", VolumeId::as_str);
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

/// A ban is on data. It is lifted by a permit that sets the data aside; and,
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
