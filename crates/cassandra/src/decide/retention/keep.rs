//! Which backups of a schedule its rules keep: pure. Days, weeks and months are those of a time
//! zone, and only those count in which a backup was taken, so that nothing goes because nothing
//! came.
//!
//! Times are those of clocks, which are set. A backup of the future, from before a clock was set
//! back, is kept, and takes no place of another one. Neither does one without members of the ring of
//! one that has all: what only they had is in no other, and no point in time is reached from it. So
//! what the rules keep of all is kept, and what they keep of those with all members. And a backup is among the newest if it is so
//! by either of two clocks: that of the operator, which took it, and that of the API server, which
//! has its object.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use palladion_api::backup_schedule::BackupRetention;
use std::collections::BTreeSet;

/// A complete backup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taken {
    /// What it has: before its first snapshot was ordered.
    pub at: Timestamp,
    /// When its object was created.
    pub created: Timestamp,
    /// The name of its object.
    pub name: String,
    /// Does it have all members of its ring?
    pub is_whole: bool,
}

/// Of which two backups only the newer one counts.
#[derive(Clone, Copy)]
enum Span {
    Day,
    Week,
    Month,
}

impl Span {
    /// The one that has this time: year, and its number in the year.
    fn of(self, at: Timestamp, zone: &TimeZone) -> (i16, i16) {
        let date = at.to_zoned(zone.clone()).date();
        match self {
            Self::Day => (date.year(), date.day_of_year()),
            // A week belongs to the year that has its Thursday.
            Self::Week => {
                let week = date.iso_week_date();
                (week.year(), week.week().into())
            }
            Self::Month => (date.year(), date.month().into()),
        }
    }
}

/// The names of those that stay.
pub fn keep(
    rules: &BackupRetention,
    zone: &TimeZone,
    (taken, now): (&[Taken], Timestamp),
) -> BTreeSet<String> {
    let mut kept = of_alike(rules, zone, (taken, now));
    kept.extend(of_alike(rules, zone, (&whole(taken), now)));
    kept
}

fn whole(taken: &[Taken]) -> Vec<Taken> {
    taken.iter().filter(|one| one.is_whole).cloned().collect()
}

/// Of backups each of which takes the place of another one.
fn of_alike(
    rules: &BackupRetention,
    zone: &TimeZone,
    (taken, now): (&[Taken], Timestamp),
) -> BTreeSet<String> {
    let mut kept: BTreeSet<String> = BTreeSet::new();
    let (past, future): (Vec<&Taken>, Vec<&Taken>) = taken.iter().partition(|one| one.at <= now);
    kept.extend(future.into_iter().map(|one| one.name.clone()));
    let last = usize::try_from(rules.last.max(1)).unwrap_or(usize::MAX);
    let by_object = newest(&past, |one| one.created);
    kept.extend(by_object.into_iter().take(last).map(|one| one.name.clone()));
    let by_time = newest(&past, |one| one.at);
    kept.extend(by_time.iter().take(last).map(|one| one.name.clone()));
    let spans = [(Span::Day, rules.days), (Span::Week, rules.weeks), (Span::Month, rules.months)];
    for (span, most) in spans {
        let most = most.map_or(0, |most| usize::try_from(most).unwrap_or(usize::MAX));
        let mut seen = BTreeSet::new();
        for one in &by_time {
            let of = span.of(one.at, zone);
            if seen.contains(&of) {
                continue;
            }
            if seen.len() >= most {
                break;
            }
            seen.insert(of);
            kept.insert(one.name.clone());
        }
    }
    kept
}

/// The newest, by both clocks, of all and of those with all members: these never go. One of the future is the newest only where there is
/// no other.
pub fn never(taken: &[Taken], now: Timestamp) -> BTreeSet<String> {
    &newest_of(taken, now) | &newest_of(&whole(taken), now)
}

fn newest_of(taken: &[Taken], now: Timestamp) -> BTreeSet<String> {
    let (past, future): (Vec<&Taken>, Vec<&Taken>) = taken.iter().partition(|one| one.at <= now);
    let all = if past.is_empty() { future } else { past };
    let first = |by: fn(&Taken) -> Timestamp| newest(&all, by).first().map(|one| one.name.clone());
    [first(|one| one.at), first(|one| one.created)].into_iter().flatten().collect()
}

/// The newest first; of two of the same time the name says which, at every decision the same.
fn newest<'a>(all: &[&'a Taken], by: fn(&Taken) -> Timestamp) -> Vec<&'a Taken> {
    let mut all = all.to_vec();
    all.sort_by(|a, b| (by(b), &b.name).cmp(&(by(a), &a.name)));
    all
}

#[cfg(test)]
#[path = "keep/tests.rs"]
mod tests;
