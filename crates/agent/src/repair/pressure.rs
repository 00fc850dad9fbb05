//! Whether a server has more to do than it gets done, by what each look at it shows.

use crate::admin::Figures;
use std::collections::VecDeque;

/// More pending compactions than this are too many,
const MANY: f64 = 20.0;
/// until there are fewer than this: between the two it stays as it was.
const FEW: f64 = 10.0;
/// Looks of about an hour at rest, one each five seconds.
const REMEMBERED: usize = 720;
/// Without so many of them nobody knows what is usual: some minutes.
const ENOUGH: usize = 60;
/// A 99th percentile of writes below this is fast, however often it doubles: microseconds.
const FAST: f64 = 20_000.0;
/// After a look that showed dropped or slow writes it takes so many good ones.
const HELD: u32 = 12;

/// How much a server has to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Load {
    /// As much as it gets done.
    #[default]
    Usual,
    /// More than that.
    High,
}

/// What looks have shown.
#[derive(Clone, Debug, Default)]
pub struct Watched {
    is_behind: bool,
    dropped: Option<f64>,
    slow: u32,
    latencies: VecDeque<f64>,
}

impl Watched {
    /// One more look.
    pub fn note(&mut self, figures: &Figures) -> Load {
        self.is_behind = match figures.pending_compactions {
            Some(pending) if pending > MANY => true,
            Some(pending) if pending < FEW => false,
            Some(_) | None => self.is_behind,
        };
        let drops = match (self.dropped, figures.dropped_writes) {
            // A server that was restarted counts from the beginning.
            (Some(before), Some(now)) => now > before,
            (None, _) | (_, None) => false,
        };
        self.dropped = figures.dropped_writes.or(self.dropped);
        let is_slow = figures.write_p99.is_some_and(|now| self.is_slow(now));
        self.remember(figures.write_p99);
        self.slow = match drops || is_slow {
            true => HELD,
            false => self.slow.saturating_sub(1),
        };
        match self.is_behind || self.slow > 0 {
            true => Load::High,
            false => Load::Usual,
        }
    }

    fn is_slow(&self, now: f64) -> bool {
        if now < FAST || self.latencies.len() < ENOUGH {
            return false;
        }
        let mut sorted: Vec<f64> = self.latencies.iter().copied().collect();
        sorted.sort_by(f64::total_cmp);
        now > 2.0 * sorted[sorted.len() / 2]
    }

    fn remember(&mut self, latency: Option<f64>) {
        self.latencies.extend(latency.filter(|latency| latency.is_finite()));
        while self.latencies.len() > REMEMBERED {
            self.latencies.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pending(pending: f64) -> Figures {
        Figures { pending_compactions: Some(pending), ..Figures::default() }
    }

    fn writes(p99: f64) -> Figures {
        Figures { write_p99: Some(p99), ..Figures::default() }
    }

    fn dropped(count: f64) -> Figures {
        Figures { dropped_writes: Some(count), ..Figures::default() }
    }

    #[test]
    fn pending_compactions_are_too_many_until_they_are_few() {
        let mut watched = Watched::default();
        let loads = [5.0, 20.0, 21.0, 15.0, 10.0, 9.0, 15.0].map(|n| watched.note(&pending(n)));
        let (usual, high) = (Load::Usual, Load::High);
        assert_eq!(loads, [usual, usual, high, high, high, usual, usual]);
        watched.note(&pending(30.0));
        assert_eq!(watched.note(&Figures::default()), high, "not known is as before");
    }

    #[test]
    fn dropped_writes_count_while_they_get_more_and_for_a_while_after() {
        let mut watched = Watched::default();
        assert_eq!(watched.note(&dropped(7.0)), Load::Usual, "of some time before");
        assert_eq!(watched.note(&dropped(7.0)), Load::Usual);
        assert_eq!(watched.note(&dropped(8.0)), Load::High);
        for look in 1..HELD {
            assert_eq!(watched.note(&dropped(8.0)), Load::High, "{look}");
        }
        assert_eq!(watched.note(&dropped(8.0)), Load::Usual);
        assert_eq!(watched.note(&dropped(0.0)), Load::Usual, "it was restarted");
        assert_eq!(watched.note(&dropped(1.0)), Load::High);
    }

    #[test]
    fn writes_are_slow_that_take_twice_as_long_as_usual() {
        let mut watched = Watched::default();
        assert_eq!(watched.note(&writes(900_000.0)), Load::Usual, "nobody knows what is usual");
        for _ in 0..ENOUGH {
            assert_eq!(watched.note(&writes(15_000.0)), Load::Usual);
        }
        assert_eq!(watched.note(&writes(29_000.0)), Load::Usual);
        assert_eq!(watched.note(&writes(31_000.0)), Load::High);
        for _ in 1..HELD {
            assert_eq!(watched.note(&writes(15_000.0)), Load::High);
        }
        assert_eq!(watched.note(&writes(15_000.0)), Load::Usual);
        let mut fast = Watched::default();
        for _ in 0..ENOUGH {
            fast.note(&writes(500.0));
        }
        assert_eq!(fast.note(&writes(5_000.0)), Load::Usual, "five milliseconds are fast");
    }

    #[test]
    fn what_is_remembered_has_an_end() {
        let mut watched = Watched::default();
        for number in 0..2 * REMEMBERED {
            watched.note(&writes(number as f64));
        }
        assert_eq!(watched.latencies.len(), REMEMBERED);
    }
}
