//! How often a server is asked about a job, and how long it is waited for.

use std::time::Duration;

/// Times of jobs. Tests are in more of a hurry.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// How often a rewrite is looked at.
    pub look: Duration,
    /// How often what is to stop is stopped, until the call returns.
    pub stop: Duration,
    /// How often a table that other work holds is tried again.
    pub again: Duration,
    /// How long it is tried.
    pub busy: Duration,
    /// How often a repair is looked at that runs for long.
    pub repair: Duration,
    /// How long a repair that was just begun may be unknown to the server.
    pub early: Duration,
    /// How long a repair that is asked to end may take, how long a rewrite of which nothing
    /// shows that could be stopped, and how long a call after a stop that cannot be stopped.
    pub ends: Duration,
    /// How long a segment of a repair may take: then it is ended and cut in halves.
    pub segment: Duration,
    /// After how long a segment that has failed is tried again.
    pub retry: Duration,
    /// How long it is waited for where the ring or its schema cannot be told.
    pub unclear: Duration,
    /// How often a repair that waits for a grant looks who is up.
    pub grant: Duration,
    /// How long it waits for members that have copies to be up again.
    pub alone: Duration,
    /// How often a call that nobody waits for is looked at.
    pub orphan: Duration,
    /// How long nothing of it must be seen until it counts as over: a rewrite may
    /// wait a minute for other compactions to end before it shows.
    pub quiet: Duration,
    /// How long servers may disagree on the schema before a keyspace is altered, and after it.
    pub agreement: Duration,
}

/// The first look at a repair that was just begun. Many are of little, and a job may be of
/// hundreds, one after the other.
const FIRST_LOOK: Duration = Duration::from_millis(100);
/// So small a part of the time that a repair takes may pass until its end is seen.
const LATE: u32 = 8;
/// For as long as so many looks take a server may not answer them.
const LOOKS: u32 = 30;

impl Pace {
    /// After how long a repair is looked at again that has run for so long.
    pub fn repair_look(&self, runs: Duration) -> Duration {
        (runs / LATE).max(FIRST_LOOK).min(self.repair)
    }

    /// After how long in which all looks have failed nothing is known of a repair any more.
    pub fn repair_silence(&self) -> Duration {
        self.repair * LOOKS
    }
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            look: Duration::from_secs(10),
            stop: Duration::from_secs(1),
            again: Duration::from_secs(5),
            busy: Duration::from_secs(600),
            repair: Duration::from_secs(2),
            early: Duration::from_secs(10),
            ends: Duration::from_secs(300),
            segment: Duration::from_secs(1800),
            retry: Duration::from_secs(60),
            unclear: Duration::from_secs(600),
            grant: Duration::from_secs(10),
            alone: Duration::from_secs(600),
            orphan: Duration::from_secs(5),
            quiet: Duration::from_secs(65),
            agreement: Duration::from_secs(60),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repair_is_looked_at_seldom_when_it_takes_long_and_soon_when_it_does_not() {
        let pace = Pace::default();
        let look = |millis| pace.repair_look(Duration::from_millis(millis)).as_millis();
        assert_eq!([look(0), look(800), look(4_000), look(3_600_000)], [100, 100, 500, 2_000]);
        let hurried = Pace { repair: Duration::from_millis(5), ..pace };
        assert_eq!(hurried.repair_look(Duration::ZERO).as_millis(), 5, "never seldomer than asked");
    }
}
