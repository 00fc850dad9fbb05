//! All data is in place, and clients are let in: that is on record first. From then on it is a
//! ring like any other, whose members are replaced when they are lost, and nobody takes it back;
//! each member that is still closed is started again for clients.

use super::super::answers::{Answer, One, answer, waits};
use super::super::course::write;
use super::super::orders::{self, Active, give};
use super::super::read::Restore;
use super::in_place;
use crate::decide::draft::Draft;
use crate::facts::Facts;
use crate::validate::ValidBackup;
use crate::words::restores::Phase;
use palladion_api::backup::{OpenWork, TransferWork};
use palladion_api::cluster::WholeRing;
use palladion_api::restore::{CassandraRestoreStatus, RestorePhase};

/// The name of the order.
const OPEN: &str = "open";

/// Have it on record, and order it of all at once: nobody is served yet who could miss a member.
pub fn open(
    facts: &Facts<'_>,
    (restore, active, own): (&Restore<'_>, &Active, Option<&ValidBackup>),
    whole: &WholeRing,
    draft: &mut Draft,
) {
    if !whole.open {
        return orders::note_open(active, draft);
    }
    let (mut done, mut members, mut why) = (0, 0, None);
    // Whoever is lost by now is replaced, by one that never was closed.
    for (_, one) in in_place(facts, whole) {
        members += 1;
        let said = answer(one.0, &active.order(OPEN));
        match said {
            Answer::Done(_) if one.0.is_live(&facts.nodes) && !one.0.is_closed() => done += 1,
            Answer::Done(_) => {}
            Answer::Failed(failed) => why = Some(failed),
            Answer::None | Answer::Going(_) => {
                order(facts, (active, own), one, draft);
                why = why.or_else(|| waits(facts, one.0, &said));
            }
        }
    }
    if done == members {
        let phase = Some(RestorePhase::Repairing);
        let status = CassandraRestoreStatus { phase, ..restore.status.clone() };
        return write(facts, restore, status, Phase::Repairing { done: 0, members }, draft);
    }
    let said = why.unwrap_or_else(|| Phase::Opening { done, members }.into());
    write(facts, restore, restore.status.clone(), said, draft);
}

/// Order it of whoever is closed still, or comes back so: has somebody of them yet to be seen open?
pub fn close_behind(
    facts: &Facts<'_>,
    (active, own): (&Active, Option<&ValidBackup>),
    whole: &WholeRing,
    draft: &mut Draft,
) -> bool {
    let mut is_any = false;
    for (_, one) in in_place(facts, whole) {
        // What a member says of a server that does not run is no sign that it is open.
        is_any |= one.0.is_closed() || !one.0.is_normal();
        if one.0.is_closed() {
            order(facts, (active, own), one, draft);
        }
    }
    is_any
}

fn order(
    facts: &Facts<'_>,
    (active, own): (&Active, Option<&ValidBackup>),
    one: One<'_>,
    draft: &mut Draft,
) {
    let work = TransferWork { open: Some(OpenWork {}), ..TransferWork::default() };
    give(facts, (active, own), one, (active.order(OPEN), work), draft);
}
