//! When the server on this volume was last seen as a full member: beside the
//! ledger, so that writing it so often cannot harm that one.

use jiff::{SignedDuration, Timestamp};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use serde::{Deserialize, Serialize};

/// It is written this often.
const EVERY: SignedDuration = SignedDuration::from_mins(1);

/// The last sign of life of a server.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Heartbeat {
    /// When.
    pub last_ran_at: Time,
}

impl Heartbeat {
    /// Of a server that runs now.
    pub fn at(now: Timestamp) -> Self {
        Self { last_ran_at: super::seconds(now) }
    }

    /// Is it time to write it again?
    pub fn is_due(&self, now: Timestamp) -> bool {
        // A clock that was ahead and is set right must not stop it.
        now.duration_since(self.last_ran_at.0).abs() >= EVERY
    }
}

/// What is known of the last sign of life.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Known {
    /// None was ever written.
    #[default]
    Never,
    /// This one.
    At(Heartbeat),
    /// There is one that cannot be read.
    Unreadable,
}

impl Known {
    /// Is it time to write one?
    pub fn is_due(&self, now: Timestamp) -> bool {
        match self {
            Known::At(heartbeat) => heartbeat.is_due(now),
            Known::Never | Known::Unreadable => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_written_again_after_a_minute() {
        let then = Timestamp::UNIX_EPOCH;
        let heartbeat = Heartbeat::at(then);
        assert!(!heartbeat.is_due(then + SignedDuration::from_secs(59)));
        assert!(heartbeat.is_due(then + EVERY));
        assert!(heartbeat.is_due(then - EVERY));
    }
}
