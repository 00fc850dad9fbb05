//! Work of one member for all: which one, and how it is asked.

use super::answers::{Answer, answer, member};
use super::course::{Said, write};
use super::give_up;
use super::orders::{UnderWay, give};
use super::read::is_in;
use crate::decide::draft::Draft;
use crate::facts::{Facts, MemberFact};
use crate::words::backups::{Member, Phase};
use palladion_api::backup::{BackupMember, TransferWork};

/// A member of a backup, and what is known of it.
pub type One<'a> = (&'a BackupMember, &'a MemberFact);

/// Those that are there, and not left out.
pub fn all<'a>(
    facts: &'a Facts<'_>,
    entries: &'a [BackupMember],
) -> impl Iterator<Item = One<'a>> + Clone {
    let there = entries.iter().filter(|entry| is_in(entry));
    there.filter_map(|entry| Some((entry, member(facts, entry)?)))
}

/// Does it have this order?
pub fn has_order((_, of): &One<'_>, id: &str) -> bool {
    let order = of.spec.as_ref().and_then(|spec| spec.transfer.as_ref());
    order.is_some_and(|order| order.id == id)
}

/// The one that has the order already, unless its server is down; or else the first that is up,
/// or the first.
pub fn chosen<'a>(facts: &'a Facts<'_>, entries: &'a [BackupMember], id: &str) -> Option<One<'a>> {
    let all = all(facts, entries);
    let is_up = |(_, of): &One<'_>| of.is_live(&facts.nodes);
    let at_it = all.clone().find(|one| has_order(one, id) && is_up(one));
    let up = || all.clone().find(is_up);
    let ordered = || all.clone().find(|one| has_order(one, id));
    at_it.or_else(up).or_else(ordered).or_else(|| all.clone().next())
}

/// Order it this, and say what it waits for; give up if it has failed.
pub fn ask(
    facts: &Facts<'_>,
    (backup, active, store): UnderWay<'_, '_>,
    (entry, of): One<'_>,
    (id, work, phase): (String, TransferWork, Phase),
    draft: &mut Draft,
) {
    let said = answer(of, &id);
    if let Answer::Failed(why) = &said {
        return give_up::because(facts, backup, why, draft);
    }
    give(facts, (active, store), (entry, of), (id, work), draft);
    let why = match said {
        Answer::Going(Some(why)) => why,
        Answer::None if !of.is_live(&facts.nodes) => {
            Said::from(Member::Down { member: of.name.clone() })
        }
        Answer::None | Answer::Going(None) | Answer::Done(_) | Answer::Failed(_) => phase.into(),
    };
    write(facts, backup, backup.status.clone(), why, draft);
}
