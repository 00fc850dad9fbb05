//! All is loaded: one member creates indexes and views, and gives the tables what they have when
//! nothing is loaded any more.

use super::answers::{Answer, One, answer, chosen, there, waits};
use super::course::write;
use super::create::hash;
use super::give_up;
use super::orders::{Active, UnderWay, give};
use super::whole;
use crate::decide::draft::Draft;
use crate::facts::Facts;
use crate::validate::ValidBackup;
use crate::words::restores::{Complete, Failed, Member, Phase};
use palladion_api::backup::{IndexesWork, SettleWork, TableState, TransferWork};
use palladion_api::restore::{CassandraRestoreStatus, RestorePhase};

/// Order it, and end once it is done.
pub fn finish(facts: &Facts<'_>, under_way: &UnderWay<'_, '_>, draft: &mut Draft) {
    let UnderWay { restore, active, own } = under_way;
    let Some(manifest_hash) = hash(restore) else {
        return give_up::because(facts, restore, &Failed::Forgotten.into(), draft);
    };
    let id = active.order("settle");
    let coordinator = restore.status.coordinator.as_ref().and_then(|who| there(facts, who));
    let coordinator = coordinator.filter(|one| one.0.is_live(&facts.nodes));
    let Some(one) = coordinator.or_else(|| chosen(facts, &id)) else {
        return write(facts, restore, restore.status.clone(), Member::None, draft);
    };
    let created = restore.status.tables.iter().filter(|table| table.state == TableState::Absent);
    let indexes = IndexesWork {
        manifest_hash,
        tables: restore.spec.tables.clone(),
        created: created.map(|table| table.to.clone()).collect(),
    };
    let ring = whole::of(active);
    let settled = match ring {
        // Until its members are repaired deletions are kept for longer.
        Some(_) => Settled::Indexes(indexes),
        None => Settled::All(indexes),
    };
    let said = settle(facts, (active, Some(own)), one, (&id, settled), draft);
    match &said {
        Answer::Failed(why) => give_up::because(facts, restore, why, draft),
        Answer::Done(_) if let Some(ring) = ring => {
            let phase = Some(RestorePhase::LoadingRoles);
            let status = CassandraRestoreStatus { phase, ..restore.status.clone() };
            let said = Phase::LoadingRoles { done: 0, members: ring.places.len() };
            write(facts, restore, status, said, draft);
        }
        Answer::Done(_) => {
            let status = CassandraRestoreStatus {
                phase: Some(RestorePhase::Complete),
                ..restore.status.clone()
            };
            let totals = status.totals.clone().unwrap_or_default();
            let tables = status.tables.len();
            let (sstables, bytes) = (totals.sstables, totals.bytes);
            let said = Complete::Loaded { tables, sstables, bytes };
            write(facts, restore, status, said, draft);
        }
        Answer::None | Answer::Going(_) => {
            let finishing = || Phase::Finishing { member: one.0.name.clone() }.into();
            let why = waits(facts, one.0, &said).unwrap_or_else(finishing);
            write(facts, restore, restore.status.clone(), why, draft);
        }
    }
}

/// What is settled.
pub enum Settled {
    /// Indexes and views are created, then the tables get their own `gc_grace_seconds` back.
    All(IndexesWork),
    /// The former alone.
    Indexes(IndexesWork),
    /// The latter alone.
    Grace,
}

/// Order it of this member; what it answers.
pub fn settle<'a>(
    facts: &Facts<'_>,
    (active, own): (&Active, Option<&ValidBackup>),
    one: One<'a>,
    (id, settled): (&str, Settled),
    draft: &mut Draft,
) -> Answer<'a> {
    let said = answer(one.0, id);
    if let Answer::None | Answer::Going(_) = &said {
        let (grace, indexes) = match settled {
            Settled::All(indexes) => (true, Some(indexes)),
            Settled::Indexes(indexes) => (false, Some(indexes)),
            Settled::Grace => (true, None),
        };
        let work = SettleWork {
            gc_grace_seconds: active.record.gc_grace_seconds.filter(|_| grace),
            own: if grace { active.record.own.clone() } else { Vec::new() },
            indexes,
        };
        let work = TransferWork { settle: Some(work), ..TransferWork::default() };
        give(facts, (active, own), one, (id.to_string(), work), draft);
    }
    said
}
