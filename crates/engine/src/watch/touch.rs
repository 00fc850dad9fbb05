//! Is a feed in touch with the API server? What could not be read is unknown,
//! and unknown never means empty.

use palladion_plan::FailureClass;
use std::time::Duration;
use tokio::time::Instant;

/// A feed that has been failing for longer than this has lost its facts.
/// Shorter than the time in which a node is declared lost, longer than the
/// restart of an API server behind a load balancer.
pub const UNKNOWN_AFTER: Duration = Duration::from_secs(30);

/// What a feed knows, at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Knowledge {
    /// Its first list has not arrived.
    Pending,
    /// Its objects are known; the source was last in touch at this time.
    Known {
        /// Wall clock.
        as_of: jiff::Timestamp,
    },
    /// It has been failing for too long.
    Unknown {
        /// The last error.
        why: String,
    },
}

/// The contact of one feed.
#[derive(Clone, Debug)]
pub struct Touch {
    listed: Listed,
    heard: jiff::Timestamp,
    failing: Option<Failing>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Listed {
    Never,
    Once,
}

#[derive(Clone, Debug)]
struct Failing {
    /// From when on the facts count as lost.
    lost: Instant,
    why: String,
    announced: Announced,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Announced {
    No,
    Yes,
}

/// Does a change of contact have to be told to the owners?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tell {
    /// Nothing changed for them.
    Nobody,
    /// Facts became known or unknown.
    Owners,
}

impl Touch {
    /// Not in touch yet.
    pub fn new() -> Self {
        Self { listed: Listed::Never, heard: jiff::Timestamp::UNIX_EPOCH, failing: None }
    }

    /// What is known now.
    pub fn knowledge(&self, now: Instant) -> Knowledge {
        match (&self.failing, self.listed) {
            (Some(failing), _) if now >= failing.lost => {
                Knowledge::Unknown { why: failing.why.clone() }
            }
            (_, Listed::Once) => Knowledge::Known { as_of: self.heard },
            (_, Listed::Never) => Knowledge::Pending,
        }
    }

    /// The server answered.
    pub fn heard(&mut self) -> Tell {
        self.heard = jiff::Timestamp::now();
        match self.failing.take() {
            Some(Failing { announced: Announced::Yes, .. }) => Tell::Owners,
            Some(Failing { announced: Announced::No, .. }) | None => Tell::Nobody,
        }
    }

    /// A whole list has arrived.
    pub fn listed(&mut self) -> Tell {
        let told = self.heard();
        match std::mem::replace(&mut self.listed, Listed::Once) {
            Listed::Never => Tell::Owners,
            Listed::Once => told,
        }
    }

    /// A request failed, or still fails. Where there are no facts yet that a
    /// short failure would cost, a refusal is an answer: waiting cures no
    /// missing right, and whoever asked is to hear of it at once.
    pub fn failed(&mut self, now: Instant, class: FailureClass, why: String) -> Tell {
        let patience = match (class, self.listed) {
            (FailureClass::Refused, Listed::Never) => Duration::ZERO,
            (
                FailureClass::Refused
                | FailureClass::Transient
                | FailureClass::Conflict
                | FailureClass::Held
                | FailureClass::Foreign,
                _,
            ) => UNKNOWN_AFTER,
        };
        let failing = self.failing.get_or_insert(Failing {
            lost: now + patience,
            why: String::new(),
            announced: Announced::No,
        });
        failing.lost = failing.lost.min(now + patience);
        failing.why = why;
        if failing.announced == Announced::No && now >= failing.lost {
            failing.announced = Announced::Yes;
            return Tell::Owners;
        }
        Tell::Nobody
    }
}

impl Default for Touch {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_failure_leaves_the_facts_known_and_a_long_one_does_not() {
        let start = Instant::now();
        let mut touch = Touch::new();
        assert_eq!(touch.knowledge(start), Knowledge::Pending);
        assert_eq!(touch.listed(), Tell::Owners);
        assert_eq!(touch.failed(start, FailureClass::Transient, "first".to_string()), Tell::Nobody);
        assert!(matches!(touch.knowledge(start), Knowledge::Known { .. }));
        let late = start + UNKNOWN_AFTER;
        assert_eq!(touch.failed(late, FailureClass::Transient, "last".to_string()), Tell::Owners);
        assert_eq!(
            touch.failed(late, FailureClass::Transient, "last".to_string()),
            Tell::Nobody,
            "told once"
        );
        assert_eq!(touch.knowledge(late), Knowledge::Unknown { why: "last".to_string() });
    }

    #[test]
    fn the_next_success_heals_and_is_told() {
        let start = Instant::now();
        let mut touch = Touch::new();
        touch.listed();
        touch.failed(start, FailureClass::Transient, "x".to_string());
        touch.failed(start + UNKNOWN_AFTER, FailureClass::Transient, "x".to_string());
        assert_eq!(touch.heard(), Tell::Owners);
        assert!(matches!(touch.knowledge(start + UNKNOWN_AFTER), Knowledge::Known { .. }));
    }

    #[test]
    fn a_feed_that_was_never_listed_and_fails_for_long_is_unknown_and_not_pending() {
        let start = Instant::now();
        let mut touch = Touch::new();
        touch.failed(start, FailureClass::Transient, "forbidden".to_string());
        let late = start + UNKNOWN_AFTER;
        assert_eq!(touch.knowledge(late), Knowledge::Unknown { why: "forbidden".to_string() });
    }
    #[test]
    fn a_refusal_is_an_answer_at_once_where_nothing_is_known_yet() {
        let start = Instant::now();
        let refused =
            |touch: &mut Touch| touch.failed(start, FailureClass::Refused, "forbidden".to_string());
        let mut touch = Touch::new();
        assert_eq!(refused(&mut touch), Tell::Owners);
        assert_eq!(refused(&mut touch), Tell::Nobody, "told once");
        let unknown = Knowledge::Unknown { why: "forbidden".to_string() };
        assert_eq!(touch.knowledge(start), unknown);
        assert_eq!(touch.listed(), Tell::Owners);

        let mut known = Touch::new();
        known.listed();
        assert_eq!(refused(&mut known), Tell::Nobody);
        assert!(matches!(known.knowledge(start), Knowledge::Known { .. }));
    }
}
