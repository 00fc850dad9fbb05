//! The identity of the file system under the data volume: tells a disk that
//! lost its data from one that is not mounted.

use crate::words::files::{Doing, Missing};
use anyhow::{Context, Result};
use std::fs;
use std::path::Path;

/// Identity of the file system that a path is on: its type, its ID and which
/// of its directories is mounted. The device number is left out where there is
/// an ID: it may change when the machine starts again.
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
    let id = if id == 0 { format!("device {}", mount.device) } else { format!("{id:016x}") };
    Ok(format!("{}/{id}{}", mount.kind, mount.root))
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
