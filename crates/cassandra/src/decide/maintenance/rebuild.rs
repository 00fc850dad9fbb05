//! A rebuild of a member: from which datacenter, of which keyspaces, and what follows it.

use super::debts;
use crate::decide::draft::Draft;
use crate::facts::{Facts, MemberFact};
use crate::words::maintenance::{Added, Cause};
use jiff::Timestamp;
use palladion_api::member::{Debt, DebtKind, Operation};
use std::collections::BTreeMap;

/// Most keyspaces of one operation: what the schema takes.
const MOST: usize = 1024;

/// The keyspaces that a member lacks, of those that one datacenter has, and that datacenter: the
/// one that has most of them.
fn source(facts: &Facts<'_>, member: &MemberFact) -> Option<(String, Vec<String>)> {
    let own = &facts.spec.datacenter.name;
    let (copies, lacks) = (member.counted()?, member.lacks(own)?);
    let mut by_source: BTreeMap<&String, Vec<String>> = BTreeMap::new();
    for keyspace in lacks {
        let of = copies.get(keyspace)?;
        for (datacenter, _) in of.iter().filter(|(name, copies)| *name != own && **copies > 0) {
            by_source.entry(datacenter).or_default().push(keyspace.clone());
        }
    }
    let most = by_source.values().map(|keyspaces| keyspaces.len()).max()?;
    let (source, mut keyspaces) = by_source.into_iter().find(|(_, of)| of.len() == most)?;
    keyspaces.truncate(MOST);
    Some((source.clone(), keyspaces))
}

/// Name what is rebuilt, and from where; nothing where that is not known.
pub(super) fn name(
    facts: &Facts<'_>,
    member: &MemberFact,
    operation: &mut Operation,
) -> Option<()> {
    let (source, keyspaces) = source(facts, member)?;
    operation.source_datacenter = Some(source);
    operation.keyspaces = keyspaces;
    Some(())
}

/// Is nothing of this debt lacked any more? A keyspace names the datacenter no longer, or was
/// streamed by a later volume, or was noted by an operation that did not come to say so.
pub(super) fn is_over(facts: &Facts<'_>, member: &MemberFact, debt: &Debt) -> bool {
    let lacks = || member.lacks(&facts.spec.datacenter.name);
    debt.kind == DebtKind::Rebuild && lacks().is_some_and(|lacks| lacks.is_empty())
}

/// Say what keeps a rebuild from beginning: whatever else is pending goes before it.
pub(super) fn stands_in_the_way(
    facts: &Facts<'_>,
    member: &MemberFact,
    debt: &Debt,
    draft: &mut Draft,
) -> bool {
    // Of one that is down, that is the trouble.
    if debt.kind != DebtKind::Rebuild || !member.is_normal() || source(facts, member).is_some() {
        return false;
    }
    draft.wait_for(Added::Uncounted { member: member.name.clone() }).about(member.subject());
    true
}

/// What is owed once a debt is paid: a rebuild copies one of the copies of each row, which may
/// lack what others have.
pub(super) fn then(
    now: Timestamp,
    member: &MemberFact,
    paid: &Debt,
    left: &[Debt],
) -> Option<Debt> {
    let is_owed = left.iter().any(|debt| debt.kind == DebtKind::Repair && debts::may_lack(debt));
    if paid.kind != DebtKind::Rebuild || is_owed {
        return None;
    }
    Some(debts::repair_of_itself(Cause::Rebuilt { member: member.name.clone(), at: now }))
}
