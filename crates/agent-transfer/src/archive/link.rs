//! `palladion-agent link`: what the server starts for each segment of its commit log that is full
//! (`archive_command`), before it deletes it. A hard link keeps it until it is sent, whether an
//! agent runs or not. The limit of what waits is kept here too, for the same reason: the oldest
//! link goes, which is noted first. It never fails for want of room, as a segment whose command
//! has failed stays in the commit log until the server is started again. Before an agent has begun
//! to archive, nothing is linked.

use super::{NOTES, Places, number};
use rustix::fs::statvfs;
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions, create_dir_all, hard_link, read_dir, remove_file};
use std::io::{ErrorKind, Result, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// So much may wait where nobody has said it, and never more than a tenth of the volume.
const MOST: u64 = 16 * 1024 * 1024 * 1024;
/// And so much of the volume stays free, in percent.
const LEAST_FREE: u64 = 5;
/// Bytes of a block, as the system counts them.
const BLOCK: u64 = 512;

/// Link a segment.
///
/// # Errors
/// It cannot be linked, though there is room.
pub fn link(path: &Path, target: &Path) -> Result<()> {
    let folder = target.parent().unwrap_or(Path::new("/"));
    create_dir_all(folder)?;
    if target.exists() {
        return Ok(());
    }
    let notes = folder.parent().unwrap_or(folder).join(NOTES);
    let places = Places { commitlog: PathBuf::new(), links: folder.into(), notes };
    // Before the first backup, and without a live order, nobody sends what would wait.
    if !places.limit().exists() {
        return Ok(());
    }
    let bytes = std::fs::metadata(path)?.len();
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    if !has_room(&places, bytes)? {
        return number(&name).map_or(Ok(()), |number| drop_one(&places, number, None));
    }
    match hard_link(path, target) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(error),
        Ok(()) | Err(_) => File::open(folder)?.sync_all(),
    }
}

/// Make room for a segment, if it can be made.
fn has_room(places: &Places, bytes: u64) -> Result<bool> {
    let mut links = waiting(places)?;
    let limit =
        std::fs::read_to_string(places.limit()).ok().and_then(|text| text.trim().parse().ok());
    let tenth = |volume: &rustix::fs::StatVfs| {
        MOST.min(volume.f_blocks.saturating_mul(volume.f_frsize) / 10)
    };
    loop {
        let volume = statvfs(&places.links)?;
        let is_full =
            volume.f_bavail.saturating_mul(100) < volume.f_blocks.saturating_mul(LEAST_FREE);
        let waits: u64 = links.values().map(|(_, bytes)| *bytes).sum();
        let limit = limit.unwrap_or_else(|| tenth(&volume));
        if !is_full && waits.saturating_add(bytes) <= limit {
            return Ok(true);
        }
        let Some((number, (path, _))) = links.pop_first() else { return Ok(false) };
        drop_one(places, number, Some(&path))?;
    }
}

/// The links that wait, each with the bytes that it takes.
///
/// # Errors
/// They cannot be listed.
pub fn waiting(places: &Places) -> Result<BTreeMap<i64, (PathBuf, u64)>> {
    let mut all = BTreeMap::new();
    let entries = match read_dir(&places.links) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(all),
        Err(error) => return Err(error),
    };
    for entry in entries {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        // One that was sent meanwhile is gone.
        if let (Some(number), Ok(about)) = (number(&name), path.metadata()) {
            all.insert(number, (path.clone(), about.blocks().saturating_mul(BLOCK)));
        }
    }
    Ok(all)
}

/// It is noted on the disk before it is gone.
fn drop_one(places: &Places, number: i64, path: Option<&Path>) -> Result<()> {
    let mut note = OpenOptions::new().create(true).append(true).open(places.dropped())?;
    note.write_all(format!("{number}\n").as_bytes())?;
    note.sync_all()?;
    match path.map(remove_file) {
        Some(Err(error)) if error.kind() != ErrorKind::NotFound => Err(error),
        Some(_) | None => File::open(&places.notes)?.sync_all(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    struct Disk {
        _folder: tempfile::TempDir,
        places: Places,
    }

    impl Disk {
        fn new(limit: &str) -> Self {
            let folder = tempfile::tempdir().unwrap();
            let places = Places::of(folder.path(), &folder.path().join(".palladion"));
            create_dir_all(&places.commitlog).unwrap();
            create_dir_all(&places.notes).unwrap();
            fs::write(places.limit(), limit).unwrap();
            Self { _folder: folder, places }
        }

        fn segment(&self, number: i64) {
            let name = format!("CommitLog-7-{number}.log");
            let path = self.places.commitlog.join(&name);
            fs::write(&path, vec![1; 64 * 1024]).unwrap();
            link(&path, &self.places.links.join(&name)).unwrap();
            // The server deletes it.
            remove_file(path).unwrap();
        }

        fn waits(&self) -> Vec<i64> {
            waiting(&self.places).unwrap().into_keys().collect()
        }

        fn dropped(&self) -> String {
            fs::read_to_string(self.places.dropped()).unwrap_or_default()
        }
    }

    #[test]
    fn a_segment_outlives_its_deletion_and_is_linked_once() {
        let disk = Disk::new("1000000000");
        disk.segment(10);
        disk.segment(11);
        assert_eq!((disk.waits(), disk.dropped()), (vec![10, 11], String::new()));
        // At a start all that are left are archived again.
        disk.segment(11);
        assert_eq!(disk.waits(), [10, 11]);
    }

    #[test]
    fn before_an_archive_has_begun_nothing_waits_for_it() {
        let disk = Disk::new("");
        remove_file(disk.places.limit()).unwrap();
        disk.segment(10);
        assert!(disk.waits().is_empty() && disk.dropped().is_empty());
    }

    #[test]
    fn at_the_limit_the_oldest_goes_and_it_is_noted() {
        let disk = Disk::new("200000");
        for number in 10..15 {
            disk.segment(number);
        }
        assert_eq!((disk.waits(), disk.dropped()), (vec![12, 13, 14], "10\n11\n".into()));
        // One that is larger than all that may wait is dropped itself, and the server goes on.
        fs::write(disk.places.limit(), "1000").unwrap();
        disk.segment(15);
        assert_eq!((disk.waits(), disk.dropped()), (vec![], "10\n11\n12\n13\n14\n15\n".into()));
    }
}
