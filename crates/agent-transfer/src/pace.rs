//! How fast a transfer may be now: every five seconds what the server says of its clients is
//! compared with what it said before the transfer began.

pub use palladion_backup::rate::Limits;
use palladion_backup::rate::{Signal, Signals, next_rate};
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// So often a rate changes, and a figure is remembered.
const STEP: Duration = Duration::from_secs(5);
/// What the server said longer ago is not known any more.
const FRESH: Duration = Duration::from_secs(15);
/// Figures of an hour.
const REMEMBERED: usize = 720;
/// A percentile forgets half of what made it in 60 s (Cassandra's
/// `DecayingEstimatedHistogramReservoir`): for so long one that does not rise may say nothing new.
const RECALL: Duration = Duration::from_secs(30);
/// Without those of a minute nobody knows what is usual.
const ENOUGH: usize = 12;

/// What a server says of itself; none of what it has not said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Said {
    /// The 99th percentile of reads of clients, in microseconds.
    pub read: Option<u64>,
    /// Of writes.
    pub write: Option<u64>,
    /// Compactions that wait.
    pub compactions: Option<u64>,
}

impl Said {
    /// Is one of the figures that are felt higher than before, or not known?
    fn is_worse_than(self, before: Said, felt: [bool; 3]) -> bool {
        let pairs = [
            (self.read, before.read),
            (self.write, before.write),
            (self.compactions, before.compactions),
        ];
        let is_worse = |(now, before): (Option<u64>, Option<u64>)| match (now, before) {
            (Some(now), Some(before)) => now > before,
            (None, _) | (_, None) => true,
        };
        pairs.into_iter().zip(felt).any(|(pair, is_felt)| is_felt && is_worse(pair))
    }
}

/// Figures of a kind, as they are while nothing is sent.
#[derive(Clone, Debug, Default)]
struct Usual(VecDeque<u64>);

impl Usual {
    fn note(&mut self, figure: Option<u64>) {
        self.0.extend(figure);
        while self.0.len() > REMEMBERED {
            self.0.pop_front();
        }
    }

    fn is_known(&self) -> bool {
        self.0.len() >= ENOUGH
    }

    fn median(&self) -> Option<u64> {
        let mut sorted: Vec<u64> = self.0.iter().copied().collect();
        sorted.sort_unstable();
        self.is_known().then(|| sorted[sorted.len() / 2])
    }
}

/// What runs.
#[derive(Clone, Copy, Debug)]
struct Running {
    rate: u64,
    since: Instant,
    /// Milliseconds for which it had waited by then, so as not to be faster.
    waited: u64,
    /// When it was made slower last, and for which figures.
    slowed: Option<(Instant, Said)>,
}

/// What the server has said, and the rate of what runs.
#[derive(Clone, Debug, Default)]
pub struct Pace {
    reads: Usual,
    writes: Usual,
    compactions: Usual,
    noted: Option<Instant>,
    said: Option<(Said, Instant)>,
    running: Option<Running>,
    is_part_of_one: bool,
}

impl Pace {
    /// The server was asked, and has said this.
    pub fn hear(&mut self, said: Said, now: Instant) {
        self.said = Some((said, now));
        let is_due = self.noted.is_none_or(|at| now.duration_since(at) >= STEP);
        if is_due && self.is_usual() {
            self.noted = Some(now);
            self.reads.note(said.read);
            self.writes.note(said.write);
            self.compactions.note(said.compactions);
        }
    }

    /// Is what it says now worth remembering? What is felt of a transfer is not usual; but where
    /// nobody knows what is, that of one at its least rate is better than nothing.
    fn is_usual(&self) -> bool {
        let all = [&self.reads, &self.writes, &self.compactions];
        (self.running.is_none() && !self.is_part_of_one)
            || !all.iter().all(|usual| usual.is_known())
    }

    /// Nothing is sent from here that has to follow the server. Is this member part of a backup
    /// all the same? Then what its clients feel may come of what other members send.
    pub fn rest(&mut self, is_part_of_one: bool) {
        self.running = None;
        self.is_part_of_one = is_part_of_one;
    }

    /// The rate of what runs, which so far has waited for so many milliseconds so as not to be
    /// faster. It begins with the least.
    pub fn rate(&mut self, limits: &Limits, waited: u64, now: Instant) -> u64 {
        let least = limits.within(limits.least);
        let first = Running { rate: least, since: now, waited, slowed: None };
        let mut running = self.running.unwrap_or(first);
        if now.duration_since(running.since) >= STEP {
            let said = self.fresh(now);
            let signals = self.signals(said);
            let next = next_rate(running.rate, &signals, limits);
            let is_old = |(at, before): (Instant, Said)| {
                now.duration_since(at) < RECALL && !said.is_worse_than(before, signals.felt())
            };
            // One that was begun again counts anew.
            let was_in_the_way = waited != running.waited && waited > 0;
            if next < running.rate {
                if !running.slowed.is_some_and(is_old) {
                    (running.rate, running.slowed) = (next, Some((now, said)));
                }
            } else if was_in_the_way {
                // A rate that nothing comes near says nothing of what the server bears.
                running.rate = next;
            }
            (running.since, running.waited) = (now, waited);
        }
        running.rate = limits.within(running.rate);
        self.running = Some(running);
        running.rate
    }

    /// What it has said lately.
    fn fresh(&self, now: Instant) -> Said {
        let fresh = self.said.filter(|(_, at)| now.duration_since(*at) < FRESH);
        fresh.map(|(said, _)| said).unwrap_or_default()
    }

