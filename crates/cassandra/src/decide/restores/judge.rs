//! May the tables be restored as it is asked for?

use super::read::Restore;
use crate::decide::transfers::Said;
use crate::facts::Facts;
use crate::words::restores::{Phase, Refused};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_api::backup::{Cataloged, TableFound, TableState};
use palladion_api::restore::{CassandraRestoreStatus, RestoreExisting};
use palladion_plan::words::Names;
use std::collections::BTreeMap;

/// A day, in seconds.
const DAY: i64 = 86_400;
/// Deletions are kept for so much longer than the backup is old: a load takes its time.
const LONGER: i64 = 30 * DAY;
/// The most that a server takes.
const MOST: u64 = i32::MAX as u64;

/// What comes of it.
pub enum Verdict {
    /// It cannot be done.
    Refuse(Said),
    /// A person has to say yes.
    Confirm,
    /// It goes on.
    Go {
        /// What the tables' `gc_grace_seconds` is set to meanwhile; unset: it stays.
        gc_grace_seconds: Option<u64>,
    },
}

/// Judge what was found.
pub fn judge(facts: &Facts<'_>, restore: &Restore<'_>, found: &Cataloged) -> Verdict {
    let refuse = |why: Refused| Verdict::Refuse(why.into());
    if found.tables.is_empty() {
        return refuse(Refused::Unnamed);
    }
    if let Some(why) = twice(&found.tables).or_else(|| found.tables.iter().find_map(unfit)) {
        return refuse(why);
    }
    let age = age(facts, &found.from);
    let asked: Vec<&TableFound> =
        found.tables.iter().filter(|table| is_asked(restore.spec.existing, table)).collect();
    let go = || Verdict::Go { gc_grace_seconds: Some(raised(found, age)) };
    let was_asked = |table: &&TableFound| {
        let mut before = restore.status.tables.iter();
        before.any(|before| before.to == table.to && is_asked(restore.spec.existing, before))
    };
    let is_confirmed = is_confirmed(restore) && asked.iter().all(was_asked);
    match restore.spec.existing {
        _ if asked.is_empty() => go(),
        // An unknown one is asked for before anything begins.
        RestoreExisting::Refuse | RestoreExisting::Unknown(_) => {
            refuse(Refused::NotEmpty { tables: Names::of(asked.iter().map(|table| &table.to)) })
        }
        RestoreExisting::Truncate if is_confirmed => go(),
        RestoreExisting::Truncate => Verdict::Confirm,
        RestoreExisting::Merge => match too_old(&found.tables, age) {
            Some(why) => refuse(why),
            None if is_confirmed => go(),
            None => Verdict::Confirm,
        },
    }
}

/// Seconds since the backup was taken.
pub fn age(facts: &Facts<'_>, from: &Time) -> i64 {
    facts.now().as_second() - from.0.as_second()
}

/// Is a person asked about this table? What is truncated may show no row and have some that
/// nobody sees: deletions, which would hide what is restored.
pub fn is_asked(existing: RestoreExisting, table: &TableFound) -> bool {
    match existing {
        RestoreExisting::Truncate => table.state != TableState::Absent,
        RestoreExisting::Refuse | RestoreExisting::Merge | RestoreExisting::Unknown(_) => {
            is_full(table)
        }
    }
}

/// Has a person said yes to what the status asks?
pub fn is_confirmed(restore: &Restore<'_>) -> bool {
    restore.status.nonce.is_some() && restore.spec.confirm == restore.status.nonce
}

/// What a person is asked, by what the status says.
pub fn question(existing: RestoreExisting, status: &CassandraRestoreStatus) -> Phase {
    let asked = status.tables.iter().filter(|table| is_asked(existing, table));
    let tables = Names::of(asked.map(|table| &table.to));
    let nonce = status.nonce.clone().unwrap_or_default();
    match existing {
        RestoreExisting::Merge => Phase::Merges { tables, nonce },
        RestoreExisting::Truncate | RestoreExisting::Refuse | RestoreExisting::Unknown(_) => {
            Phase::Truncates { tables, nonce }
        }
    }
}

/// Rows would be added to a table that does not keep its deletions for as long as the backup is
/// old: what was deleted since could come back.
pub fn too_old(tables: &[TableFound], age: i64) -> Option<Refused> {
    let is_old = |table: &&TableFound| {
        is_full(table) && age >= i64::try_from(table.gc_grace_seconds).unwrap_or(i64::MAX)
    };
    let table = tables.iter().find(is_old)?;
    let seconds = table.gc_grace_seconds;
    Some(Refused::MergeTooOld { table: table.to.clone(), seconds, age })
}

/// A table with rows, or one of which it is not known.
fn is_full(table: &TableFound) -> bool {
    match table.state {
        TableState::HasRows | TableState::Unknown => true,
        TableState::Absent | TableState::Empty => false,
    }
}

/// The files of a table are loaded into one table.
fn twice(tables: &[TableFound]) -> Option<Refused> {
    let mut seen = BTreeMap::new();
    tables.iter().find_map(|table| {
        let first = seen.insert(&table.from, &table.to)?;
        let (table, first, second) = (table.from.clone(), first.clone(), table.to.clone());
        Some(Refused::Twice { table, first, second })
    })
}

fn unfit(table: &TableFound) -> Option<Refused> {
    let name = || table.to.clone();
    if let Some(why) = table.differs.clone() {
        return Some(Refused::Differs { table: name(), why });
    }
    table.index.clone().map(|index| Refused::Index { table: name(), index })
}

/// Longer than any of them has, so that no deletion that one member of the backup had is
/// forgotten before the row that another one still had is loaded beside it.
fn raised(found: &Cataloged, age: i64) -> u64 {
    let own = found.tables.iter().map(|table| table.gc_grace_seconds).max().unwrap_or_default();
    let more = u64::try_from(age.max(0).saturating_add(LONGER)).unwrap_or(MOST);
    own.saturating_add(more).min(MOST)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn found(grace: &[u64]) -> Cataloged {
        let table = |(number, grace): (usize, &u64)| json!({ "from": format!("k.t{number}"), "to": format!("k.t{number}"), "state": "Absent", "gcGraceSeconds": grace });
        let tables: Vec<_> = grace.iter().enumerate().map(table).collect();
        let time = "2026-01-01T00:00:00Z";
        serde_json::from_value(json!({ "from": time, "to": time, "tables": tables })).unwrap()
    }

    #[test]
    fn deletions_are_kept_for_longer_than_any_table_keeps_them_and_than_the_backup_is_old() {
        assert_eq!(raised(&found(&[600, 864_000]), 0), 864_000 + 30 * 86_400);
        assert_eq!(raised(&found(&[600]), 86_400), 600 + 31 * 86_400);
        assert_eq!(raised(&found(&[0]), -5), 30 * 86_400, "a clock that was set back");
        assert_eq!(raised(&found(&[MOST]), 10), MOST, "a server takes no more");
    }
}
