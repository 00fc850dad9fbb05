//! Writing conditions: the one place that moves `lastTransitionTime`.

use jiff::Timestamp;
use palladion_api::conditions::{self, Condition};
use palladion_api::reasons::Reason;
use palladion_api::words::{Message, Reasoned};

/// Status of a condition that is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Truth {
    /// It is so.
    True,
    /// It is not so.
    False,
    /// It cannot be told, and whoever relies on it should know that.
    Unknown,
}

impl Truth {
    fn as_str(self) -> &'static str {
        match self {
            Truth::True => "True",
            Truth::False => "False",
            Truth::Unknown => "Unknown",
        }
    }
}

/// The conditions of one object, on their way from what is stored to what is so.
#[derive(Clone, Debug)]
pub struct Conditions {
    all: Vec<Condition>,
    generation: i64,
    now: Timestamp,
}

impl Conditions {
    /// Those that are stored. What is set answers this `generation` of the
    /// object, and takes `now` where its status changes.
    pub fn new(stored: &[Condition], generation: i64, now: Timestamp) -> Self {
        Self { all: stored.to_vec(), generation, now }
    }

    /// It is so, as the sentence says.
    pub fn set_true(&mut self, type_: &str, sentence: impl Reasoned) {
        self.set(type_, Truth::True, sentence.reason(), sentence);
    }

    /// It is not so, as the sentence says.
    pub fn set_false(&mut self, type_: &str, sentence: impl Reasoned) {
        self.set(type_, Truth::False, sentence.reason(), sentence);
    }

    /// Set under a reason that is not the sentence's own.
    pub fn set(&mut self, type_: &str, truth: Truth, reason: Reason, message: impl Into<Message>) {
        let message = message.into().to_string();
        let mut new = conditions::condition(
            type_,
            truth == Truth::True,
            reason.as_str(),
            &message,
            Some(self.generation),
            self.now,
        );
        new.status = truth.as_str().to_string();
        conditions::set(&mut self.all, new);
    }

    /// All of them, for the status.
    pub fn all(&self) -> &[Condition] {
        &self.all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_moves_only_when_the_status_does() {
        let at = |s| Timestamp::from_second(s).expect("should be a time");
        let mut first = Conditions::new(&[], 1, at(10));
        first.set(
            "Available",
            Truth::True,
            Reason::Running,
            Message::quoted("2 of 3 members are ready"),
        );
        let mut second = Conditions::new(first.all(), 2, at(20));
        second.set(
            "Available",
            Truth::True,
            Reason::Running,
            Message::quoted("3 of 3 members are ready"),
        );
        assert_eq!(second.all()[0].last_transition_time.0, at(10));
        assert_eq!(second.all()[0].observed_generation, Some(2));
        let mut third = Conditions::new(second.all(), 2, at(30));
        third.set(
            "Available",
            Truth::False,
            Reason::MembersDown,
            Message::quoted("1 of 3 members is ready"),
        );
        assert_eq!(third.all()[0].last_transition_time.0, at(30));
        assert_eq!(third.all().len(), 1);
        let mut fourth = Conditions::new(third.all(), 2, at(40));
        fourth.set(
            "Available",
            Truth::Unknown,
            Reason::FactUnknown,
            Message::quoted("nobody reports"),
        );
        assert_eq!(fourth.all()[0].status, "Unknown");
        assert_eq!(fourth.all()[0].last_transition_time.0, at(40));
    }
}
