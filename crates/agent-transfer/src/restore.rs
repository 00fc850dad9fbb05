//! The child's part of a restore: a backup is read, and its SSTables are brought a batch at a
//! time. The backup is pinned before it is read. The pin stays when a child ends: it counts for
//! seven days, while the agent loads and until the next child renews it, and beyond the end of
//! the order, until the next one of the restore has its own. So for a week after a restore its
//! backup cannot be expired.

use crate::metered::Metered;
use crate::orders::restore::{Amounts, Batch, Read, Roles, Tokens, Which};
use crate::scratch::Scratch;
use crate::snapshot::shown;
use crate::tell::Done;
pub use crate::wanted::{choose, described, mapping};
use crate::wanted::{folder, keyspaces, lacks, of_a_ring, targets};
use crate::words::stopped::Stopped;
use crate::{replay, tokens, whole};
use palladion_api::backup::LoadSource;
use palladion_api::ids::HostId;
use palladion_backup::batch::{Amount, Part, batch as bring, found};
use palladion_backup::hash::Hash;
use palladion_backup::hold::hold;
use palladion_backup::keyspaces::{AUTH, are_taken, has_files};
use palladion_backup::manifest::member::{Member, files};
use palladion_backup::manifest::ring::{self, LeftOut, OfMember, RingManifest};
use palladion_backup::names::{BackupId, HostId as SourceId};
pub use palladion_backup::schema;
use palladion_backup::vault::Vault;
use palladion_backup::words::trouble::Trouble;
use palladion_backup::{catalog, vault};
use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// After so many SSTables it is looked whether the pin is to be renewed.
const LOOKS: u64 = 64;

/// Read what a backup is, and write its schema into a file.
///
/// # Errors
/// There is no such complete backup, it does not have what is restored, or store or volume failed.
pub fn read(vault: &Vault<'_>, transfer: &str, order: &Read) -> Result<Done, Stopped> {
    let (ring, hash) = opened(vault, transfer, (&order.backup, order.manifest.as_ref()))?;
    let text = schema_of(vault, &ring)?;
    let backup = described(&text)?;
    let chosen = match order.amounts {
        Amounts::Ring => of_a_ring(&backup, &order.tables)?,
        Amounts::Sum | Amounts::Leave => choose(&backup, &order.tables)?,
    };
    let keyspaces = keyspaces(&backup, &chosen, order);
    are_taken(&ring, &keyspaces).map_err(|lacking| lacks(lacking, order))?;
    let tables = targets(chosen);
    let (mut sources, mut members, mut files) = (Vec::new(), Vec::new(), BTreeSet::new());
    let is_asked = |sstables: u64| match order.amounts {
        // Its roles are loaded as well, and its tokens are taken.
        Amounts::Ring => true,
        Amounts::Sum | Amounts::Leave => sstables > 0,
    };
    let is_role = |keyspace: &str, table: &str| {
        order.roles == Roles::Load && keyspace == AUTH && whole::AUTH_TABLES.contains(&table)
    };
    if order.amounts != Amounts::Leave {
        for member in &ring.members {
            let into = |keyspace: &str, table: &str| folder(&tables, keyspace, table);
            let found = found(vault, (&ring, member), &into, &is_role).map_err(restoring)?;
            let (Amount { sstables, bytes }, of) = (found.amount, found.member);
            files.extend(found.keyspaces);
            if is_asked(sstables) && line(&of.version) > line(&order.server) {
                let (found, own) = (of.version, order.server.clone());
                return Err(Stopped::NewerLine { found, own });
            }
            let host_id = HostId::new(member.host.as_str());
            sources.extend(is_asked(sstables).then_some(LoadSource { host_id, sstables, bytes }));
            members.push(of);
        }
        has_files(&ring, &keyspaces, &files).map_err(|lacking| lacks(lacking, order))?;
    }
    let journals = match order.to {
        Some(to) => replay::journals(vault, (&ring, &members), (to, &order.server))?,
        None => Vec::new(),
    };
    let members = match order.amounts {
        Amounts::Ring => whole::members(&members, &ring.left_out)?,
        Amounts::Sum | Amounts::Leave => Vec::new(),
    };
    private(&order.schema, &text)
        .map_err(|error| Stopped::Scratch { path: shown(&order.schema), why: error.to_string() })?;
    let (manifest_hash, window) = (hash.to_string(), ring.window);
    Ok(Done::Read { manifest_hash, window, sources, members, journals })
}

/// The line of a release: a server reads no files of a later one. One that is not written in
/// numbers is before all.
pub(crate) fn line(version: &str) -> Vec<u32> {
    version.split('.').take(2).map_while(|part| part.parse().ok()).collect()
}

/// Read which tokens a member of a backup had.
///
/// # Errors
/// As for [`read`].
pub fn tokens(vault: &Vault<'_>, transfer: &str, order: &Tokens) -> Result<Done, Stopped> {
    let (ring, hash) = opened(vault, transfer, (&order.backup, Some(&order.manifest)))?;
    let tokens = match left_out(&ring, &order.source) {
        Some(out) => out.tokens.clone(),
        None => head(vault, &ring, of_source(&ring, &order.backup, &order.source)?)?.tokens,
    };
    whole::has_tokens(&order.source, &tokens)?;
    let source = HostId::new(order.source.as_str());
    Ok(Done::Tokens { manifest_hash: hash.to_string(), source, tokens })
}

