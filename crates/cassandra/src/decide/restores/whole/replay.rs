//! The commit logs that were archived since the backup are replayed up to the point in time, by
//! each member what the member of the backup had whose place it has: by all at once, since nobody
//! is served yet. Indexes and views come after it, and roles are those of the backup.

use super::super::answers::{Answer, answer, waits};
use super::super::course::write;
use super::super::create::hash;
use super::super::give_up;
use super::super::load::TOLD;
use super::super::orders::{UnderWay, give};
use super::{in_place, of};
use crate::decide::draft::Draft;
use crate::facts::{Facts, MemberFact};
use crate::words::restores::{Failed, Member, Phase};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_api::backup::{ReplayWork, TransferWork};
use palladion_api::cluster::WholeRing;
use palladion_api::ids::{HostId, MemberName};
use palladion_api::restore::{CassandraRestoreStatus, RestorePhase};

/// What the names of orders to replay begin with.
pub const REPLAY: &str = "replay-";

/// Order it, and go on once all have replayed.
pub fn replay(facts: &Facts<'_>, under_way: &UnderWay<'_, '_>, draft: &mut Draft) {
    let UnderWay { restore, active, .. } = under_way;
    match (of(active), &restore.spec.point_in_time) {
        (Some(ring), Some(to)) => follow(facts, under_way, (ring, to), draft),
        (None, _) | (_, None) => {
            give_up::because(facts, restore, &Failed::Forgotten.into(), draft);
        }
    }
}

fn follow(
    facts: &Facts<'_>,
    under_way: &UnderWay<'_, '_>,
    (ring, to): (&WholeRing, &Time),
    draft: &mut Draft,
) {
    let UnderWay { restore, active, own } = under_way;
    let members = ring.places.len();
    let (mut done, mut percent, mut there, mut why) = (0, 0, 0, None);
    // Nobody is ordered anything in a decision that gives up.
    let mut orders = Draft::default();
    for (place, one) in in_place(facts, ring) {
        there += 1;
        let id = active.order(&format!("{REPLAY}{}", place.source));
        let said = answer(one.0, &id);
        match &said {
            Answer::Failed(failed) => return give_up::because(facts, restore, failed, draft),
            Answer::Done(told) if told.replayed.is_some() => {
                (done, percent) = (done + 1, percent + 100)
            }
            Answer::Done(_) => {
                let none = Failed::NoResult { member: place.member.clone() };
                return give_up::because(facts, restore, &none.into(), draft);
            }
            Answer::None | Answer::Going(_) => {
                let Some(work) = work(under_way, &place.source, to) else {
                    return give_up::because(facts, restore, &Failed::Forgotten.into(), draft);
                };
                percent += progress(one.0, &id);
                give(facts, (active, Some(own)), one, (id, work), &mut orders);
                why = why.or_else(|| waits(facts, one.0, &said));
            }
        }
    }
    draft.take(orders);
    if done == members {
        let member = restore.status.coordinator.as_ref();
        let member = member.map_or_else(MemberName::default, |who| who.name.clone());
        let phase = Some(RestorePhase::Finishing);
        let status = CassandraRestoreStatus { phase, progress: None, ..restore.status.clone() };
        return write(facts, restore, status, Phase::Finishing { member }, draft);
    }
    let progress = Some(format!("{}%", percent / members.max(1) / TOLD * TOLD));
    let status = CassandraRestoreStatus { progress, ..restore.status.clone() };
    let none = || (there < members).then(|| Member::None.into());
    let replaying = || Phase::Replaying { to: to.0.to_string(), done, members }.into();
    write(facts, restore, status, why.or_else(none).unwrap_or_else(replaying), draft);
}

fn progress(member: &MemberFact, id: &str) -> usize {
    let told = member.status.transfer.as_ref().filter(|told| told.id == id);
    told.and_then(|told| told.progress).map_or(0, usize::from).min(99)
}

/// Nothing of a table that is not of the backup, and never nothing: a server takes that for all.
fn work(
    UnderWay { restore, .. }: &UnderWay<'_, '_>,
    source: &HostId,
    to: &Time,
) -> Option<TransferWork> {
    let tables: Vec<String> = restore.status.tables.iter().map(|table| table.to.clone()).collect();
    let manifest_hash = hash(restore).filter(|_| !tables.is_empty())?;
    let replay = ReplayWork { manifest_hash, source: source.clone(), to: to.clone(), tables };
    Some(TransferWork { replay: Some(replay), ..TransferWork::default() })
}
