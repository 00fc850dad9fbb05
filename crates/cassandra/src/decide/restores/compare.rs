//! A member reads what the backup has, and what the ring has: before anything is touched, and
//! once more after a confirmation, as tables may have got rows meanwhile.

use super::answers::{Answer, answer, chosen, waits};
use super::course::write;
use super::create::hash;
use super::give_up;
use super::judge::{self, Verdict};
use super::orders::{UnderWay, give};
use super::read::Restore;
use crate::decide::draft::Draft;
use crate::facts::Facts;
use crate::words::restores::{Failed, Member, Phase};
use palladion_api::backup::{CatalogWork, Cataloged, TableFound, TableState, TransferWork};
use palladion_api::restore::{Coordinator, RestorePhase, RestoreShare, RestoreTotals};

/// Order it of one, and judge what it has found.
pub fn compare(facts: &Facts<'_>, under_way: &UnderWay<'_, '_>, draft: &mut Draft) {
    let UnderWay { restore, active, own } = under_way;
    let id = active.order("catalog");
    let Some(one) = chosen(facts, &id) else {
        return write(facts, restore, restore.status.clone(), Member::None, draft);
    };
    let said = answer(one.0, &id);
    match &said {
        Answer::Failed(why) => give_up::because(facts, restore, why, draft),
        Answer::Done(told) => match (&told.manifest_hash, &told.cataloged) {
            (Some(hash), Some(found)) => {
                let who = Coordinator {
                    name: one.0.name.clone(),
                    host_id: one.1.clone(),
                    volume_id: one.2.clone(),
                };
                settle(facts, under_way, (who, hash, found), draft);
            }
            _ => {
                let why = Failed::NoResult { member: one.0.name.clone() };
                give_up::because(facts, restore, &why.into(), draft);
            }
        },
        Answer::None | Answer::Going(_) => {
            let work = CatalogWork {
                manifest_hash: hash(restore),
                tables: restore.spec.tables.clone(),
                whole_ring: false,
                to: None,
                auth: None,
            };
            let work = TransferWork { catalog: Some(work), ..TransferWork::default() };
            give(facts, (active, Some(own)), one, (id, work), draft);
            let why = waits(facts, one.0, &said).unwrap_or_else(|| Phase::Comparing.into());
            write(facts, restore, restore.status.clone(), why, draft);
        }
    }
}

/// What was found goes on record, with what comes of it.
fn settle(
    facts: &Facts<'_>,
    under_way: &UnderWay<'_, '_>,
    (who, hash, found): (Coordinator, &str, &Cataloged),
    draft: &mut Draft,
) {
    let UnderWay { restore, active, .. } = under_way;
    let mut status = restore.status.clone();
    let mut source = status.source.clone().unwrap_or_else(|| active.record.source.clone());
    source.manifest_hash = Some(hash.to_string());
    source.from = Some(found.from.clone());
    let waiting = |source: &palladion_api::backup::LoadSource| RestoreShare {
        source: source.clone(),
        member: None,
        loaded: false,
        message: None,
    };
    status.shares = found.sources.iter().map(waiting).collect();
    status.totals = Some(RestoreTotals {
        sstables: found.sources.iter().map(|source| source.sstables).sum(),
        bytes: found.sources.iter().map(|source| source.bytes).sum(),
    });
    let verdict = judge::judge(facts, restore, found);
    status.source = Some(source);
    status.tables = found.tables.iter().map(as_stored).collect();
    match verdict {
        Verdict::Refuse(why) => {
            let restore = Restore { object: restore.object, spec: restore.spec.clone(), status };
            give_up::because(facts, &restore, &why, draft);
        }
        Verdict::Confirm => {
            status.phase = Some(RestorePhase::Confirming);
            status.nonce = Some(facts.snapshot.nonce.as_str().to_string());
            let ask = judge::question(restore.spec.existing, &status);
            write(facts, restore, status, ask, draft);
        }
        Verdict::Go { gc_grace_seconds } => {
            let member = who.name.clone();
            status.phase = Some(RestorePhase::Creating);
            status.gc_grace_seconds = gc_grace_seconds;
            status.coordinator = Some(who);
            write(facts, restore, status, Phase::Creating { member }, draft);
        }
    }
}

/// What this build does not know is no value of the schema; it counts as rows.
fn as_stored(table: &TableFound) -> TableFound {
    let state = match table.state {
        TableState::Unknown => TableState::HasRows,
        known @ (TableState::Absent | TableState::Empty | TableState::HasRows) => known,
    };
    TableFound { state, ..table.clone() }
}
