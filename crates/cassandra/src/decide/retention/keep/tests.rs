//! Cases that are named by what they fear, and laws that hold for any backups.

use super::*;
use jiff::SignedDuration;
use jiff::tz::TimeZoneDatabase;
use std::collections::BTreeMap;

fn zone(name: &str) -> TimeZone {
    TimeZoneDatabase::bundled().get(name).unwrap()
}

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn taken(name: &str, text: &str) -> Taken {
    Taken { at: at(text), created: at(text), name: name.into(), is_whole: true }
}

fn all(times: &[(&str, &str)]) -> Vec<Taken> {
    times.iter().map(|(name, text)| taken(name, text)).collect()
}

fn last(last: u32) -> BackupRetention {
    BackupRetention { last, ..BackupRetention::default() }
}

#[track_caller]
fn kept(rules: BackupRetention, zone_name: &str, taken: &[Taken], expected: &[&str]) {
    let now = at("2027-06-01T00:00:00Z");
    let found = keep(&rules, &zone(zone_name), (taken, now));
    let found: Vec<&str> = found.iter().map(String::as_str).collect();
    assert_eq!(found, expected);
}

#[test]
fn the_newest_stay_and_of_the_same_time_those_of_the_greatest_names() {
    let five = all(&[
        ("a", "2026-01-01T02:00:00Z"),
        ("b", "2026-01-02T02:00:00Z"),
        ("c", "2026-01-03T02:00:00Z"),
        ("d", "2026-01-03T02:00:00Z"),
        ("e", "2026-01-03T02:00:00Z"),
    ]);
    kept(last(2), "Etc/UTC", &five, &["d", "e"]);
    kept(last(4), "Etc/UTC", &five, &["b", "c", "d", "e"]);
    kept(last(500), "Etc/UTC", &five, &["a", "b", "c", "d", "e"]);
    kept(last(0), "Etc/UTC", &five, &["e"]);
    kept(last(3), "Etc/UTC", &[], &[]);
}

#[test]
fn one_without_a_member_takes_no_place_of_one_with_all() {
    let mut all = all(&[
        ("old", "2026-01-01T02:00:00Z"),
        ("whole", "2026-01-02T02:00:00Z"),
        ("part", "2026-01-02T04:00:00Z"),
        ("part-2", "2026-01-03T02:00:00Z"),
    ]);
    for part in &mut all[2..] {
        part.is_whole = false;
    }
    kept(last(1), "Etc/UTC", &all, &["part-2", "whole"]);
    let days = BackupRetention { days: Some(2), ..last(1) };
    kept(days, "Etc/UTC", &all, &["old", "part", "part-2", "whole"]);
    let now = at("2027-06-01T00:00:00Z");
    assert_eq!(never(&all, now), ["part-2".to_string(), "whole".to_string()].into());
    // The next one with all members takes the places of both kinds.
    all.push(taken("next", "2026-01-04T02:00:00Z"));
    kept(last(1), "Etc/UTC", &all, &["next"]);
    assert_eq!(never(&all, now), ["next".to_string()].into());
}

#[test]
fn of_each_day_the_newest_stays_and_days_without_a_backup_do_not_count() {
    let days = all(&[
        ("a-morning", "2026-01-01T06:00:00Z"),
        ("a-night", "2026-01-01T22:00:00Z"),
        ("b", "2026-01-02T06:00:00Z"),
        // Nobody took any for four months.
        ("c-morning", "2026-05-03T06:00:00Z"),
        ("c-night", "2026-05-03T22:00:00Z"),
    ]);
    let rules = BackupRetention { days: Some(3), ..last(1) };
    kept(rules, "Etc/UTC", &days, &["a-night", "b", "c-night"]);
    let rules = BackupRetention { days: Some(2), ..last(1) };
    kept(rules, "Etc/UTC", &days, &["b", "c-night"]);
}

