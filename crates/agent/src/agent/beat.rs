//! Signs of life of the server, noted on the volume while it is a full member.

use super::state::Agent;
use crate::admin::Reading;
use crate::volume::heartbeat::Heartbeat;
use crate::volume::ledger::Membership;
use jiff::Timestamp;

impl Agent {
    /// Write when the server ran last, once a minute.
    pub(super) fn beat(&mut self) {
        let joined = self.ledger().is_some_and(|l| l.membership == Membership::Joined);
        if !joined || !self.reading().is_some_and(Reading::is_full_member) {
            return;
        }
        let (Ok(found), Some(volume)) = (&mut self.found, &self.volume) else {
            return;
        };
        let now = Timestamp::now();
        if found.heartbeat.as_ref().is_some_and(|h| !h.is_due(now)) {
            return;
        }
        let heartbeat = Heartbeat::at(now);
        match volume.save_heartbeat(&heartbeat) {
            Ok(()) => found.heartbeat = Some(heartbeat),
            Err(error) => tracing::warn!(
                error = format!("{error:#}"),
                "when the server ran last cannot be noted"
            ),
        }
    }
}
