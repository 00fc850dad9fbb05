//! Fault injection: end the process before or after its N-th write, so that a
//! test can show that every half-done plan is resumed from the world.
//!
//! Set by environment, for tests only: `PALLADION_FAULT_EXIT_BEFORE_WRITES=n`
//! and `PALLADION_FAULT_EXIT_AFTER_WRITES=n`. Writes of objects and of status
//! count, in the order in which they are sent; events and the lease do not.

use std::sync::atomic::{AtomicU64, Ordering};

/// Exit code of a process that ended itself on purpose; as after SIGKILL.
const EXIT_CODE: i32 = 137;

/// When to end the process.
#[derive(Debug)]
pub struct Faults {
    before: Option<u64>,
    after: Option<u64>,
    sent: AtomicU64,
    answered: AtomicU64,
    end: fn(),
}

impl Faults {
    /// As the environment says; none, as a rule.
    pub fn from_environment() -> Self {
        let read = |name: &str| std::env::var(name).ok().and_then(|n| n.parse().ok());
        Self::new(
            read("PALLADION_FAULT_EXIT_BEFORE_WRITES"),
            read("PALLADION_FAULT_EXIT_AFTER_WRITES"),
            || std::process::exit(EXIT_CODE),
        )
    }

    fn new(before: Option<u64>, after: Option<u64>, end: fn()) -> Self {
        Self { before, after, sent: AtomicU64::new(0), answered: AtomicU64::new(0), end }
    }

    /// A write is about to be sent.
    pub fn before_write(&self) {
        let number = self.sent.fetch_add(1, Ordering::SeqCst) + 1;
        if self.before == Some(number) {
            (self.end)();
        }
    }

    /// A write was answered.
    pub fn after_write(&self) {
        let number = self.answered.fetch_add(1, Ordering::SeqCst) + 1;
        if self.after == Some(number) {
            (self.end)();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static ENDS: AtomicU64 = AtomicU64::new(0);

    fn end() {
        ENDS.fetch_add(1, Ordering::SeqCst);
    }

    #[test]
    fn the_process_ends_once_at_the_write_that_was_named() {
        let faults = Faults::new(Some(2), Some(3), end);
        let mut ends = Vec::new();
        for _ in 0..4 {
            faults.before_write();
            ends.push(ENDS.load(Ordering::SeqCst));
            faults.after_write();
            ends.push(ENDS.load(Ordering::SeqCst));
        }
        assert_eq!(ends, [0, 0, 1, 1, 1, 2, 2, 2]);
    }
}
