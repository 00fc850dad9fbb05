//! Orders that are left of a backup, a restore or a retention which is not under way any more.

use crate::decide::draft::Draft;
use crate::decide::transfers::{ordered, take_from};
use crate::decide::turn::epoch;
use crate::decide::{backups, restores, retention};
use crate::facts::Facts;
use palladion_api::backup::Transfer;

/// They are withdrawn, whoever has left them.
pub fn withdraw(facts: &Facts<'_>, draft: &mut Draft) {
    if epoch::is_behind(facts) {
        return;
    }
    let (backup, restore) = (backups::Active::read(facts), restores::Active::read(facts));
    let retention = retention::Active::read(facts);
    let is_left = |order: &Transfer| {
        backup.as_ref().is_none_or(|active| !active.is_of(order))
            && restore.as_ref().is_none_or(|active| !active.is_of(order))
            && retention.as_ref().is_none_or(|active| !active.is_of(order))
    };
    for member in facts.members.values().filter(|member| ordered(member).is_some_and(is_left)) {
        take_from(facts, member, draft);
    }
}
