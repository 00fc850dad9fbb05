//! How long to wait before something is asked again: longer each time, until it
//! has gone well for a while.

use std::time::Duration;
use tokio::time::Instant;

/// The first wait.
const SHORTEST: Duration = Duration::from_millis(500);
/// No wait is longer.
const LONGEST: Duration = Duration::from_secs(15);

/// See the module.
#[derive(Clone, Copy, Debug)]
pub struct Backoff {
    wait: Duration,
    began: Instant,
}

impl Default for Backoff {
    fn default() -> Self {
        Self { wait: SHORTEST, began: Instant::now() }
    }
}

impl Backoff {
    /// The time to wait now. What lasted longer than the longest wait has gone well.
    pub fn pause(&mut self) -> Duration {
        let went_well = self.began.elapsed() > self.wait + LONGEST;
        let wait = if went_well { SHORTEST } else { self.wait };
        self.wait = (wait * 2).min(LONGEST);
        self.began = Instant::now();
        wait
    }
}
