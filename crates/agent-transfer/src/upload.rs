//! Sends the snapshot of one member. The list of its files is fixed before the
//! first byte; what is in the store is noted, and its files go then. Begun again,
//! it goes on behind what was noted, and lists nothing anew.

use crate::cleared;
use crate::counted::Counted;
use crate::journal::{self, Each, Journal, Of};
use crate::metered::Metered;
use crate::orders::Upload;
use crate::parts;
use crate::settings::Tag;
use crate::snapshot::{self, Found, Reader};
use crate::tell::Done;
use crate::words::stopped::Stopped;
use palladion_backup::Trouble;
use palladion_backup::catalog::Catalog;
use palladion_backup::earlier::earlier;
use palladion_backup::manifest::member::Text;
use palladion_backup::manifest::ring::OfMember;
pub use palladion_backup::prepare::Space;
use palladion_backup::prepare::is_open;
use palladion_backup::take::{self, Order, Taking};
use palladion_backup::vault::Vault;
use rustix::fs::statvfs;
use std::iter::Peekable;
use std::path::Path;
use std::time::{Duration, Instant};

/// Send it.
///
/// # Errors
/// A file is gone or has rotted, the volume is too full, or the store failed.
pub fn upload(
    vault: &Vault<'_>,
    store: &Metered<'_>,
    (transfer, order): (&str, &Upload),
) -> Result<Done, Stopped> {
    let mut journal = opened(transfer, order)?;
    let (done, mut left) = (journal.taken, 0);
    for (number, found) in (0..).zip(journal.files()?) {
        match number < done {
            // A crash may have come between a note and the removal that it allows.
            true => snapshot::remove(&found?)?,
            false if journal.ended.is_some() => break,
            false => {
                let found = found?;
                snapshot::there(&found)?;
                left += found.file.bytes;
            }
        }
    }
    if let Some(ended) = journal.ended.clone() {
        return uploaded(order, &journal, ended);
    }
    store.count(|progress| {
        (progress.files, progress.of, progress.left_bytes) = (done, journal.listed, left);
    });
    store.tell();
    let catalog = Catalog::read(vault)?;
    is_open(&catalog, &order.member.backup)?;
    let before = earlier(vault, &catalog, &order.member.host)?;
    let taking_order =
        Order { member: order.member.clone(), checkpoint: 0, piece_bytes: order.piece_bytes };
    let taking = Taking::new(vault, &taking_order, &before)?;
    // From now on an expiry knows that this backup is under way.
    let mut written = checkpoint(vault, order, &mut journal).map(|_| Instant::now())?;
    let between = Duration::from_secs(order.checkpoint_seconds);
    let skipped = usize::try_from(done).unwrap_or(usize::MAX);
    let mut files = journal.files()?.skip(skipped).peekable();
    while let Some(files) = sstable(&mut files)? {
        is_whole(&order.tag, &files)?;
        let listed = files.iter().map(|found| found.file.clone()).collect();
        let room = || Ok(space(&order.state)?.has(order.least_free)?);
        let reader = Reader::new(&files, &room);
        let taken = taking.sstable(listed, &reader, &journal).map_err(|why| reader.why(why))?;
        let counted = Counted::of(&taken);
        journal.take(taken.files(), counted)?;
        files.iter().try_for_each(snapshot::remove)?;
        store.count(|progress| {
            progress.files += files.len() as u64;
            progress.left_bytes -= files.iter().map(|found| found.file.bytes).sum::<u64>();
            progress.reused_bytes += counted.reused_bytes;
        });
        if written.elapsed() >= between {
            written = checkpoint(vault, order, &mut journal).map(|_| Instant::now())?;
        }
    }
    let (checkpoint, member) = checkpoint(vault, order, &mut journal)?;
    journal.end(checkpoint, member.clone())?;
    uploaded(order, &journal, (checkpoint, member))
}

/// All is in the store: what is left of the snapshot are its folders, what the server
/// has written beside the components, and what is built anew.
fn uploaded(
    order: &Upload,
    journal: &Journal,
    (checkpoint, member): (u32, OfMember),
) -> Result<Done, Stopped> {
    // The agent clears what is left of a snapshot that nobody needs.
    if let Err(left) = cleared::clear(&order.data, &order.tag) {
        eprintln!("{left}");
    }
    let Counted { sent_bytes, reused_bytes } = journal.counted;
    Ok(Done::Uploaded { checkpoint, member, sent_bytes, reused_bytes, peak_bytes: peak() })
}

/// The files of the next SSTable of a list.
fn sstable(
    files: &mut Peekable<impl Iterator<Item = Result<Found, Stopped>>>,
) -> Result<Option<Vec<Found>>, Stopped> {
    let Some(first) = files.next().transpose()? else { return Ok(None) };
    let of = |found: &Found| (found.file.table_id.clone(), found.file.sstable.clone());
    let (sstable, mut all) = (of(&first), vec![first]);
    let is_same = |next: &Result<Found, Stopped>| next.as_ref().map_or(true, |f| of(f) == sstable);
    while let Some(next) = files.next_if(is_same) {
        all.push(next?);
    }
    Ok(Some(all))
}

/// An SSTable that lacks a part is left of a snapshot that somebody has cleared in part.
fn is_whole(tag: &Tag, files: &[Found]) -> Result<(), Stopped> {
    let (Some(lacks), Some(first)) = (parts::lacks(files)?, files.first()) else {
        return Ok(());
    };
    Err(Stopped::NotWholeTable {
        tag: tag.as_str().to_string(),
        table: first.file.table.clone(),
        file: format!("{}-{lacks}", first.file.sstable),
    })
}

fn opened(transfer: &str, order: &Upload) -> Result<Journal, Stopped> {
    let path = journal::path(&order.state, transfer);
    let of = Of {
        transfer: transfer.to_string(),
        backup: order.member.backup.to_string(),
        host: order.member.host.to_string(),
        tag: order.tag.as_str().to_string(),
    };
    match Journal::open(&path, &of)? {
        Some(journal) => Ok(journal),
        None => {
            let list = |each: Each<'_>| {
                let found = snapshot::fingerprint(&order.data, &order.tag)?;
                if order.tables.as_ref().is_some_and(|tables| *tables != found) {
                    return Err(Stopped::NotWhole { tag: order.tag.as_str().to_string() });
                }
                snapshot::list((&order.data, &order.tag), each)
            };
            Journal::create(&path, &of, list)
        }
    }
}

/// Write a manifest of what is in the store until now.
fn checkpoint(
    vault: &Vault<'_>,
    order: &Upload,
    journal: &mut Journal,
) -> Result<(u32, OfMember), Stopped> {
    let number = journal.next_checkpoint()?;
    let document = |why| {
        let name = order.member.backup.member(&order.member.host, number);
        Stopped::from(Trouble::Document { name, why })
    };
    let mut text = Text::new(&order.member).map_err(document)?;
    journal.each_taken(|file| text.add(file).map_err(document))?;
    let member = take::write(vault, &order.member, number, text)?;
    Ok((number, member))
}

/// How full the volume of a path is.
///
/// # Errors
/// It cannot be told.
pub fn space(path: &Path) -> Result<Space, Stopped> {
    let found = statvfs(path).map_err(|error| Stopped::Volume { why: error.to_string() })?;
    let bytes = |blocks: u64| blocks.saturating_mul(found.f_frsize);
    Ok(Space { bytes: bytes(found.f_blocks), free: bytes(found.f_bavail) })
}

/// The most memory that was resident, in bytes; 0 where the system does not say it.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    kilobytes.unwrap_or_default() * 1024
}
