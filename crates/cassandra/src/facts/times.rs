//! Times that other machines wrote: an agent, or a leader before this one.

use super::Facts;
use jiff::{SignedDuration, Timestamp};

impl Facts<'_> {
    /// When a wait is over that counts from a time which another machine wrote
    /// (safety rule 7.7). Where that clock is further ahead than the wait is
    /// long, or behind, it counts from when the answer was asked for, by the
    /// operator's own clock, if that is known.
    pub fn again(
        &self,
        written: Timestamp,
        asked: Option<Timestamp>,
        wait: SignedDuration,
    ) -> Timestamp {
        over(self.now(), written, asked, wait)
    }
}

fn over(
    now: Timestamp,
    written: Timestamp,
    asked: Option<Timestamp>,
    wait: SignedDuration,
) -> Timestamp {
    let is_credible = |time: &Timestamp| *time <= now + wait;
    // Nothing answers before it was asked: such a clock is behind.
    let from = [Some(written), asked].into_iter().flatten().filter(is_credible).max();
    from.map_or(now, |from| from + wait)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_wait_is_longer_than_twice_its_length_whatever_the_clock_of_another_machine_says() {
        let at = |second| Timestamp::from_second(second).unwrap();
        let wait = SignedDuration::from_secs(5);
        let over = |written, asked: Option<i64>| over(at(100), at(written), asked.map(at), wait);
        assert_eq!(over(98, Some(90)), at(103), "a clock like ours");
        assert_eq!(over(104, Some(90)), at(109), "a little ahead");
        assert_eq!(over(9_000, Some(99)), at(104), "far ahead: from when it was asked for");
        assert_eq!(over(9_000, None), at(100), "that is not known");
        assert_eq!(over(9_000, Some(9_000)), at(100), "and whoever asked was ahead as well");
        assert_eq!(over(0, Some(98)), at(103), "behind: nothing answers before it was asked");
    }
}
