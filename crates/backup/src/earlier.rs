//! What the next backup of a member may name again: the manifest of its last
//! complete backup, and that of a later one that failed or is under way, so that
//! what it has sent is not sent twice.

use crate::catalog::{Backup, Catalog, State};
use crate::manifest::member::MemberManifest;
use crate::manifest::ring::{self, OfMember, RingManifest, read_unchecked};
use crate::names::HostId;
use crate::vault::Vault;
use crate::words::trouble::Trouble;

/// A manifest of the member that may be read.
enum Candidate<'c> {
    Complete(&'c RingManifest, &'c OfMember),
    Checkpoint(&'c str),
}

/// The manifests, the newest first: at most one that is complete, and one after it. One
/// that cannot be read is passed over: its files are sent anew.
///
/// # Errors
/// The store failed.
pub fn earlier(
    vault: &Vault<'_>,
    catalog: &Catalog,
    host: &HostId,
) -> Result<Vec<MemberManifest>, Trouble> {
    let kept = catalog.backups.values().filter(|backup| backup.condemned.is_none());
    let mut all: Vec<(i64, Candidate<'_>)> =
        kept.filter_map(|backup| candidate(backup, host)).collect();
    all.sort_by_key(|(written, _)| std::cmp::Reverse(*written));
    let (mut found, mut has_checkpoint) = (Vec::new(), false);
    for (_, candidate) in all {
        let read = match candidate {
            Candidate::Complete(ring, member) => ring::read(vault, ring, member).map(Some),
            Candidate::Checkpoint(_) if has_checkpoint => continue,
            Candidate::Checkpoint(name) => {
                read_unchecked(vault, name).map(|found| found.map(|(manifest, _)| manifest))
            }
        };
        match read {
            Ok(Some(manifest)) if manifest.member.host == *host => found.push(manifest),
            Ok(_) | Err(Trouble::Object { .. }) => continue,
            Err(other) => return Err(other),
        }
        match candidate {
            Candidate::Complete(..) => break,
            Candidate::Checkpoint(_) => has_checkpoint = true,
        }
    }
    Ok(found)
}

fn candidate<'c>(backup: &'c Backup, host: &HostId) -> Option<(i64, Candidate<'c>)> {
    match &backup.state {
        State::Complete { ring, .. } => {
            let member = ring.members.iter().find(|member| member.host == *host)?;
            Some((ring.window.to, Candidate::Complete(ring, member)))
        }
        State::Failed(_) | State::Open | State::Unknown(_) => {
            let of_host = backup.checkpoints.iter().filter(|(of, _, _)| of == host);
            let (_, _, meta) = of_host.max_by_key(|(_, number, _)| *number)?;
            Some((meta.modified, Candidate::Checkpoint(&meta.name)))
        }
    }
}