    fn signals(&self, said: Said) -> Signals {
        let signal = |now, usual: &Usual| Signal { now, before: usual.median() };
        Signals {
            read: signal(said.read, &self.reads),
            write: signal(said.write, &self.writes),
            compactions: signal(said.compactions, &self.compactions),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits { most: Some(100_000), least: 1000 };
    const USUAL: Said = Said { read: Some(900), write: Some(700), compactions: Some(3) };
    const SLOW: Said = Said { read: Some(9000), ..USUAL };

    fn slow(read: u64) -> Said {
        Said { read: Some(read), ..USUAL }
    }

    struct Server {
        pace: Pace,
        now: Instant,
        waited: u64,
    }

    impl Server {
        fn new() -> Self {
            Self { pace: Pace::default(), now: Instant::now(), waited: 0 }
        }

        fn at_rest(mut self, looks: usize) -> Self {
            for _ in 0..looks {
                self.pace.hear(USUAL, self.now);
                self.now += STEP;
            }
            self
        }

        /// Five seconds of a transfer that is kept back.
        fn sends(&mut self, said: Said) -> u64 {
            self.waited += 100;
            self.sends_freely(said)
        }

        fn sends_freely(&mut self, said: Said) -> u64 {
            self.pace.hear(said, self.now);
            let rate = self.pace.rate(&LIMITS, self.waited, self.now);
            self.now += STEP;
            rate
        }
    }

    #[test]
    fn it_begins_slowly_and_grows_until_clients_feel_it() {
        let mut server = Server::new().at_rest(ENOUGH);
        let rates: Vec<u64> = (0..4).map(|_| server.sends(USUAL)).collect();
        assert_eq!(rates, [1000, 1100, 1210, 1331]);
        assert_eq!(server.sends(SLOW), 1000, "half of it is less than the least");
        for _ in 0..100 {
            server.sends(USUAL);
        }
        assert_eq!(server.sends(USUAL), 100_000);
        let rates: Vec<u64> = (1..4).map(|n| server.sends(slow(n * 5000))).collect();
        assert_eq!(rates, [50_000, 25_000, 12_500]);
        let many = Said { compactions: Some(21), ..USUAL };
        assert_eq!(server.sends(many), 6250);
    }

    #[test]
    fn a_stall_that_a_percentile_remembers_is_not_felt_each_time_anew() {
        let mut server = Server::new().at_rest(ENOUGH);
        for _ in 0..100 {
            server.sends(USUAL);
        }
        // One stall: the figure falls for two minutes, and is too high for all of them. What the
        // others do nobody feels.
        let fading = |n: u64| Said {
            write: Some(700 + n),
            compactions: Some(n % 5),
            ..slow(9000 - n * 100)
        };
        let rates: Vec<u64> = (0..24).map(|n| server.sends(fading(n))).collect();
        assert_eq!(rates.first(), Some(&50_000));
        assert_eq!(rates.last(), Some(&6250), "four times in 120 s: {rates:?}");
        // Once more, and worse.
        assert_eq!(server.sends(slow(9500)), 3125);
        assert_eq!(server.sends(slow(9600)), 1562);
    }

    #[test]
    fn what_the_backup_of_other_members_makes_of_the_server_is_not_taken_for_usual() {
        let mut server = Server::new().at_rest(ENOUGH);
        server.pace.rest(true);
        for _ in 0..REMEMBERED {
            server.pace.hear(SLOW, server.now);
            server.now += STEP;
        }
        server.sends(USUAL);
        assert_eq!(server.sends(SLOW), 1000);
        assert_eq!(server.pace.reads.median(), USUAL.read);
    }

    #[test]
    fn what_a_transfer_makes_of_the_server_is_not_taken_for_usual() {
        let mut server = Server::new().at_rest(ENOUGH);
        for _ in 0..REMEMBERED {
            assert_eq!(server.sends(SLOW), 1000);
        }
        server.pace.rest(false);
        let mut server = server.at_rest(1);
        server.sends(USUAL);
        assert_eq!(server.sends(USUAL), 1100);
    }

    #[test]
    fn what_is_not_known_is_no_reason_to_hurry() {
        let mut server = Server::new();
        // An agent that was just started: what is usual it learns at the least rate.
        let rates: Vec<u64> = (0..ENOUGH).map(|_| server.sends(USUAL)).collect();
        assert!(rates[..ENOUGH - 1].iter().all(|rate| *rate == 1000), "{rates:?}");
        assert!(server.sends(USUAL) > 1000);
        for _ in 0..20 {
            server.sends(USUAL);
        }
        let before = server.sends(USUAL);
        let silent = Said { write: None, ..USUAL };
        assert_eq!(server.sends(silent), before / 2);
        // It is not asked any more, or does not answer.
        server.now += FRESH;
        server.waited += 100;
        assert_eq!(server.pace.rate(&LIMITS, server.waited, server.now), before / 4);
    }

    #[test]
    fn a_rate_that_is_not_used_does_not_grow() {
        let mut server = Server::new().at_rest(ENOUGH);
        server.sends(USUAL);
        let rate = server.sends(USUAL);
        assert_eq!(server.sends_freely(USUAL), rate);
        assert_eq!(server.sends_freely(USUAL), rate);
        assert!(server.sends(USUAL) > rate);
    }

    #[test]
    fn limits_that_change_count_at_once() {
        let mut server = Server::new().at_rest(ENOUGH);
        server.sends(USUAL);
        let rate = |server: &mut Server, most, least| {
            server.pace.rate(&Limits { most, least }, server.waited, server.now)
        };
        assert_eq!(rate(&mut server, None, 5000), 5000);
        assert_eq!(rate(&mut server, Some(300), 5000), 300, "the most counts");
    }
}
