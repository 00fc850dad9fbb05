//! A change from outside waits while a dependency comes or goes: a member that
//! joins takes minutes, and each would restart all dependents.

use super::dependencies::{Base, words};
use super::draft::Draft;
use crate::words::dependencies::Unsettled;
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_api::component::PendingChange;
use palladion_plan::Snapshot;

/// So long such a change waits at the most.
const SETTLES: SignedDuration = SignedDuration::from_secs(600);

/// May a pod have its newest text now?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timing {
    /// Yes.
    Now,
    /// Not while a dependency comes or goes.
    Later,
}

/// When running pods may have a text that has changed from outside.
pub fn timing(
    snapshot: &Snapshot,
    stored: Option<&PendingChange>,
    base: &Base<'_>,
    draft: &mut Draft,
) -> Timing {
    let Some((of, service)) = base.incomplete() else {
        return Timing::Now;
    };
    let now = snapshot.now;
    let seconds = Timestamp::from_second(now.as_second()).unwrap_or(now);
    let since = stored.map_or(seconds, |change| change.since.0);
    let dependency = words(snapshot, of);
    draft.more.pending_change =
        Some(PendingChange { since: Time(since), dependency: dependency.clone() });
    let until = since + SETTLES;
    if now >= until {
        return Timing::Now;
    }
    let (has, wanted) = (service.nodes.len(), service.wanted);
    draft.wait_for(Unsettled::Members { dependency, has, wanted }).until(until);
    Timing::Later
}
