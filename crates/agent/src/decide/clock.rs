//! What the API server's copy of our member says of the time. A machine that was off for long,
//! and has no clock of its own that ran on, boots with the time at which it was shut down, and
//! an agent may start before that is set right (safety rule 7.8).

use jiff::{SignedDuration, Timestamp};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use palladion_api::labels;

/// Clocks of machines may differ by so much.
const CLOCKS: SignedDuration = SignedDuration::from_mins(1);
/// An absence is put on record after so long, as long as hints are kept for twice as long.
const NOTED_AFTER: SignedDuration = SignedDuration::from_mins(10);

/// Times on our member, as read live. They are of other clocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// When somebody changed it last, by the clock of the API server.
    pub written: Option<Timestamp>,
    /// Since when the member is down, by the clock of the operator.
    pub down_since: Option<Timestamp>,
}

impl Times {
    /// Those of an object. What cannot be read says nothing.
    pub fn of(meta: &ObjectMeta) -> Self {
        let fields = meta.managed_fields.iter().flatten();
        let note = meta.annotations.as_ref().and_then(|all| all.get(labels::DOWN_SINCE));
        Self {
            written: fields.filter_map(|field| field.time.as_ref()).map(|time| time.0).max(),
            down_since: note.and_then(|since| since.parse().ok()),
        }
    }

    /// The time by which an absence is judged: it is as late as the object says at least.
    pub fn at_least(self, now: Timestamp) -> Timestamp {
        self.written.map_or(now, |written| written.max(now))
    }

    /// A time that has passed although the clock here has not come to it. The object may have
    /// been written long ago: how late it is, it shows when our own report is in it. The wait
    /// ends in time also where it is the clock of the API server that is wrong.
    pub fn ahead_of(self, now: Timestamp) -> Option<Timestamp> {
        let noted = self.down_since?.checked_add(NOTED_AFTER).ok()?;
        let is_ahead = |at: &Timestamp| at.duration_since(now) > CLOCKS;
        self.written.filter(|written| is_ahead(written) && is_ahead(&noted))
    }
}

/// When the server ran last, where the clock here has not come to that yet.
pub fn ran_ahead_of(now: Timestamp, ran: Timestamp) -> Option<Timestamp> {
    Some(ran).filter(|ran| ran.duration_since(now) > CLOCKS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_last_write_counts_whoever_it_was_of() {
        let meta = json!({
            "annotations": { labels::DOWN_SINCE: "2026-01-01T00:00:00Z" },
            "managedFields": [
                { "manager": "agent", "time": "2026-01-01T00:00:05Z" },
                { "manager": "palladion", "time": "2026-01-01T00:10:00Z" },
                { "manager": "none" },
            ],
        });
        let meta: ObjectMeta = serde_json::from_value(meta).expect("metadata");
        let times = Times::of(&meta);
        assert_eq!(times.written, "2026-01-01T00:10:00Z".parse().ok());
        assert_eq!(times.down_since, "2026-01-01T00:00:00Z".parse().ok());
        assert_eq!(Times::of(&ObjectMeta::default()), Times::default());
    }
}
