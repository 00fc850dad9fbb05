//! Of which of the system keyspaces another datacenter has copies, as members here count them.

use super::{KEYSPACES, ROLES};
use crate::facts::Facts;

/// Of which of the system keyspaces a datacenter has copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Had {
    /// Of none: it is new.
    Nothing,
    /// Of some; of the roles?
    Some { roles: bool },
    /// Of all that there are.
    All,
}

/// The same as all members report it. None where nobody does, or one has not counted again yet.
pub(super) fn had(facts: &Facts<'_>, datacenter: &str) -> Option<Had> {
    let mut answers = facts.joined().filter(|m| m.is_normal()).map(|member| {
        let counted = member.counted()?;
        let has = |keyspace: &str| {
            let of = counted.get(keyspace)?;
            Some(of.get(datacenter).is_some_and(|copies| *copies > 0))
        };
        let known: Vec<bool> = KEYSPACES.iter().filter_map(|keyspace| has(keyspace)).collect();
        let all = !known.is_empty() && known.iter().all(|has| *has);
        let none = !known.contains(&true);
        match (all, none) {
            (true, _) => Some(Had::All),
            (false, true) if !known.is_empty() => Some(Had::Nothing),
            (false, true) => None,
            (false, false) => Some(Had::Some { roles: has(ROLES) != Some(false) }),
        }
    });
    let first = answers.next()??;
    answers.all(|answer| answer == Some(first)).then_some(first)
}
