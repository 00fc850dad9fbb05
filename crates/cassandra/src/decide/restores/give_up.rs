//! When a restore is given up: a user takes it back, or it cannot become complete any more.
//! That is on record before anything is taken back.

use super::abandon::abandoning;
use super::begin::is_before_any_table;
use super::course::write;
use super::read::Restore;
use crate::decide::draft::Draft;
use crate::decide::transfers::{Said, given_up};
use crate::facts::Facts;
use crate::words::restores::Failed;
use palladion_api::restore::CassandraRestoreStatus;

/// Does a user take it back? Then that goes on record.
pub fn taken_back(facts: &Facts<'_>, restore: &Restore<'_>, draft: &mut Draft) -> bool {
    if restore.status.given_up.is_some() || !restore.spec.abort {
        return false;
    }
    let why = match is_before_any_table(restore) {
        true => Failed::AbortedInTime,
        false => Failed::Aborted,
    };
    because(facts, restore, &why.into(), draft);
    true
}

/// It cannot become complete any more.
pub fn because(facts: &Facts<'_>, restore: &Restore<'_>, why: &Said, draft: &mut Draft) {
    let given_up = given_up(facts, why);
    let raised = facts.status.restore.as_ref().and_then(|restore| restore.gc_grace_seconds);
    let said = abandoning(raised, given_up.message.clone());
    let status = CassandraRestoreStatus { given_up: Some(given_up), ..restore.status.clone() };
    write(facts, restore, status, said, draft);
}