/// In Berlin the night of 25 October 2026 has 25 hours and that of 29 March has 23; midnight of
/// Berlin is 22:00 or 23:00 in UTC.
#[test]
fn days_are_those_of_the_time_zone_in_summer_and_in_winter() {
    let times = all(&[
        ("24th-late", "2026-10-24T21:59:00Z"),
        ("25th-early", "2026-10-24T22:01:00Z"),
        ("25th-first-two", "2026-10-25T00:30:00Z"),
        ("25th-second-two", "2026-10-25T01:30:00Z"),
        ("25th-late", "2026-10-25T22:59:00Z"),
        ("26th", "2026-10-25T23:01:00Z"),
    ]);
    let rules = BackupRetention { days: Some(3), ..last(1) };
    kept(rules, "Europe/Berlin", &times, &["24th-late", "25th-late", "26th"]);
    kept(rules, "Etc/UTC", &times, &["25th-early", "26th"]);
    let spring = all(&[
        ("28th", "2026-03-28T22:30:00Z"),
        ("29th-before-the-gap", "2026-03-28T23:30:00Z"),
        ("29th-after-the-gap", "2026-03-29T01:00:00Z"),
        ("30th", "2026-03-29T22:00:00Z"),
    ]);
    kept(rules, "Europe/Berlin", &spring, &["28th", "29th-after-the-gap", "30th"]);
}

#[test]
fn a_week_that_goes_over_the_end_of_a_year_is_one_week() {
    // 28 December 2026 is a Monday: week 53 goes to 3 January.
    let times = all(&[
        ("week-52", "2026-12-27T12:00:00Z"),
        ("week-53-monday", "2026-12-28T12:00:00Z"),
        ("week-53-new-year", "2027-01-01T12:00:00Z"),
        ("week-53-sunday", "2027-01-03T12:00:00Z"),
        ("week-1", "2027-01-04T12:00:00Z"),
    ]);
    let rules = BackupRetention { weeks: Some(3), ..last(1) };
    kept(rules, "Etc/UTC", &times, &["week-1", "week-52", "week-53-sunday"]);
    let rules = BackupRetention { months: Some(2), ..last(1) };
    kept(rules, "Etc/UTC", &times, &["week-1", "week-53-monday"]);
    // 30 December 2024 is of week 1 of 2025, and 1 January 2023 of week 52 of 2022.
    let edges = all(&[
        ("2022-52", "2022-12-31T12:00:00Z"),
        ("2022-52-sunday", "2023-01-01T12:00:00Z"),
        ("2024-52", "2024-12-29T12:00:00Z"),
        ("2025-1", "2024-12-30T12:00:00Z"),
        ("2025-1-later", "2025-01-02T12:00:00Z"),
    ]);
    let rules = BackupRetention { weeks: Some(9), ..last(1) };
    kept(rules, "Etc/UTC", &edges, &["2022-52-sunday", "2024-52", "2025-1-later"]);
}

#[test]
fn a_backup_stays_that_any_rule_keeps() {
    let mut nightly = Vec::new();
    let mut time = at("2026-01-01T02:30:00Z");
    while time < at("2026-07-01T00:00:00Z") {
        nightly.push(taken(&time.to_string()[..10], &time.to_string()));
        time += SignedDuration::from_hours(24);
    }
    let rules = BackupRetention { last: 2, days: Some(7), weeks: Some(4), months: Some(6) };
    let found = keep(&rules, &zone("Etc/UTC"), (&nightly, at("2026-07-01T00:00:00Z")));
    let found: Vec<&str> = found.iter().map(String::as_str).collect();
    let expected = [
        "2026-01-31",
        "2026-02-28",
        "2026-03-31",
        "2026-04-30",
        "2026-05-31",
        "2026-06-14",
        "2026-06-21",
        "2026-06-24",
        "2026-06-25",
        "2026-06-26",
        "2026-06-27",
        "2026-06-28",
        "2026-06-29",
        "2026-06-30",
    ];
    assert_eq!(found, expected);
}

