//! Fault injection: end the process before or after its N-th write, so that a
//! test can show that every half-done plan is resumed from the world; or stop it
//! there, as a frozen machine does, until somebody sends it SIGCONT.
//!
//! Set by environment, for tests only: `PALLADION_FAULT_EXIT_BEFORE_WRITES=n`,
//! `PALLADION_FAULT_EXIT_AFTER_WRITES=n`, `PALLADION_FAULT_STOP_BEFORE_WRITES=n`,
//! `PALLADION_FAULT_STOP_BEFORE_LOCKED_WRITES=n`. Writes of objects and of status
//! count, in the order in which they are sent; events and the lease do not. Of
//! the last one only those count that need the region lock, right after its store
//! was asked.

use rustix::process::{Signal, getpid, kill_process};
use std::sync::atomic::{AtomicU64, Ordering};

/// Exit code of a process that ended itself on purpose; as after SIGKILL.
const EXIT_CODE: i32 = 137;

/// When to end or to stop the process.
#[derive(Debug)]
pub struct Faults {
    at: At,
    sent: AtomicU64,
    locked: AtomicU64,
    answered: AtomicU64,
    end: fn(),
    stop: fn(),
}

/// Numbers of writes.
#[derive(Debug, Default)]
struct At {
    end_before: Option<u64>,
    end_after: Option<u64>,
    stop_before: Option<u64>,
    stop_before_locked: Option<u64>,
}

impl Faults {
    /// As the environment says; none, as a rule.
    pub fn from_environment() -> Self {
        let read = |name: &str| std::env::var(name).ok().and_then(|n| n.parse().ok());
        let at = At {
            end_before: read("PALLADION_FAULT_EXIT_BEFORE_WRITES"),
            end_after: read("PALLADION_FAULT_EXIT_AFTER_WRITES"),
            stop_before: read("PALLADION_FAULT_STOP_BEFORE_WRITES"),
            stop_before_locked: read("PALLADION_FAULT_STOP_BEFORE_LOCKED_WRITES"),
        };
        Self::new(at, || std::process::exit(EXIT_CODE), stop)
    }

    fn new(at: At, end: fn(), stop: fn()) -> Self {
        let [sent, locked, answered] = [const { AtomicU64::new(0) }; 3];
        Self { at, sent, locked, answered, end, stop }
    }

    /// A write is about to be sent. To be called before the term is checked: a
    /// process that was stopped here must find its term over.
    pub fn before_write(&self) {
        let number = self.sent.fetch_add(1, Ordering::SeqCst) + 1;
        if self.at.stop_before == Some(number) {
            (self.stop)();
        }
        if self.at.end_before == Some(number) {
            (self.end)();
        }
    }

    /// The store has just said that the lock is ours, which the next write needs.
    pub fn before_locked_write(&self) {
        let number = self.locked.fetch_add(1, Ordering::SeqCst) + 1;
        if self.at.stop_before_locked == Some(number) {
            (self.stop)();
        }
    }

    /// A write was answered.
    pub fn after_write(&self) {
        let number = self.answered.fetch_add(1, Ordering::SeqCst) + 1;
        if self.at.end_after == Some(number) {
            (self.end)();
        }
    }
}

/// Every thread, that of the Lease as well.
fn stop() {
    tracing::warn!("stopping here, as a fault injection asks");
    if let Err(error) = kill_process(getpid(), Signal::STOP) {
        tracing::error!(error = %error, "cannot stop");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static ENDS: AtomicU64 = AtomicU64::new(0);
    static STOPS: AtomicU64 = AtomicU64::new(0);

    fn end() {
        ENDS.fetch_add(1, Ordering::SeqCst);
    }

    #[test]
    fn the_process_ends_once_at_the_write_that_was_named() {
        let at = At {
            end_before: Some(2),
            end_after: Some(3),
            stop_before: Some(4),
            stop_before_locked: Some(2),
        };
        let faults = Faults::new(at, end, || {
            STOPS.fetch_add(1, Ordering::SeqCst);
        });
        let mut ends = Vec::new();
        for _ in 0..4 {
            faults.before_write();
            ends.push(ENDS.load(Ordering::SeqCst));
            faults.after_write();
            ends.push(ENDS.load(Ordering::SeqCst));
        }
        assert_eq!(ends, [0, 0, 1, 1, 1, 2, 2, 2]);
        assert_eq!(STOPS.load(Ordering::SeqCst), 1);
        faults.before_locked_write();
        assert_eq!(STOPS.load(Ordering::SeqCst), 1, "the first that needs the lock goes on");
        faults.before_locked_write();
        assert_eq!(STOPS.load(Ordering::SeqCst), 2);
    }
}
