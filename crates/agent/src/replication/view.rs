//! The datacenters of the ring, as the server of this member sees them.

use crate::words::replication::Refused;
use palladion_api::member::RingMember;
use std::collections::BTreeMap;

/// The datacenters of the ring, and how many members each has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// The datacenter of this member.
    own: String,
    /// Members by datacenter; none where the datacenter of a member is not known.
    members: Option<BTreeMap<String, u32>>,
}

impl View {
    /// From what the server says of its ring; nothing where it does not answer.
    pub fn of(own: &str, members: Option<&[RingMember]>) -> Self {
        let own = own.to_string();
        let mut all = BTreeMap::new();
        for member in members.into_iter().flatten() {
            let Some(datacenter) = &member.datacenter else {
                return Self { own, members: None };
            };
            *all.entry(datacenter.clone()).or_default() += 1;
        }
        // A server always sees itself.
        Self { own, members: Some(all).filter(|all| !all.is_empty()) }
    }

    /// Is it the datacenter of this member?
    pub fn is_own(&self, datacenter: &str) -> bool {
        self.own == datacenter
    }

    /// Is it known that nobody is in this datacenter?
    pub fn is_deserted(&self, datacenter: &str) -> bool {
        let members = self.members.as_ref();
        members.is_some_and(|members| !members.contains_key(datacenter))
    }

    /// The other datacenters, where all are known.
    pub fn others(&self) -> Option<Vec<String>> {
        let all = self.members.as_ref()?.keys();
        Some(all.filter(|name| **name != self.own).cloned().collect())
    }

    /// Has a datacenter as many members as it gets copies? What it had before it may keep.
    pub(super) fn has_room(
        &self,
        datacenter: &str,
        copies: u32,
        present: u32,
    ) -> Result<(), Refused> {
        if copies <= present {
            return Ok(());
        }
        let known = self.members.as_ref();
        let members = match known.and_then(|known| known.get(datacenter)) {
            Some(members) => *members,
            // Where a datacenter is not known, only the copies of one's own are set.
            None if known.is_none() && self.is_own(datacenter) => return Ok(()),
            None if known.is_none() => return Err(Refused::NotKnown),
            None => return Err(Refused::NoMembers { datacenter: datacenter.into() }),
        };
        match copies > members {
            true => Err(Refused::TooMany { datacenter: datacenter.into(), copies, members }),
            false => Ok(()),
        }
    }
}