#[test]
fn a_clock_that_was_set_back_lets_nothing_go_that_came_since() {
    let now = at("2026-03-10T12:00:00Z");
    let utc = zone("Etc/UTC");
    // Three were taken while the clock was years ahead; they stay, and take no place.
    let mut backups = all(&[
        ("future-1", "2031-01-01T02:00:00Z"),
        ("future-2", "2031-01-02T02:00:00Z"),
        ("old", "2026-03-08T02:00:00Z"),
        ("newer", "2026-03-09T02:00:00Z"),
        ("newest", "2026-03-10T02:00:00Z"),
    ]);
    let found = keep(&last(2), &utc, (&backups, now));
    let expected = ["future-1", "future-2", "newer", "newest"].map(String::from);
    assert_eq!(found, BTreeSet::from(expected));
    // One was taken while the clock of the operator was years behind: by its object it is the
    // newest.
    backups.push(Taken { created: now, ..taken("behind", "2020-01-01T02:00:00Z") });
    assert!(keep(&last(1), &utc, (&backups, now)).contains("behind"));
    assert_eq!(never(&backups, now), BTreeSet::from(["behind", "newest"].map(String::from)));
    assert_eq!(never(&backups[..2], now), BTreeSet::from(["future-2".to_string()]));
    assert_eq!(never(&[], now), BTreeSet::new());
}

/// Numbers that do not repeat, the same at each run.
struct Seeded(u64);

impl Seeded {
    fn below(&mut self, most: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }
}

#[test]
fn laws_that_hold_for_any_backups() {
    let zones =
        ["Etc/UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia"];
    for seed in 0..2_000 {
        let mut random = Seeded(seed);
        let zone = zone(zones[random.below(5) as usize]);
        let now = at("2026-11-28T12:00:00Z");
        // In half of them some backups are without a member.
        let parts = seed % 2;
        let backups: Vec<Taken> = (0..random.below(40))
            .map(|number| {
                // Many of the same hour, some of the future.
                let hours = random.below(24 * 500) as i64 - 24 * 20;
                let time = now - SignedDuration::from_hours(hours);
                let is_whole = parts == 0 || random.below(3) > 0;
                Taken { at: time, created: time, name: format!("b{number:02}"), is_whole }
            })
            .collect();
        let some = |random: &mut Seeded, most: u64| {
            (random.below(3) > 0).then(|| 1 + random.below(most) as u32)
        };
        let rules = BackupRetention {
            last: 1 + random.below(6) as u32,
            days: some(&mut random, 20),
            weeks: some(&mut random, 12),
            months: some(&mut random, 14),
        };
        let kept = keep(&rules, &zone, (&backups, now));
        let find = |name: &String| backups.iter().find(|one| one.name == *name).unwrap();
        // The newest stay, however many there are.
        let past: Vec<&Taken> = backups.iter().filter(|one| one.at <= now).collect();
        let whole: Vec<&Taken> = past.iter().copied().filter(|one| one.is_whole).collect();
        for of in [&past, &whole] {
            let newest = newest(of, |one| one.at);
            let last = (rules.last as usize).min(newest.len());
            assert!(newest[..last].iter().all(|one| kept.contains(&one.name)), "seed {seed}");
        }
        assert!(never(&backups, now).is_subset(&kept), "seed {seed}");
        // What is of the future stays.
        let future = backups.iter().filter(|one| one.at > now);
        assert!(future.clone().all(|one| kept.contains(&one.name)), "seed {seed}");
        // No rule keeps more than it says.
        let rest = kept.len() - future.count();
        let most = rules.last
            + rules.days.unwrap_or(0)
            + rules.weeks.unwrap_or(0)
            + rules.months.unwrap_or(0);
        assert!(rest as u64 <= u64::from(most) * (1 + parts), "seed {seed}: {rest} of {most}");
        // What goes has a newer one of its day, or its day is older than those that count.
        if let Some(days) = rules.days {
            let mut of_day: BTreeMap<(i16, i16), Vec<&Taken>> = BTreeMap::new();
            for one in &past {
                of_day.entry(Span::Day.of(one.at, &zone)).or_default().push(one);
            }
            for day in of_day.values().rev().take(days as usize) {
                assert!(day.iter().any(|one| kept.contains(&one.name)), "seed {seed}");
            }
        }
        // The order in which they are listed does not matter, and what is kept is kept again.
        let mut turned = backups.clone();
        turned.reverse();
        assert_eq!(keep(&rules, &zone, (&turned, now)), kept, "seed {seed}");
        let left: Vec<Taken> = kept.iter().map(|name| find(name).clone()).collect();
        assert_eq!(keep(&rules, &zone, (&left, now)), kept, "seed {seed}: what is left stays");
    }
}
