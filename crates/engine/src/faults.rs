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
#[derive(Debug, Default)]
pub struct Faults {
    before: Option<u64>,
    after: Option<u64>,
    writes: AtomicU64,
}

impl Faults {
    /// As the environment says; none, as a rule.
    pub fn from_environment() -> Self {
        let read = |name: &str| std::env::var(name).ok().and_then(|n| n.parse().ok());
        Self {
            before: read("PALLADION_FAULT_EXIT_BEFORE_WRITES"),
            after: read("PALLADION_FAULT_EXIT_AFTER_WRITES"),
            writes: AtomicU64::new(0),
        }
    }

    /// A write is about to be sent.
    pub fn before_write(&self) {
        let number = self.writes.fetch_add(1, Ordering::SeqCst) + 1;
        end_if(self.before == Some(number));
    }

    /// A write was answered.
    pub fn after_write(&self) {
        end_if(self.after == Some(self.writes.load(Ordering::SeqCst)));
    }
}

/// At once, without any clean-up: as if the machine had lost its power.
fn end_if(due: bool) {
    if due {
        std::process::exit(EXIT_CODE);
    }
}
