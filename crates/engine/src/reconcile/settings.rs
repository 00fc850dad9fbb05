//! What the OperatorConfig says to the engine itself: how many owners are reconciled side by
//! side, and whether owners at rest are looked at again.

use crate::reconcile::Reconciler;
use palladion_api::OperatorConfigSpec;
use palladion_plan::Snapshot;
use palladion_plan::kinds::OPERATOR_CONFIG;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// The settings that were read last.
#[derive(Debug, Default)]
pub struct Settings {
    look_again_seconds: AtomicU32,
}

impl Settings {
    /// After how long an owner at rest is looked at again; none = only when something changes.
    pub fn look_again(&self) -> Option<Duration> {
        let seconds = self.look_again_seconds.load(Ordering::Relaxed);
        (seconds > 0).then(|| Duration::from_secs(seconds.into()))
    }
}

impl Reconciler {
    /// Follow the OperatorConfig, where these facts have it. What cannot be read changes nothing.
    pub(super) fn follow_settings(&self, facts: &Snapshot) {
        let read = facts.spec_of::<OperatorConfigSpec>(OPERATOR_CONFIG, "default");
        let Ok(config) = read else { return };
        let config = config.unwrap_or_default();
        self.settings.look_again_seconds.store(config.look_again_seconds, Ordering::Relaxed);
        let most = config.concurrency.and_then(|most| usize::try_from(most).ok());
        self.api.pace().allow(most.unwrap_or(crate::pace::MOST));
    }
}
