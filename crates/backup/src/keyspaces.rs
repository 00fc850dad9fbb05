//! Which keyspaces a backup has. A backup may be of some keyspaces of its ring, while its schema is
//! always that of all: a table that stands in the schema is not for that in the backup, and a backup
//! of some keyspaces takes the place of no backup of more. Earlier versions did not note which
//! keyspaces they took; of theirs those count of which there are files, and of the others nothing is
//! known.

use crate::manifest::ring::{self, RingManifest};
use crate::schema::{Described, is_system};
use crate::vault::Vault;
use crate::words::trouble::Trouble;
use palladion_api::words::Names;
use std::collections::BTreeSet;

/// The keyspace of roles and permissions, which no description of a schema shows.
pub const AUTH: &str = "system_auth";

/// Keyspaces that a backup does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lacking {
    /// It was taken of others.
    NotTaken {
        /// Which it does not have.
        keyspaces: Names,
        /// Which it has.
        has: Names,
    },
    /// It has no file of them, and it is not known whether they were empty, or were not taken.
    Unknown {
        /// Which.
        keyspaces: Names,
    },
}

/// Does a backup have all of these, as far as its manifest says it? One that does not say it is
/// known by its files: see [`has_files`].
///
/// # Errors
/// Which it does not have.
pub fn are_taken(ring: &RingManifest, wanted: &BTreeSet<String>) -> Result<(), Lacking> {
    let Some(taken) = &ring.keyspaces else { return Ok(()) };
    match wanted - taken {
        lacking if lacking.is_empty() => Ok(()),
        lacking => Err(Lacking::NotTaken { keyspaces: Names::of(lacking), has: Names::of(taken) }),
    }
}

/// Does a backup have all of these, which its manifest does not say, by the keyspaces of which it
/// has files?
///
/// # Errors
/// Of which it is not known.
pub fn has_files(
    ring: &RingManifest,
    wanted: &BTreeSet<String>,
    files: &BTreeSet<String>,
) -> Result<(), Lacking> {
    if ring.keyspaces.is_some() {
        return Ok(());
    }
    match wanted - files {
        lacking if lacking.is_empty() => Ok(()),
        lacking => Err(Lacking::Unknown { keyspaces: Names::of(lacking) }),
    }
}

/// What a backup has, so that another one is compared with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holds {
    /// Keyspaces of which it has files.
    files: BTreeSet<String>,
    /// Those that were taken.
    taken: BTreeSet<String>,
    /// Those that its ring had; none where its schema cannot be read.
    existed: Option<BTreeSet<String>>,
    /// Were members of the ring left out of it?
    leaves_out: bool,
}

impl Holds {
    /// Read the manifests of all its members.
    ///
    /// # Errors
    /// One cannot be read, or the store failed.
    pub fn read(vault: &Vault<'_>, ring: &RingManifest) -> Result<Self, Trouble> {
        let mut files = BTreeSet::new();
        for member in &ring.members {
            for file in ring::read(vault, ring, member)?.files {
                files.insert(file.keyspace);
            }
        }
        let schema = ring::schema(vault, &ring.schema).ok();
        let text = schema.and_then(|plain| String::from_utf8(plain).ok());
        let existed = text.and_then(|text| Described::parse(&text).ok());
        Ok(Self {
            taken: ring.keyspaces.clone().unwrap_or_else(|| files.clone()),
            existed: existed.map(|schema| schema.keyspaces()),
            files,
            leaves_out: !ring.left_out.is_empty(),
        })
    }

    /// Keyspaces of which the other one has files, and this one has nothing, although they still
    /// existed when it was taken.
    pub fn lacks_of(&self, other: &Self) -> BTreeSet<String> {
        let was_dropped = |name: &&String| {
            !is_system(name) && self.existed.as_ref().is_some_and(|all| !all.contains(*name))
        };
        let lacking = other.files.difference(&self.taken);
        lacking.filter(|name| !was_dropped(name)).cloned().collect()
    }

    /// Were members left out of it that the other one has? What only they had is in no other.
    pub fn lacks_members_of(&self, other: &Self) -> bool {
        self.leaves_out && !other.leaves_out
    }

    /// Has it all that the other one has?
    pub fn has_all_of(&self, other: &Self) -> bool {
        self.lacks_of(other).is_empty() && !self.lacks_members_of(other)
    }

    /// Is it known to have all keyspaces that its ring had, roles among them, of all members?
    pub fn is_whole(&self) -> bool {
        let has_all = |all: &BTreeSet<String>| all.is_subset(&self.taken);
        !self.leaves_out && self.existed.as_ref().is_some_and(has_all) && self.taken.contains(AUTH)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> BTreeSet<String> {
        text.split_whitespace().map(str::to_string).collect()
    }

    fn holds(files: &str, taken: &str, existed: Option<&str>) -> Holds {
        let (files, taken) = (names(files), names(taken));
        Holds { files, taken, existed: existed.map(names), leaves_out: false }
    }

    #[test]
    fn one_of_some_keyspaces_takes_the_place_of_none_of_more() {
        let all = holds("shop users system_auth", "shop users system_auth", Some("shop users"));
        let some = holds("shop", "shop", Some("shop users"));
        assert_eq!(some.lacks_of(&all), names("users system_auth"));
        assert!(all.lacks_of(&some).is_empty());
        assert!(all.is_whole() && !some.is_whole());
        // Empty ones were taken, too.
        let emptied = holds("shop", "shop users system_auth", Some("shop users"));
        assert!(emptied.lacks_of(&all).is_empty() && emptied.is_whole());
    }

    #[test]
    fn one_without_a_member_takes_the_place_of_none_of_all_members() {
        let all = holds("shop system_auth", "shop system_auth", Some("shop"));
        let without = Holds { leaves_out: true, ..all.clone() };
        assert!(!without.has_all_of(&all) && all.has_all_of(&without));
        assert!(without.has_all_of(&without) && !without.is_whole());
    }

    #[test]
    fn a_keyspace_that_was_dropped_before_is_missed_by_nobody() {
        let before = holds("shop old system_auth", "shop old system_auth", Some("shop old"));
        let after = holds("shop system_auth", "shop system_auth", Some("shop"));
        assert!(after.lacks_of(&before).is_empty());
        // Roles stand in no schema, and are never dropped.
        let no_roles = holds("shop", "shop", Some("shop"));
        assert_eq!(no_roles.lacks_of(&before), names("system_auth"));
        assert!(!no_roles.is_whole());
        // Of a schema that cannot be read nothing is known to be dropped.
        let unread = holds("shop", "shop system_auth", None);
        assert_eq!(unread.lacks_of(&before), names("old"));
        assert!(!unread.is_whole());
    }
}
