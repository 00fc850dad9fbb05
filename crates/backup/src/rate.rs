//! How fast a member may send, so that readers and writers of the database do not
//! feel it: halved where they do or where it is not known, else a tenth more.

/// A figure of the server, now and as it was before the backup.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Signal {
    /// Now; none if the server has not said it.
    pub now: Option<u64>,
    /// Its median before; none if it was never known.
    pub before: Option<u64>,
}

/// What the server says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Signals {
    /// The 99th percentile of reads, in microseconds.
    pub read: Signal,
    /// Of writes.
    pub write: Signal,
    /// Compactions that wait.
    pub compactions: Signal,
}

/// Between which rates, in bytes a second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Never more; none is as fast as it goes.
    pub most: Option<u64>,
    /// Never less, or a backup would not end.
    pub least: u64,
}

impl Limits {
    /// This rate, or the next one that is allowed.
    pub fn within(&self, rate: u64) -> u64 {
        rate.max(self.least).min(self.most.unwrap_or(u64::MAX))
    }
}

/// An answer that takes less is fast, whatever it took before.
const FAST: u64 = 2000;
/// So many compactions wait on a server that keeps up.
const FEW: u64 = 20;

/// The rate of the next five seconds.
pub fn next_rate(previous: u64, signals: &Signals, limits: &Limits) -> u64 {
    limits.within(match signals.felt().contains(&true) {
        true => previous / 2,
        false => previous.saturating_add(previous.div_ceil(10)),
    })
}

impl Signals {
    /// Which of reads, writes and compactions show that it is too fast, or are not known.
    pub fn felt(&self) -> [bool; 3] {
        let slow = |signal: &Signal| {
            exceeds(signal, |now, before| {
                now > FAST && now.saturating_mul(2) > before.saturating_mul(3)
            })
        };
        let many = |now: u64, before: u64| now > FEW && now > before.saturating_mul(2);
        [slow(&self.read), slow(&self.write), exceeds(&self.compactions, many)]
    }
}

/// What is not known is taken for too much.
fn exceeds(signal: &Signal, is_more: impl Fn(u64, u64) -> bool) -> bool {
    match (signal.now, signal.before) {
        (Some(now), Some(before)) => is_more(now, before),
        (None, _) | (_, None) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits { most: Some(10_000), least: 100 };

    fn signals(read: u64, compactions: u64) -> Signals {
        let signal = |now, before| Signal { now: Some(now), before: Some(before) };
        let (read, write) = (signal(read, 1500), signal(900, 800));
        Signals { read, write, compactions: signal(compactions, 15) }
    }

    #[test]
    fn it_halves_where_the_database_feels_it_and_grows_by_a_tenth_else() {
        let next = |previous, signals: Signals| next_rate(previous, &signals, &LIMITS);
        assert_eq!(next(1000, signals(1500, 15)), 1100);
        assert_eq!(next(1000, signals(2250, 15)), 1100, "1.5 times is not more than 1.5 times");
        assert_eq!(next(1000, signals(2251, 15)), 500);
        assert_eq!(next(1000, signals(1999, 15)), 1100);
        assert_eq!((next(1000, signals(1, 30)), next(1000, signals(1, 31))), (1100, 500));
        let mut unknown = signals(1, 1);
        unknown.write.now = None;
        assert_eq!(next(1000, unknown), 500, "what is not known is no reason to hurry");
    }

    #[test]
    fn it_stays_between_its_limits_and_never_stops() {
        let felt = Signals::default();
        assert_eq!(next_rate(150, &felt, &LIMITS), 100);
        assert_eq!(next_rate(9999, &signals(1, 1), &LIMITS), 10_000);
        let none = Limits { most: None, least: 0 };
        assert_eq!(next_rate(u64::MAX, &signals(1, 1), &none), u64::MAX);
        assert_eq!(next_rate(1, &signals(1, 1), &none), 2);
    }
}
