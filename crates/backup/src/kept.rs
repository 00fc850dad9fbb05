//! What the manifests of kept backups name, and of condemned ones that somebody still
//! reads. Asked for one member at a time, as a file of a member is named by manifests of
//! that member only. Where one manifest cannot be read, it is not known what is named.

use crate::catalog::{Backup, Catalog, State};
use crate::keyspaces::Holds;
use crate::manifest::ring::{self, read_unchecked};
use crate::names::{BackupId, HostId, SCHEMA};
use crate::pins::{self, COUNTS_FOR};
use crate::vault::{Vault, wrong};
use crate::words::trouble::Wrong;
use std::collections::{BTreeMap, BTreeSet};

/// What it is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum For {
    /// To condemn what is not named. What failed backups have sent is kept for
    /// a week by this time: the next backup takes it over.
    Condemning {
        /// The store's time.
        now: i64,
    },
    /// To delete: what failed can never be complete, so nobody misses it. What is condemned is
    /// missed by those who had pinned it before, and read it still.
    Deleting {
        /// The store's time.
        now: i64,
    },
}

/// Whose names are asked for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Of {
    /// The files of a member.
    Host(HostId),
    /// The schemas.
    Schema,
}

impl Of {
    /// Whose name it is; `None` for what is neither.
    pub fn name(name: &str) -> Option<Self> {
        match name.strip_prefix(SCHEMA) {
            Some(rest) => (!rest.contains('/')).then_some(Self::Schema),
            None => crate::names::host_of(name).map(Self::Host),
        }
    }
}

/// A manifest that cannot be read: of which backup, and why.
pub type Unread = (BackupId, Wrong);

/// Objects that are named, each with a backup that does.
pub type Named = BTreeMap<String, BackupId>;

/// Which objects are named by backups that `without` does not contain, and that are kept or, to
/// delete, still read.
pub fn named(
    vault: &Vault<'_>,
    catalog: &Catalog,
    (of, purpose): (&Of, For),
    without: &BTreeSet<BackupId>,
) -> Result<Named, Unread> {
    let mut all = Named::new();
    for (id, backup) in catalog.backups.iter().filter(|(id, _)| !without.contains(*id)) {
        if backup.condemned.is_some() && !is_read(vault, id, purpose)? {
            continue;
        }
        let mut add = |names: BTreeSet<&str>| {
            let names = names.into_iter().filter(|name| Of::name(name).as_ref() == Some(of));
            all.extend(names.map(|name| (name.to_string(), id.clone())));
        };
        if let State::Complete { ring, .. } = &backup.state {
            add(BTreeSet::from([ring.schema.object.as_str()]));
            let members = ring.members.iter().filter(|m| is_of(of, &m.host));
            for member in members {
                let manifest = ring::read(vault, ring, member);
                add(manifest.map_err(|trouble| (id.clone(), wrong(trouble)))?.objects());
            }
            continue;
        }
        for name in checkpoints(backup, of, purpose) {
            match read_unchecked(vault, name) {
                Ok(Some((manifest, _))) => add(manifest.objects()),
                Ok(None) => return Err((id.clone(), Wrong::Gone)),
                Err(trouble) => return Err((id.clone(), wrong(trouble))),
            }
        }
    }
    Ok(all)
}

/// Does somebody still read a condemned backup? Of another entry than the one that is swept: who has
/// pinned it must find its objects too where that entry lists them.
fn is_read(vault: &Vault<'_>, id: &BackupId, purpose: For) -> Result<bool, Unread> {
    match purpose {
        For::Condemning { .. } => Ok(false),
        For::Deleting { now } => {
            let holder = pins::holder(vault, id, now);
            holder.map(|holder| holder.is_some()).map_err(|why| (id.clone(), wrong(why)))
        }
    }
}

/// Files are named by the manifest of their member, the schema by that of the ring.
fn is_of(of: &Of, host: &HostId) -> bool {
    match of {
        Of::Host(wanted) => wanted == host,
        Of::Schema => false,
    }
}

/// The manifests of a backup that is not complete and that count.
fn checkpoints<'b>(backup: &'b Backup, of: &Of, purpose: For) -> Vec<&'b str> {
    let counts = |modified: i64| match (&backup.state, purpose) {
        (State::Failed(_), For::Deleting { .. }) => false,
        (State::Failed(_) | State::Open, For::Condemning { now }) => now - modified < COUNTS_FOR,
        (State::Open, For::Deleting { .. }) | (State::Unknown(_), _) => true,
        (State::Complete { .. }, _) => false,
    };
    let of_these = |host: &HostId| match of {
        Of::Host(wanted) => wanted == host,
        Of::Schema => true,
    };
    let all = backup.checkpoints.iter();
    let all = all.filter(|(host, _, meta)| of_these(host) && counts(meta.modified));
    all.map(|(_, _, meta)| meta.name.as_str()).collect()
}

/// What a complete backup has; none where one of its manifests cannot be read.
pub fn holds(vault: &Vault<'_>, backup: &Backup) -> Option<Holds> {
    match &backup.state {
        State::Complete { ring, .. } => Holds::read(vault, ring).ok(),
        State::Failed(_) | State::Open | State::Unknown(_) => None,
    }
}
