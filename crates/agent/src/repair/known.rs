//! The schema as it was read last: one reading for each version, for all who
//! depend on it.

use super::schema::Schema;
use std::time::{Duration, Instant};

/// A server that cannot be asked is asked again after this long.
const AGAIN: Duration = Duration::from_secs(60);

/// What is known of the schema, and of which version it is.
#[derive(Clone, Debug, Default)]
pub struct Known {
    asked: Option<Instant>,
    schema: Option<(String, Schema)>,
    failed: Option<(String, String)>,
}

impl Known {
    /// Is it time to ask, for this version?
    pub fn begin(&mut self, version: &str, now: Instant) -> bool {
        let is_waiting = self.asked.is_some_and(|at| now.duration_since(at) < AGAIN);
        if self.of(version).is_some() || is_waiting {
            return false;
        }
        self.asked = Some(now);
        true
    }

    /// An answer has come.
    pub fn note(&mut self, version: String, answer: Result<Schema, String>) {
        match answer {
            Ok(schema) => {
                (self.asked, self.failed) = (None, None);
                self.schema = Some((version, schema));
            }
            Err(why) => {
                tracing::debug!(why, "the schema is not known yet");
                self.failed = Some((version, why));
            }
        }
    }

    /// The schema of this version, if it was read.
    pub fn of(&self, version: &str) -> Option<&Schema> {
        self.schema.as_ref().filter(|(of, _)| of == version).map(|(_, schema)| schema)
    }

    /// Why that of this version could not be read when it was tried last.
    pub fn failure(&self, version: &str) -> Option<&str> {
        let failed = self.failed.as_ref().filter(|(of, _)| of == version);
        failed.map(|(_, why)| why.as_str())
    }

    /// The last one that was read, of whatever version.
    pub fn last(&self) -> Option<&Schema> {
        self.schema.as_ref().map(|(_, schema)| schema)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_asked_again_for_another_version_and_a_minute_after_a_failure() {
        let (mut known, now) = (Known::default(), Instant::now());
        assert!(known.begin("s1", now));
        assert!(!known.begin("s1", now + Duration::from_secs(59)));
        known.note("s1".into(), Err("a failure".into()));
        assert_eq!((known.last(), known.failure("s1")), (None, Some("a failure")));
        assert!(known.begin("s1", now + Duration::from_secs(60)));
        known.note("s1".into(), Ok(Schema::default()));
        assert_eq!((known.of("s1"), known.failure("s1")), (Some(&Schema::default()), None));
        assert!(!known.begin("s1", now + Duration::from_secs(600)));
        assert!(known.begin("s2", now + Duration::from_secs(600)));
        assert_eq!(known.of("s2"), None);
        assert!(known.last().is_some(), "as long as no other answer has come");
    }
}
