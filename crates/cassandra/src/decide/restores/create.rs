//! One member creates, or truncates, the tables. No other one does, whatever becomes of it: an
//! order that is carried out late would truncate what was loaded.

use super::answers::{Answer, One, answer, is_lost, there, waits};
use super::course::write;
use super::give_up;
use super::judge::{age, is_asked, too_old};
use super::orders::{self, UnderWay, give};
use super::read::Restore;
use crate::decide::draft::Draft;
use crate::facts::Facts;
use crate::words::restores::{Failed, Member, Phase, Refused};
use palladion_api::backup::{OwnGrace, SchemaWork, TransferWork};
use palladion_api::cluster::ClusterRestore;
use palladion_api::restore::{CassandraRestoreStatus, RestoreExisting, RestorePhase};

/// The order of it.
pub const SCHEMA: &str = "schema";

/// Order it of that one, and go on once all tables are there.
pub fn create(facts: &Facts<'_>, under_way: &UnderWay<'_, '_>, draft: &mut Draft) {
    let UnderWay { restore, active, .. } = under_way;
    let (Some(who), Some(manifest_hash)) = (&restore.status.coordinator, hash(restore)) else {
        return give_up::because(facts, restore, &Failed::Forgotten.into(), draft);
    };
    if active.record.tables_made {
        return loading(facts, restore, draft);
    }
    let want = with_grace(restore, &active.record);
    if active.record != want {
        return orders::record_grace(active, &want, draft);
    }
    let Some(one) = there(facts, who) else {
        let member = who.name.clone();
        return match is_lost(facts, who) {
            true => {
                let why = Failed::CoordinatorLost { member };
                give_up::because(facts, restore, &why.into(), draft);
            }
            false => write(facts, restore, restore.status.clone(), Member::Down { member }, draft),
        };
    };
    let said = answer(one.0, &active.order(SCHEMA));
    match &said {
        Answer::Failed(why) => give_up::because(facts, restore, why, draft),
        // In the cluster first: nobody orders this once more, whatever he reads of the restore.
        Answer::Done(_) => orders::note_made(active, draft),
        Answer::None | Answer::Going(_) => {
            if let Some(why) = expired(facts, restore) {
                return give_up::because(facts, restore, &why.into(), draft);
            }
            order(facts, under_way, (one, manifest_hash), draft);
            let creating = || Phase::Creating { member: who.name.clone() }.into();
            let why = waits(facts, one.0, &said).unwrap_or_else(creating);
            write(facts, restore, restore.status.clone(), why, draft);
        }
    }
}

fn loading(facts: &Facts<'_>, restore: &Restore<'_>, draft: &mut Draft) {
    let status = CassandraRestoreStatus {
        phase: Some(RestorePhase::Loading),
        progress: Some("0%".into()),
        ..restore.status.clone()
    };
    let sources = status.shares.len();
    write(facts, restore, status, Phase::Loading { done: 0, sources }, draft);
}

/// Until deletions are kept for longer, time goes on: a store that was away for days, say.
fn expired(facts: &Facts<'_>, restore: &Restore<'_>) -> Option<Refused> {
    let from = restore.status.source.as_ref()?.from.as_ref()?;
    let is_merged = restore.spec.existing == RestoreExisting::Merge;
    is_merged.then(|| too_old(&restore.status.tables, age(facts, from))).flatten()
}

fn order(
    facts: &Facts<'_>,
    UnderWay { restore, active, own }: &UnderWay<'_, '_>,
    (one, manifest_hash): (One<'_>, String),
    draft: &mut Draft,
) {
    let work = SchemaWork {
        manifest_hash,
        tables: restore.spec.tables.clone(),
        datacenters: restore.spec.datacenters.clone(),
        gc_grace_seconds: restore.status.gc_grace_seconds,
        keep_ids: restore.spec.point_in_time.is_some(),
        truncate: truncated(restore),
    };
    let work = TransferWork { schema: Some(work), ..TransferWork::default() };
    give(facts, (active, Some(own)), one, (active.order(SCHEMA), work), draft);
}

/// SHA-256 of the manifest that was read first.
pub fn hash(restore: &Restore<'_>) -> Option<String> {
    restore.status.source.as_ref()?.manifest_hash.clone()
}

/// Those of which it was confirmed.
fn truncated(restore: &Restore<'_>) -> Vec<String> {
    let existing = restore.spec.existing;
    let asked = restore.status.tables.iter().filter(|table| is_asked(existing, table));
    match existing {
        RestoreExisting::Truncate => asked.map(|table| table.to.clone()).collect(),
        RestoreExisting::Refuse | RestoreExisting::Merge | RestoreExisting::Unknown(_) => {
            Vec::new()
        }
    }
}

fn with_grace(restore: &Restore<'_>, record: &ClusterRestore) -> ClusterRestore {
    let gc_grace_seconds = restore.status.gc_grace_seconds;
    let own = restore.status.tables.iter().map(|table| OwnGrace {
        table: table.to.clone(),
        gc_grace_seconds: table.gc_grace_seconds,
    });
    let own = own.filter(|_| gc_grace_seconds.is_some()).collect();
    ClusterRestore { gc_grace_seconds, own, ..record.clone() }
}
