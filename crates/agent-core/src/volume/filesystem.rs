//! The identity of the file system under the data volume: tells a disk that
//! lost its data from one that is not mounted.

use super::xfs;
use crate::words::files::{Doing, Missing};
use anyhow::{Context, Result};
use palladion_api::file_system::DEVICE;
use std::fs;
use std::path::Path;

/// Identity of the file system that a path is on: its type, its ID and which
/// of its directories is mounted. Where there is no ID but the number of the
/// device, that stands there as what it is ([`palladion_api::file_system`]).
pub fn identity(path: &Path) -> Result<String> {
    let real = fs::canonicalize(path)
        .with_context(|| Doing::Resolve { path: path.display().to_string() })?;
    let id = rustix::fs::statvfs(&real)
        .with_context(|| Doing::IdentifyFileSystem { path: real.display().to_string() })?
        .f_fsid;
    let table = fs::read_to_string("/proc/self/mountinfo")
        .with_context(|| Doing::Read { path: "/proc/self/mountinfo".into() })?;
    let mount =
        find(&table, &real).with_context(|| Missing::Mount { path: real.display().to_string() })?;
    let uuid = (mount.kind == XFS).then(|| xfs::uuid(&real)).flatten();
    Ok(name(&mount, id, uuid))
}

const XFS: &str = "xfs";

/// The kernel makes `f_fsid` of 64 bits of a UUID (ext4, btrfs), or fills it with the number
/// of the device, which has 32 bits (XFS, F2FS).
fn name(mount: &Mount<'_>, id: u64, uuid: Option<String>) -> String {
    let is_number = u32::try_from(id).is_ok();
    let id = match uuid {
        Some(uuid) => uuid,
        None if is_number => format!("{DEVICE}{}", mount.device),
        None => format!("{id:016x}"),
    };
    format!("{}/{id}{}", mount.kind, mount.root)
}

/// Bytes that are free for us on the file system of a path.
pub fn free_bytes(path: &Path) -> Result<u64> {
    let answer = rustix::fs::statvfs(path)
        .with_context(|| Doing::ReadFreeSpace { path: path.display().to_string() })?;
    Ok(answer.f_bavail.saturating_mul(answer.f_frsize))
}

#[derive(Debug, PartialEq, Eq)]
struct Mount<'a> {
    device: &'a str,
    root: &'a str,
    kind: &'a str,
}

/// The mount that a path is on: the longest mount point above it; of several
/// on one point, the last, which hides the others.
fn find<'a>(table: &'a str, path: &Path) -> Option<Mount<'a>> {
    let mut best: Option<(usize, Mount<'a>)> = None;
    for line in table.lines() {
        let Some((left, right)) = line.split_once(" - ") else {
            continue;
        };
        let fields: Vec<&str> = left.split(' ').collect();
        let (Some(device), Some(root), Some(point)) = (fields.get(2), fields.get(3), fields.get(4))
        else {
            continue;
        };
        let Some(kind) = right.split(' ').next() else {
            continue;
        };
        let length = point.len();
        if path.starts_with(unescape(point)) && best.as_ref().is_none_or(|(l, _)| *l <= length) {
            best = Some((length, Mount { device, root, kind }));
        }
    }
    best.map(|(_, mount)| mount)
}

/// The kernel writes blanks and the like in octal.
fn unescape(text: &str) -> String {
    text.replace("\\040", " ").replace("\\011", "\t").replace("\\012", "\n").replace("\\134", "\\")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "\
22 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw
30 22 0:25 / /run rw - tmpfs tmpfs rw
40 22 8:17 /pv/a /var/lib/cassandra rw - ext4 /dev/sdb1 rw
41 22 8:33 /pv/b /var/lib/cassandra rw - xfs /dev/sdc1 rw
50 22 8:49 / /mnt/with\\040blank rw shared:1 - ext4 /dev/sdd1 rw
";

    #[test]
    fn the_longest_and_last_mount_point_wins() {
        let at = |path: &str| find(TABLE, Path::new(path)).unwrap();
        assert_eq!(
            at("/var/lib/cassandra/data"),
            Mount { device: "8:33", root: "/pv/b", kind: "xfs" }
        );
        assert_eq!(at("/var/lib/cassandra2").device, "8:1");
        assert_eq!(at("/mnt/with blank").device, "8:49");
    }

    /// What statvfs(3) says of a real XFS file system on 8:33, and of a real ext4.
    #[test]
    fn the_number_of_a_device_is_no_id_and_the_uuid_of_xfs_is() {
        let of = |path: &str, id, uuid: Option<&str>| {
            name(&find(TABLE, Path::new(path)).unwrap(), id, uuid.map(Into::into))
        };
        let xfs = "/var/lib/cassandra";
        assert_eq!(of(xfs, 0x821, None), "xfs/device 8:33/pv/b");
        let uuid = Some("1fd108ae430442179b781ccf34f280e8");
        assert_eq!(of(xfs, 0x821, uuid), "xfs/1fd108ae430442179b781ccf34f280e8/pv/b");
        assert_eq!(of("/", 0x7033_aa87_c1a0_fbe2, None), "ext4/7033aa87c1a0fbe2/");
        assert_eq!(of("/run", 0, None), "tmpfs/device 0:25/");
    }

    /// For a look at a real one: `PALLADION_XFS=/mnt/xfs cargo test … -- --ignored xfs`.
    #[test]
    #[ignore = "needs a file system of XFS"]
    fn a_real_file_system_of_xfs_says_its_uuid() {
        let directory = std::env::var_os("PALLADION_XFS").unwrap();
        let said = identity(Path::new(&directory)).unwrap();
        assert!(palladion_api::file_system::tells(&said), "{said}");
    }

    #[test]
    fn a_real_directory_has_a_stable_identity() {
        let directory = tempfile::tempdir().unwrap();
        let first = identity(directory.path()).unwrap();
        assert_eq!(first, identity(directory.path()).unwrap());
        assert!(free_bytes(directory.path()).unwrap() > 0);
        assert!(free_bytes(&directory.path().join("missing")).is_err());
        assert_ne!(first, identity(Path::new("/proc")).unwrap());
    }
}
