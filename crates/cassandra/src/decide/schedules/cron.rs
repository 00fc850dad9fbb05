//! When a schedule runs: its five fields in its time zone. No clock; the time is
//! asked for. How clocks that are set forward and back count is said on
//! [`Times`] and tested here.

use crate::words::schedules::Invalid;
use croner::Cron;
use croner::parser::{CronParser, Seconds, Year};
use jiff::tz::{TimeZone, TimeZoneDatabase};
use jiff::{SignedDuration, Timestamp, Zoned};
use palladion_plan::words::Quoted;

/// When runs are due. A run at one time of the day that a clock leaves out, as it
/// is set forward, is due right after the gap, and one at a time that comes twice
/// is due the first time. Other patterns (lists, ranges, steps, `*`) follow the
/// clock: what it leaves out is left out, and what comes twice is due twice.
#[derive(Debug)]
pub struct Times {
    cron: Cron,
    zone: TimeZone,
}

impl Times {
    /// Read them.
    ///
    /// # Errors
    /// What of them is not valid, and how it could be.
    pub fn read(schedule: &str, time_zone: &str) -> Result<Self, Invalid> {
        let zone = zone(time_zone)?;
        let parser =
            CronParser::builder().seconds(Seconds::Disallowed).year(Year::Disallowed).build();
        let cron = parser.parse(schedule).map_err(|why| Invalid::Schedule {
            schedule: Quoted(schedule.to_string()),
            why: Quoted(why.to_string()),
        })?;
        Ok(Self { cron, zone })
    }

    /// The first run after this time; `None` if there is none.
    pub fn after(&self, time: Timestamp) -> Option<Timestamp> {
        let found = self.cron.find_next_occurrence(&self.here(time), false);
        found.ok().map(|found| found.timestamp())
    }

    /// The last run at this time or before it; `None` if there is none.
    pub fn until(&self, time: Timestamp) -> Option<Timestamp> {
        let found = self.cron.find_previous_occurrence(&self.here(time), true);
        found.ok().map(|found| found.timestamp())
    }

    /// Is there a run at exactly this time?
    pub fn is_run(&self, time: Timestamp) -> bool {
        let before = time.checked_sub(SignedDuration::from_secs(1));
        before.is_ok_and(|before| self.after(before) == Some(time))
    }

    fn here(&self, time: Timestamp) -> Zoned {
        time.to_zoned(self.zone.clone())
    }
}

