//! How fast a member repairs: it pauses after each segment. What is due should be
//! done in time and no sooner, so that its clients feel little of it.

use super::pressure::Load;
use std::time::Duration;

/// No member repairs for less than this share of the time: what was begun ends.
const LEAST: f64 = 0.1;
/// What is over so soon has no pauses: nobody would feel them, and whoever waits for
/// it would.
const SHORT: Duration = Duration::from_secs(60);

/// How fast it should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Intensity {
    /// As fast as it goes.
    Full,
    /// For this share of the time.
    Percent(u8),
    /// So that it takes so long in all, work and pauses.
    Within(Duration),
}

/// Is there time left until ranges are late?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Urgency {
    /// There is.
    InTime,
    /// They are.
    Late,
}

/// What was done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SoFar {
    /// Time in segments.
    pub work: Duration,
    /// Time in pauses.
    pub pauses: Duration,
    /// Segments that are over.
    pub done: u32,
    /// Segments that are left.
    pub left: u32,
}

impl SoFar {
    /// Work that is left, if segments go on as they went.
    fn work_left(&self) -> Duration {
        self.work / self.done.max(1) * self.left
    }
}

/// The share of the time for which it repairs now.
pub fn share(intensity: Intensity, so_far: &SoFar, load: Load, urgency: Urgency) -> f64 {
    let wanted = match intensity {
        Intensity::Full => 1.0,
        // What a person has set is kept also when it is late.
        Intensity::Percent(percent) => f64::from(percent) / 100.0,
        Intensity::Within(time) => match urgency {
            Urgency::Late => 1.0,
            Urgency::InTime => of_time(time, so_far),
        },
    };
    match (load, urgency) {
        (Load::High, Urgency::InTime) => wanted.min(LEAST),
        (Load::High, Urgency::Late) | (Load::Usual, _) => wanted,
    }
}

fn of_time(time: Duration, so_far: &SoFar) -> f64 {
    let work = so_far.work_left();
    let left = time.saturating_sub(so_far.work + so_far.pauses);
    if work < SHORT || left <= work {
        return 1.0;
    }
    (work.as_secs_f64() / left.as_secs_f64()).clamp(LEAST, 1.0)
}

/// The pause after a segment that has taken so long.
pub fn pause(share: f64, segment: Duration) -> Duration {
    segment.mul_f64(1.0 / share.clamp(LEAST, 1.0) - 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

    fn so_far(done: u32, left: u32, pauses: Duration) -> SoFar {
        SoFar { work: MINUTE * done, pauses, done, left }
    }

    fn of(intensity: Intensity, so_far: &SoFar) -> f64 {
        share(intensity, so_far, Load::Usual, Urgency::InTime)
    }

    #[test]
    fn a_pause_makes_up_for_the_share() {
        assert_eq!(pause(1.0, MINUTE), Duration::ZERO);
        assert_eq!(pause(0.5, MINUTE), MINUTE);
        assert_eq!(pause(0.1, MINUTE), MINUTE * 9);
        assert_eq!(pause(0.0, MINUTE), MINUTE * 9, "never less than a tenth");
    }

    #[test]
    fn what_is_due_is_spread_over_the_time_that_there_is() {
        let within = |minutes| Intensity::Within(MINUTE * minutes);
        let started = so_far(10, 90, Duration::ZERO);
        assert_eq!(of(within(190), &started), 0.5, "90 minutes of work in 180");
        assert_eq!(of(within(100), &started), 1.0, "there is just time");
        assert_eq!(of(within(10_000), &started), LEAST);
        assert_eq!(of(within(5), &started), 1.0, "the time is over");
        assert_eq!(of(within(10_000), &so_far(10, 0, Duration::ZERO)), 1.0, "nothing is left");
        let fast = SoFar { work: Duration::from_secs(20), done: 20, left: 50, ..SoFar::default() };
        assert_eq!(of(within(10_000), &fast), 1.0, "it is over within a minute");
    }

    /// Paused so from the first segment on, all is done when the time is over.
    #[test]
    fn it_ends_when_it_should() {
        for minutes in [200, 400, 800] {
            let mut so_far = so_far(1, 99, Duration::ZERO);
            while so_far.left > 0 {
                let share = of(Intensity::Within(MINUTE * minutes), &so_far);
                so_far.pauses += pause(share, MINUTE);
                so_far.work += MINUTE;
                so_far.done += 1;
                so_far.left -= 1;
            }
            let took = so_far.work + so_far.pauses;
            assert!(took <= MINUTE * minutes, "{took:?} of {minutes} minutes");
            assert!(took >= MINUTE * minutes * 9 / 10, "{took:?} of {minutes} minutes");
        }
    }

    #[test]
    fn a_server_that_has_much_to_do_is_spared_unless_it_is_late() {
        let started = so_far(10, 90, Duration::ZERO);
        let within = Intensity::Within(MINUTE * 190);
        let high = |intensity, urgency| share(intensity, &started, Load::High, urgency);
        assert_eq!(high(within, Urgency::InTime), LEAST);
        assert_eq!(high(Intensity::Full, Urgency::InTime), LEAST);
        assert_eq!(high(within, Urgency::Late), 1.0);
        assert_eq!(high(Intensity::Percent(30), Urgency::Late), 0.3, "as a person says");
        assert_eq!(high(Intensity::Percent(30), Urgency::InTime), LEAST);
        assert_eq!(of(Intensity::Percent(30), &started), 0.3);
    }
}