/// A member that is not in the backup.
fn left_out<'a>(ring: &'a RingManifest, source: &SourceId) -> Option<&'a LeftOut> {
    ring.left_out.iter().find(|out| out.host == *source)
}

/// What the manifest of a member says of it, before its files.
pub(crate) fn head(
    vault: &Vault<'_>,
    ring: &RingManifest,
    of: &OfMember,
) -> Result<Member, Stopped> {
    let plain = ring::plain(vault, ring, of).map_err(restoring)?;
    // Read as the manifest of this member a moment ago.
    let torn = |invalid| restoring(ring::torn(&of.manifest, &invalid));
    files(&plain).map(|(member, _)| member).map_err(torn)
}

pub(crate) fn of_source<'a>(
    ring: &'a RingManifest,
    backup: &BackupId,
    source: &SourceId,
) -> Result<&'a OfMember, Stopped> {
    let member = ring.members.iter().find(|member| member.host == *source);
    let (id, host) = (backup.to_string(), source.to_string());
    member.ok_or_else(|| restoring(Trouble::NoMember { id, host }))
}

/// Bring the next SSTables of a member.
///
/// # Errors
/// One of them is not what was taken, or as for [`read`]; nothing is left of the batch then.
pub fn batch(
    vault: &Vault<'_>,
    store: &Metered<'_>,
    (transfer, order): (&str, &Batch),
) -> Result<Done, Stopped> {
    Scratch::filled(&order.into, |scratch| brought(vault, store, (transfer, order), scratch))
}

fn brought(
    vault: &Vault<'_>,
    store: &Metered<'_>,
    (transfer, order): (&str, &Batch),
    scratch: &Scratch,
) -> Result<Done, Stopped> {
    let (ring, _) = opened(vault, transfer, (&order.backup, Some(&order.manifest)))?;
    let tables = match &order.which {
        Which::Restored => targets(choose(&described(&schema_of(vault, &ring)?)?, &order.tables)?),
        Which::Auth(names) => whole::of_auth(names),
    };
    if let Some(out) = left_out(&ring, &order.source) {
        let tokens_hash = tokens::hash_of(&out.tokens);
        return Ok(Done::Brought { sstables: 0, bytes: 0, all_sstables: 0, tokens_hash });
    }
    let member = of_source(&ring, &order.backup, &order.source)?;
    store.count(|progress| (progress.files, progress.of) = (order.skip, order.of));
    let part = Part { skip: order.skip, limit: order.limit, room: order.room };
    let brought = bring(
        vault,
        (&ring, member, part),
        &|keyspace, table| folder(&tables, keyspace, table),
        scratch,
        &mut |there| {
            store.count(|progress| progress.files = there);
            match there % LOOKS {
                0 => hold(vault, &order.backup, &holder(transfer)),
                _ => Ok(()),
            }
        },
    );
    let (brought, of) = brought.map_err(restoring)?;
    store.tell();
    let Amount { sstables, bytes } = brought.now;
    let (all_sstables, tokens_hash) = (brought.all.sstables, tokens::hash_of(&of.tokens));
    Ok(Done::Brought { sstables, bytes, all_sstables, tokens_hash })
}

/// The backup, pinned and then read.
pub(crate) fn opened(
    vault: &Vault<'_>,
    transfer: &str,
    (id, expected): (&BackupId, Option<&Hash>),
) -> Result<(Box<RingManifest>, Hash), Stopped> {
    // The pin is first: whoever deletes and does not see it is seen by us.
    hold(vault, id, &holder(transfer)).map_err(restoring)?;
    let (ring, found) = catalog::one(vault, id).map_err(restoring)?;
    match expected.filter(|expected| **expected != found) {
        None => Ok((ring, found)),
        Some(expected) => {
            let (id, found, expected) = (id.to_string(), found.to_string(), expected.to_string());
            Err(restoring(Trouble::OtherManifest { id, found, expected }))
        }
    }
}

/// Who reads, in the name of a pin.
pub(crate) fn holder(transfer: &str) -> String {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let name: String = transfer.chars().map(|c| if is_part(c) { c } else { '_' }).collect();
    format!("restore-{name}")
}

pub(crate) fn restoring(why: Trouble) -> Stopped {
    Stopped::Restore { why }
}

fn schema_of(vault: &Vault<'_>, ring: &RingManifest) -> Result<String, Stopped> {
    let of = &ring.schema;
    let plain = ring::schema(vault, of).map_err(|wrong| vault::object(&of.object, wrong));
    let plain = plain.map_err(restoring)?;
    String::from_utf8(plain).map_err(|_| {
        let why = palladion_backup::words::trouble::Torn::NotText.to_string();
        let wrong = palladion_backup::words::trouble::Wrong::Torn { why };
        restoring(vault::object(&of.object, wrong))
    })
}

/// Write a text that is readable for the agent alone: the repository may be sealed.
///
/// # Errors
/// The file, or its folder, cannot be created or written.
pub fn private(file: &Path, text: &str) -> std::io::Result<()> {
    file.parent().map(std::fs::create_dir_all).transpose()?;
    let mut options = OpenOptions::new();
    options.create(true).write(true).truncate(true).mode(0o600);
    options.open(file)?.write_all(text.as_bytes())
}
