//! Leadership: at most one process writes. Held by a Lease; its number of
//! transitions is the epoch, which grows with every change of leader, so that
//! the turn of a ring can refuse a former leader that wakes from a freeze.

pub mod candidacy;
pub mod evaluate;
pub mod holder;
pub mod run;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// The leadership of this process, for as long as it lasts.
#[derive(Clone, Debug)]
pub struct Term {
    /// Grows with every change of leader.
    pub epoch: i64,
    /// Judged by this process' own clock: the wall clock may jump.
    until: Arc<Mutex<Option<Instant>>>,
}

/// The leadership is over or in doubt: nothing may be written.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("the leadership of epoch {epoch} has ended; nothing is written any more")]
pub struct TermOver {
    epoch: i64,
}

impl Term {
    /// A term that ends unless it is renewed.
    pub fn new(epoch: i64, lasting: Duration) -> Self {
        Self { epoch, until: Arc::new(Mutex::new(Some(Instant::now() + lasting))) }
    }

    /// A term without an end, for a process that is alone by other means.
    pub fn unlimited(epoch: i64) -> Self {
        Self { epoch, until: Arc::new(Mutex::new(None)) }
    }

    /// It was renewed by a request that began at `asked`.
    pub fn renew(&self, asked: Instant, lasting: Duration) {
        *self.until.lock().unwrap_or_else(PoisonError::into_inner) = Some(asked + lasting);
    }

    /// It ends now.
    pub fn end(&self) {
        *self.until.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }

    /// May something be written now? To be asked before every write: a process
    /// that was frozen finds its time over when it wakes.
    pub fn check(&self) -> Result<(), TermOver> {
        match *self.until.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(until) if Instant::now() >= until => Err(TermOver { epoch: self.epoch }),
            Some(_) | None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_frozen_leader_may_not_write_when_it_wakes() {
        let term = Term::new(3, Duration::from_secs(10));
        assert_eq!(term.check(), Ok(()));
        tokio::time::advance(Duration::from_secs(11)).await;
        assert_eq!(term.check(), Err(TermOver { epoch: 3 }));
    }

    #[tokio::test(start_paused = true)]
    async fn a_renewal_counts_from_when_it_was_asked_and_not_from_when_it_was_answered() {
        let term = Term::new(3, Duration::from_secs(10));
        let asked = Instant::now();
        tokio::time::advance(Duration::from_secs(9)).await;
        term.renew(asked, Duration::from_secs(10));
        tokio::time::advance(Duration::from_secs(2)).await;
        assert!(term.check().is_err());
    }
}
