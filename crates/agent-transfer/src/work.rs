//! The kinds of work but for the upload: each asks the core and says what it found.

use crate::cleared;
use crate::journal;
use crate::orders::{Describe, Discard, Fetch, Finish, Prepare, Verify};
use crate::tell::{Damaged, Done};
use crate::upload::space;
use crate::wanted;
use crate::words::stopped::Stopped;
use palladion_backup::catalog::{Catalog, State};
use palladion_backup::fetch::Filter;
use palladion_backup::names::BackupId;
use palladion_backup::vault::Vault;
use palladion_backup::words::trouble::Failed;
use palladion_backup::{Trouble, damaged, fetch, finish, prepare, verify};
use palladion_store::target::Folder;
use std::io::ErrorKind;
use std::path::Path;

/// Is everything right for a backup?
///
/// # Errors
/// What is not.
pub fn prepare(vault: &Vault<'_>, order: &Prepare) -> Result<Done, Stopped> {
    space(&order.volume)?.has(order.least_free)?;
    prepare::prepare(vault)?;
    Ok(Done::Prepared)
}

/// Write the schema.
///
/// # Errors
/// It cannot be read or written.
pub fn describe(vault: &Vault<'_>, order: &Describe) -> Result<Done, Stopped> {
    let reading = |error: std::io::Error| Stopped::Reading {
        file: order.file.display().to_string(),
        why: error.to_string(),
    };
    let text = std::fs::read(&order.file).map_err(reading)?;
    let unfit = wanted::unfit(&text).map(|why| why.to_string());
    Ok(Done::Described { schema: finish::write_schema(vault, &text)?, unfit })
}

/// Check all, and write the outcome.
///
/// # Errors
/// The backup is not complete.
pub fn finish(vault: &Vault<'_>, order: &Finish) -> Result<Done, Stopped> {
    let hash = finish::finish(vault, &order.order())?;
    Ok(Done::Finished { manifest_hash: hash.to_string() })
}

/// Look at a complete backup. What is damaged is noted in the repository before anybody hears of it:
/// the next backup must not take it over.
///
/// # Errors
/// There is none, or the store failed.
pub fn verify(vault: &Vault<'_>, order: &Verify) -> Result<Done, Stopped> {
    let report = verify::verify(vault, &order.backup, order.depth.into())?;
    damaged::note(vault, &order.backup, &report.damaged)?;
    let catalog = Catalog::read(vault)?;
    let (_, hash) = catalog.complete(&order.backup)?;
    let damaged = report.damaged.into_iter().map(|damage| Damaged {
        object: damage.object,
        wrong: damage.wrong.to_string(),
        tables: damage.tables.into_iter().collect(),
    });
    Ok(Done::Verified {
        manifest_hash: hash.to_string(),
        objects: report.objects,
        read: report.read,
        damaged: damaged.collect(),
    })
}

/// Remove what a backup has left on this volume, which needs no store. What it has sent
/// stays there: the next one takes it over.
///
/// # Errors
/// Something cannot be removed.
pub fn discard(order: &Discard) -> Result<Done, Stopped> {
    let mut files = 0;
    for tag in &order.tags {
        files += cleared::clear(&order.data, tag)?;
    }
    for upload in &order.uploads {
        let journal = journal::path(&order.state, upload);
        let removed = std::fs::remove_file(&journal);
        removed.or_else(absent).map_err(|error| listing(&journal, &error))?;
    }
    Ok(Done::Discarded { files })
}

fn absent(error: std::io::Error) -> std::io::Result<()> {
    if error.kind() == ErrorKind::NotFound { Ok(()) } else { Err(error) }
}

fn listing(path: &Path, error: &std::io::Error) -> Stopped {
    Stopped::Listing { path: path.display().to_string(), why: error.to_string() }
}

/// Write that a backup has failed, for everybody and for good.
///
/// # Errors
/// It is complete, or it is not known whether it is written.
pub fn fail(vault: &Vault<'_>, id: &BackupId) -> Result<(), Stopped> {
    match finish::fail(vault, id, &Failed::Aborted)? {
        State::Failed(_) => Ok(()),
        State::Complete { .. } | State::Open | State::Unknown(_) => {
            Err(Trouble::OtherOutcome { id: id.to_string() }.into())
        }
    }
}

/// Bring the files of one source.
///
/// # Errors
/// There is no such complete backup, or store or volume failed.
pub fn fetch(vault: &Vault<'_>, order: &Fetch) -> Result<Done, Stopped> {
    let filter = Filter {
        host: Some(order.source.clone()),
        keyspace: order.keyspace.clone(),
        table: order.table.clone(),
    };
    let target = Folder::of(&order.into, &vault.repository().id, &order.backup)
        .map_err(|why| Stopped::Opening { why })?;
    let fetched = fetch::fetch(vault, (&order.backup, &filter), &target)?;
    Ok(Done::Fetched {
        files: fetched.files,
        bytes: fetched.bytes,
        there: fetched.there,
        damaged: fetched.damaged.into_iter().map(|(file, _)| file).collect(),
    })
}
