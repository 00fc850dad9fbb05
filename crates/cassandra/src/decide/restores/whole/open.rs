//! All data is in place, and clients are let in: that is on record first. From then on it is a
//! ring like any other, whose members are replaced when they are lost, and nobody takes it back;
//! each member that is still closed is started again for clients.

use super::super::answers::{Answer, answer, waits};
use super::super::course::write;
use super::super::orders::{self, Active, give};
use super::super::read::Restore;
use super::{Taken, taken};
use crate::decide::draft::Draft;
use crate::decide::transfers::Said;
use crate::facts::Facts;
use crate::validate::ValidBackup;
use crate::words::restores::Phase;
use palladion_api::backup::{OpenWork, TransferWork};
use palladion_api::cluster::WholeRing;
use palladion_api::restore::{CassandraRestoreStatus, RestorePhase};

/// The name of the order.
const OPEN: &str = "open";

/// How far it is.
pub struct Opened {
    /// So many members let clients in.
    pub done: usize,
    /// Of so many that took a place, and have it still.
    pub members: usize,
    /// Why one does not.
    why: Option<Said>,
}

impl Opened {
    /// Is nobody closed any more?
    pub fn is_over(&self) -> bool {
        self.done == self.members
    }
}

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
    let opened = order(facts, (active, own), whole, draft);
    let (done, members) = (opened.done, opened.members);
    if opened.is_over() {
        let phase = Some(RestorePhase::Repairing);
        let status = CassandraRestoreStatus { phase, ..restore.status.clone() };
        return write(facts, restore, status, Phase::Repairing { done: 0, members }, draft);
    }
    let said = opened.why.unwrap_or_else(|| Phase::Opening { done, members }.into());
    write(facts, restore, restore.status.clone(), said, draft);
}

/// Order it of those who are closed.
pub fn order(
    facts: &Facts<'_>,
    (active, own): (&Active, Option<&ValidBackup>),
    whole: &WholeRing,
    draft: &mut Draft,
) -> Opened {
    let id = active.order(OPEN);
    let mut opened = Opened { done: 0, members: 0, why: None };
    for place in &whole.places {
        // Whoever is lost by now is replaced, by one that never was closed.
        let Taken::By(one) = taken(facts, place) else { continue };
        opened.members += 1;
        let said = answer(one.0, &id);
        match said {
            Answer::Done(_) if one.0.is_live(&facts.nodes) && !one.0.is_closed() => {
                opened.done += 1;
            }
            Answer::Done(_) => {}
            Answer::Failed(why) => opened.why = Some(why),
            Answer::None | Answer::Going(_) => {
                let work = TransferWork { open: Some(OpenWork {}), ..TransferWork::default() };
                give(facts, (active, own), one, (id.clone(), work), draft);
                opened.why = opened.why.or_else(|| waits(facts, one.0, &said));
            }
        }
    }
    opened
}

/// Order it of whoever is closed still, or comes back so: has somebody of them yet to be seen open?
pub fn close_behind(
    facts: &Facts<'_>,
    (active, own): (&Active, Option<&ValidBackup>),
    whole: &WholeRing,
    draft: &mut Draft,
) -> bool {
    let mut is_any = false;
    for place in &whole.places {
        let Taken::By(one) = taken(facts, place) else { continue };
        // What a member says of a server that does not run is no sign that it is open.
        is_any |= one.0.is_closed() || !one.0.is_normal();
        if one.0.is_closed() {
            let work = TransferWork { open: Some(OpenWork {}), ..TransferWork::default() };
            give(facts, (active, own), one, (active.order(OPEN), work), draft);
        }
    }
    is_any
}
