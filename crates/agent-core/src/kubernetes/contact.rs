//! When the operator's word has reached us last, and ours the API server. Whoever works by
//! that word has to end when it cannot be taken back any more.

use jiff::Timestamp;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A moment, by both clocks: one stands still while the machine sleeps, the other is set.
#[derive(Clone, Copy, Debug)]
struct Moment {
    uptime: Instant,
    clock: Timestamp,
}

impl Moment {
    fn now() -> Self {
        Self { uptime: Instant::now(), clock: Timestamp::now() }
    }

    /// How long ago, by the clock that says more.
    fn elapsed(&self) -> Duration {
        let by_clock = Timestamp::now().duration_since(self.clock);
        let by_clock = Duration::try_from(by_clock).unwrap_or(Duration::ZERO);
        self.uptime.elapsed().max(by_clock)
    }
}

#[derive(Debug, Default)]
struct Times {
    heard: Option<Moment>,
    untold: Option<Moment>,
    /// What the API server has said of our member although it is older, and from when on it
    /// was known to be so.
    believed: Option<(u64, Instant)>,
}

/// When each of the two has heard the other last. Shared by those who speak to the API server.
#[derive(Debug, Default)]
pub struct Contact(Mutex<Times>);

/// The last time at which both heard each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Last {
    /// By the machine's clock.
    pub at: Timestamp,
    /// How long ago.
    pub ago: Duration,
}

impl Contact {
    fn times(&self) -> MutexGuard<'_, Times> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The API server has told what our member is like, or that there is none. A request
    /// that is only sent does not count.
    pub fn heard(&self) {
        self.times().heard = Some(Moment::now());
    }

    /// This version of our member counts although it is older than what was known before
    /// `since`: the store of the API server has gone back.
    pub(super) fn believe(&self, version: u64, since: Instant) {
        self.times().believed = Some((version, since));
    }

    /// Is this older version one to believe for who was answered last at this time?
    pub(super) fn believes(&self, version: u64, answered: Option<Instant>) -> bool {
        let believed = self.times().believed;
        believed.is_some_and(|(told, since)| {
            told == version && answered.is_none_or(|answered| answered <= since)
        })
    }

    /// What we report stands in our member's status.
    pub fn told(&self) {
        self.times().untold = None;
    }

    /// What we report could not be written. The time of the first failure counts.
    pub fn not_told(&self) {
        self.times().untold.get_or_insert_with(Moment::now);
    }

    /// How long ago we heard the API server; `None` if this agent never did.
    pub fn heard_ago(&self) -> Option<Duration> {
        self.times().heard.map(|moment| moment.elapsed())
    }

    /// When both heard each other last; `None` if this agent has never heard anything. Who
    /// hears and cannot answer is as far away as who does not hear.
    pub fn last(&self) -> Option<Last> {
        let times = self.times();
        let heard = times.heard?;
        let both = match times.untold {
            Some(untold) if untold.uptime < heard.uptime => untold,
            Some(_) | None => heard,
        };
        Some(Last { at: both.clock, ago: both.elapsed() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_hears_and_cannot_answer_is_not_in_contact() {
        let contact = Contact::default();
        assert_eq!(contact.last(), None);
        contact.not_told();
        assert_eq!(contact.last(), None, "it has heard nothing yet");
        contact.heard();
        let first = contact.last().unwrap();
        std::thread::sleep(Duration::from_millis(20));
        contact.not_told();
        contact.heard();
        let later = contact.last().unwrap();
        assert_eq!(later.at, first.at.min(later.at), "the first failure counts");
        assert!(later.ago >= Duration::from_millis(20), "{later:?}");
        contact.told();
        assert!(contact.last().unwrap().ago < later.ago, "both directions work again");
    }
}