/// A time zone by its name, of those that are built in: images of the operator have no zone
/// files, and what a machine has in its files must not decide.
///
/// # Errors
/// There is none of this name.
pub fn zone(name: &str) -> Result<TimeZone, Invalid> {
    let zone = TimeZoneDatabase::bundled().get(name);
    zone.map_err(|_| Invalid::TimeZone { time_zone: Quoted(name.to_string()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVENING: &str = "20:00:00Z";
    const NOON: &str = "12:00:00Z";

    fn times(schedule: &str, zone: &str) -> Times {
        Times::read(schedule, zone).unwrap()
    }

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    /// All runs between two times, as they are found by going forward.
    fn runs(times: &Times, from: &str, to: &str) -> Vec<String> {
        let (mut now, end) = (at(from), at(to));
        let mut found = Vec::new();
        while let Some(next) = times.after(now).filter(|next| *next <= end) {
            found.push(next.to_string());
            now = next;
        }
        found
    }

    #[test]
    fn a_time_of_the_day_is_that_of_the_zone_in_summer_and_in_winter() {
        let nightly = times("30 2 * * *", "Europe/Berlin");
        assert_eq!(nightly.after(at("2026-01-10T12:00:00Z")), Some(at("2026-01-11T01:30:00Z")));
        assert_eq!(nightly.after(at("2026-07-10T12:00:00Z")), Some(at("2026-07-11T00:30:00Z")));
        let utc = times("30 2 * * *", "Etc/UTC");
        assert_eq!(utc.after(at("2026-07-10T12:00:00Z")), Some(at("2026-07-11T02:30:00Z")));
    }

    /// Berlin leaves out 02:00 to 03:00 on 29 March 2026, New York on 8 March, and
    /// Sydney on 4 October.
    #[test]
    fn a_run_in_the_gap_of_a_clock_that_is_set_forward_comes_right_after_it() {
        let gaps = [
            ("Europe/Berlin", "2026-03-28", "2026-03-30", "2026-03-29T01:00:00Z"),
            ("America/New_York", "2026-03-07", "2026-03-09", "2026-03-08T07:00:00Z"),
            ("Australia/Sydney", "2026-10-02", "2026-10-04", "2026-10-03T16:00:00Z"),
        ];
        for (zone, from, to, after_gap) in gaps {
            let nightly = times("30 2 * * *", zone);
            let found = runs(&nightly, &format!("{from}T{EVENING}"), &format!("{to}T{EVENING}"));
            assert_eq!(found.len(), 2, "{zone}: {found:?}");
            assert!(found.contains(&after_gap.to_string()), "{zone}: {found:?}");
            assert!(nightly.is_run(at(after_gap)), "{zone}");
            let seen = nightly.until(at(after_gap) + SignedDuration::from_mins(20));
            assert_eq!(seen, Some(at(after_gap)), "{zone}: looking back");
        }
    }

    /// Berlin has 02:00 to 03:00 twice on 25 October 2026, New York 01:00 to 02:00
    /// on 1 November, Sydney 02:00 to 03:00 on 5 April.
    #[test]
    fn a_run_in_the_hour_that_comes_twice_comes_once_and_the_first_time() {
        let overlaps = [
            ("Europe/Berlin", "30 2 * * *", "2026-10-25T00:30:00Z"),
            ("America/New_York", "30 1 * * *", "2026-11-01T05:30:00Z"),
            ("Australia/Sydney", "30 2 * * *", "2026-04-04T15:30:00Z"),
        ];
        for (zone, schedule, first) in overlaps {
            let (nightly, first) = (times(schedule, zone), at(first));
            let next = nightly.after(first - SignedDuration::from_mins(1));
            assert_eq!(next, Some(first), "{zone}");
            // Whenever within the two hours it is asked, the second time is none.
            for minutes in 0..=120 {
                let asked = first + SignedDuration::from_mins(minutes);
                let next = nightly.after(asked).unwrap();
                assert!(
                    next.duration_since(first) >= SignedDuration::from_hours(24),
                    "{zone} {asked}: {next}"
                );
                assert_eq!(nightly.until(asked), Some(first), "{zone} {asked}");
            }
            assert!(!nightly.is_run(first + SignedDuration::from_hours(1)), "{zone}");
        }
    }

    #[test]
    fn each_hour_follows_the_clock() {
        let hourly = times("0 * * * *", "Europe/Berlin");
        // 23 hours and 25 hours.
        let short = runs(&hourly, "2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z");
        assert_eq!(short.len(), 23, "{short:?}");
        let long = runs(&hourly, "2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z");
        assert_eq!(long.len(), 25, "{long:?}");
    }

    #[test]
    fn looking_back_finds_what_looking_forward_has_found() {
        let changes = [
            ("Europe/Berlin", "2026-03-28"),
            ("Europe/Berlin", "2026-10-24"),
            ("America/New_York", "2026-03-07"),
            ("America/New_York", "2026-10-31"),
            // Half an hour.
            ("Australia/Lord_Howe", "2026-04-04"),
            ("Australia/Lord_Howe", "2026-10-03"),
        ];
        let schedules = [
            "30 2 * * *",
            "15 1 * * *",
            "*/20 * * * *",
            "0 2,14 * * *",
            "0 3 * * MON",
            "5 2-4 1 * *",
        ];
        let cases = changes.iter().flat_map(|c| schedules.iter().map(move |s| (c, s)));
        for ((zone, day), schedule) in cases {
            let times = times(schedule, zone);
            let start = at(&format!("{day}T{NOON}"));
            let mut last = times.until(start);
            for minutes in (5..=36 * 60).step_by(5) {
                let now = start + SignedDuration::from_mins(minutes);
                if let Some(run) = last.and_then(|last| times.after(last)).filter(|r| *r <= now) {
                    last = Some(run);
                }
                assert_eq!(times.until(now), last, "{schedule} in {zone} at {now}");
                assert_eq!(times.is_run(now), last == Some(now), "{schedule} in {zone} at {now}");
            }
        }
    }

    #[test]
    fn a_pattern_that_never_matches_has_no_run() {
        let never = times("0 0 30 2 *", "Europe/Berlin");
        assert_eq!(never.after(at("2026-01-01T00:00:00Z")), None);
        let leap = times("0 0 29 2 *", "Etc/UTC");
        assert_eq!(leap.after(at("2026-01-01T00:00:00Z")), Some(at("2028-02-29T00:00:00Z")));
    }

    #[test]
    fn what_is_not_valid_is_refused_with_what_is() {
        let said =
            |schedule: &str, zone: &str| Times::read(schedule, zone).unwrap_err().to_string();
        for schedule in ["", "* * * *", "0 0 2 * * *", "61 * * * *", "TZ=UTC 0 2 * * *", "@often"] {
            let said = said(schedule, "Etc/UTC");
            assert!(said.contains("0 2 * * *"), "{schedule}: {said}");
        }
        assert!(said("0 2 * * *", "Europe/Bonn").contains("Europe/Bonn"));
        for schedule in ["@daily", "0 2 * * MON-FRI", "*/5 0-6,22 1,15 JAN-MAR *"] {
            assert!(Times::read(schedule, "Europe/Berlin").is_ok(), "{schedule}");
        }
    }
}
