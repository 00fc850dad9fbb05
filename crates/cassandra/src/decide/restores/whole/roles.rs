//! Roles and permissions of the backup: each member has its server stream those that the member
//! of the backup had whose place it has. Of two versions of a role the newer one wins, so the
//! users of the ring's own Secrets, which are as old as the ring, stay as they are.

use super::super::answers::{Answer, answer, waits};
use super::super::course::write;
use super::super::create::hash;
use super::super::give_up;
use super::super::orders::{UnderWay, give};
use super::in_place;
use crate::decide::draft::Draft;
use crate::decide::maintenance::system_keyspaces;
use crate::facts::Facts;
use crate::words::restores::{Failed, Member, Phase};
use palladion_api::backup::{LoadWay, LoadWork, TransferWork};
use palladion_api::cluster::WholeRing;
use palladion_api::restore::{CassandraRestoreStatus, RestoreAuth, RestorePhase};

/// What the names of orders to load them begin with.
const ROLES: &str = "roles-";

/// Order it, and go on once all are loaded.
pub fn roles(
    facts: &Facts<'_>,
    under_way: &UnderWay<'_, '_>,
    whole: &WholeRing,
    draft: &mut Draft,
) {
    let UnderWay { restore, active, own } = under_way;
    let members = whole.places.len();
    if restore.spec.auth == Some(RestoreAuth::Keep) {
        return opening(facts, under_way, members, draft);
    }
    let Some(manifest_hash) = hash(restore) else {
        return give_up::because(facts, restore, &Failed::Forgotten.into(), draft);
    };
    let all: Vec<_> = in_place(facts, whole).collect();
    // Who owns a role is not known before.
    if !system_keyspaces::are_settled(facts) {
        return write(facts, restore, restore.status.clone(), Phase::Replicating, draft);
    }
    let (mut done, mut why, mut orders) = (0, None, Draft::default());
    for (place, one) in &all {
        let id = active.order(&format!("{ROLES}{}", place.source));
        let said = answer(one.0, &id);
        match &said {
            Answer::Failed(failed) => return give_up::because(facts, restore, failed, draft),
            Answer::Done(told) if told.loaded.is_some() => done += 1,
            Answer::Done(_) => {
                let none = Failed::NoResult { member: place.member.clone() };
                return give_up::because(facts, restore, &none.into(), draft);
            }
            Answer::None | Answer::Going(_) => {
                let work = LoadWork {
                    manifest_hash: manifest_hash.clone(),
                    source: place.source.clone(),
                    tables: Vec::new(),
                    way: LoadWay::Roles,
                };
                let work = TransferWork { load: Some(work), ..TransferWork::default() };
                give(facts, (active, Some(own)), *one, (id, work), &mut orders);
                why = why.or_else(|| waits(facts, one.0, &said));
            }
        }
    }
    draft.take(orders);
    if done == members {
        return opening(facts, under_way, members, draft);
    }
    let none = || (all.len() < members).then(|| Member::None.into());
    let said = why.or_else(none).unwrap_or_else(|| Phase::LoadingRoles { done, members }.into());
    write(facts, restore, restore.status.clone(), said, draft);
}

fn opening(
    facts: &Facts<'_>,
    UnderWay { restore, .. }: &UnderWay<'_, '_>,
    members: usize,
    draft: &mut Draft,
) {
    let phase = Some(RestorePhase::Opening);
    let status = CassandraRestoreStatus { phase, progress: None, ..restore.status.clone() };
    write(facts, restore, status, Phase::Opening { done: 0, members }, draft);
}
