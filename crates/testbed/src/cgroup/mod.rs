//! Control groups of a testbed, on hosts with version 1 and with version 2.
//!
//! Every process of a testbed, daemons and containers alike, lives below one
//! cgroup named after it. So "all of it" and "all of one node" are known to the
//! kernel, whatever forked or lost its parent in between.

mod limit;
mod processes;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

/// How long killed processes may take to leave, the slow ones being those that
/// free gigabytes of memory.
const KILL_PATIENCE: Duration = Duration::from_secs(20);

/// The host's cgroup hierarchies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cgroups {
    /// One hierarchy per controller, mounted at these directories.
    V1 {
        /// All mounted hierarchies.
        hierarchies: Vec<PathBuf>,
        /// The one with the freezer, in which processes are found and killed.
        freezer: PathBuf,
        /// Version 2 beside them, without controllers. The kubelet and runc
        /// make their groups there, too, and these have to go with the rest.
        unified: Option<PathBuf>,
    },
    /// The unified hierarchy, mounted at this directory.
    V2 {
        /// Its mount point.
        root: PathBuf,
    },
}

impl Cgroups {
    /// Finds out what this host has.
    pub fn detect() -> Result<Self> {
        let mounts =
            fs::read_to_string("/proc/self/mounts").context("reading /proc/self/mounts")?;
        Self::from_mounts(&mounts)
    }

    /// The same, from the text of `/proc/self/mounts`. A host with both has its
    /// controllers in version 1.
    pub fn from_mounts(mounts: &str) -> Result<Self> {
        let mut hierarchies = BTreeSet::new();
        let mut freezer = None;
        let mut unified = None;
        for line in mounts.lines() {
            let mut words = line.split(' ').skip(1);
            let (Some(at), Some(kind), Some(options)) = (words.next(), words.next(), words.next())
            else {
                continue;
            };
            match kind {
                "cgroup" => {
                    hierarchies.insert(PathBuf::from(at));
                    if options.split(',').any(|option| option == "freezer") {
                        freezer = Some(PathBuf::from(at));
                    }
                }
                "cgroup2" => unified = unified.or(Some(PathBuf::from(at))),
                _ => {}
            }
        }
        match (freezer, unified) {
            (Some(freezer), unified) => {
                Ok(Self::V1 { hierarchies: hierarchies.into_iter().collect(), freezer, unified })
            }
            (None, Some(root)) if hierarchies.is_empty() => Ok(Self::V2 { root }),
            (None, _) => bail!(
                "finding cgroups: neither cgroup v2 nor cgroup v1 with a freezer is mounted; \
                 mount one, for example `mount -t cgroup2 none /sys/fs/cgroup`"
            ),
        }
    }

    /// Where the processes of a group are listed and killed.
    pub fn process_dir(&self, group: &str) -> PathBuf {
        match self {
            Self::V1 { freezer, .. } => freezer.join(group),
            Self::V2 { root } => root.join(group),
        }
    }

    /// Makes a group in every hierarchy, ready for containers below it.
    pub fn create(&self, group: &str) -> Result<()> {
        match self {
            Self::V1 { hierarchies, .. } => {
                hierarchies.iter().try_for_each(|h| create_v1(h, group))
            }
            Self::V2 { root } => create_v2(root, group),
        }
    }

    /// Removes a group and all below it from every hierarchy.
    pub fn remove(&self, group: &str) -> Result<()> {
        let end = Instant::now() + KILL_PATIENCE;
        for directory in self.directories(group) {
            while directory.is_dir() {
                remove_tree(&directory);
                if directory.is_dir() && Instant::now() > end {
                    bail!("removing the cgroup {}: it is still in use", directory.display());
                }
                sleep(Duration::from_millis(1));
            }
        }
        Ok(())
    }

    /// The directories of a group that exist.
    pub fn leftovers(&self, group: &str) -> Vec<PathBuf> {
        let mut found = self.directories(group);
        found.retain(|directory| directory.exists());
        found
    }

    fn directories(&self, group: &str) -> Vec<PathBuf> {
        match self {
            Self::V1 { hierarchies, unified, .. } => {
                let mounted = hierarchies.iter().chain(unified);
                mounted.map(|directory| directory.join(group)).collect()
            }
            Self::V2 { root } => vec![root.join(group)],
        }
    }
}

/// The kubelet refuses a root that is missing in any hierarchy, and a cpuset
/// without processors and memory takes no process.
fn create_v1(hierarchy: &Path, group: &str) -> Result<()> {
    let mut directory = hierarchy.to_path_buf();
    for part in group.split('/') {
        let parent = directory.clone();
        directory.push(part);
        make(&directory)?;
        for file in ["cpuset.cpus", "cpuset.mems"] {
            let (from, to) = (parent.join(file), directory.join(file));
            if !from.exists() || fs::read_to_string(&to).is_ok_and(|set| !set.trim().is_empty()) {
                continue;
            }
            let inherited =
                fs::read_to_string(&from).with_context(|| format!("reading {}", from.display()))?;
            write(&to, inherited.trim())?;
        }
    }
    Ok(())
}

/// Hands every controller that there is down to the group, but not further: a
/// group that hands controllers down may hold no process itself.
fn create_v2(root: &Path, group: &str) -> Result<()> {
    let mut directory = root.to_path_buf();
    for part in group.split('/') {
        enable_controllers(&directory)?;
        directory.push(part);
        make(&directory)?;
    }
    Ok(())
}

fn enable_controllers(directory: &Path) -> Result<()> {
    let read = |file: &str| {
        let path = directory.join(file);
        fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))
    };
    let enabled = read("cgroup.subtree_control")?;
    for controller in read("cgroup.controllers")?.split_whitespace() {
        if enabled.split_whitespace().any(|name| name == controller) {
            continue;
        }
        // Some controllers (rdma, misc) may be refused; the kubelet names those
        // that it cannot do without.
        if let Err(error) =
            write(&directory.join("cgroup.subtree_control"), &format!("+{controller}"))
            && ["cpu", "memory", "pids"].contains(&controller)
        {
            return Err(error.context(format!(
                "handing the {controller} controller down from {}: if this group holds processes, \
                 move them into a group below it first",
                directory.display()
            )));
        }
    }
    Ok(())
}

fn make(directory: &Path) -> Result<()> {
    match fs::create_dir(directory) {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        result => result.with_context(|| format!("making the cgroup {}", directory.display())),
    }
}

fn write(path: &Path, value: &str) -> Result<()> {
    fs::write(path, value).with_context(|| format!("writing {value:?} to {}", path.display()))
}

fn remove_tree(directory: &Path) {
    children(directory).iter().for_each(|child| remove_tree(child));
    // Busy for a moment after its last process: the caller tries again.
    let _ = fs::remove_dir(directory);
}

fn children(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let directories = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    directories.map(|entry| entry.path()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_1_is_recognised_and_wins_over_a_hybrid_unified_mount() {
        let mounts = "tmpfs /sys/fs/cgroup tmpfs rw 0 0\n\
            cgroup /sys/fs/cgroup/cpu,cpuacct cgroup rw,cpu,cpuacct 0 0\n\
            cgroup /sys/fs/cgroup/freezer cgroup rw,freezer 0 0\n\
            cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n";
        let found = Cgroups::from_mounts(mounts).expect("should be recognised");
        assert_eq!(found.process_dir("x"), Path::new("/sys/fs/cgroup/freezer/x"));
        let removed = found.directories("x");
        assert!(removed.contains(&PathBuf::from("/sys/fs/cgroup/unified/x")));
        let Cgroups::V1 { hierarchies, .. } = found else {
            panic!("{found:?}");
        };
        assert_eq!(hierarchies.len(), 2);
    }

    #[test]
    fn version_2_is_recognised() {
        let found = Cgroups::from_mounts("cgroup2 /sys/fs/cgroup cgroup2 rw,nsdelegate 0 0\n");
        let root = PathBuf::from("/sys/fs/cgroup");
        assert_eq!(found.expect("should be recognised"), Cgroups::V2 { root });
    }

    #[test]
    fn a_host_without_cgroups_is_told_what_to_do() {
        let error = Cgroups::from_mounts("proc /proc proc rw 0 0\n").expect_err("should fail");
        assert!(error.to_string().contains("mount -t cgroup2"));
    }

    #[test]
    fn version_1_groups_inherit_processors_and_memory() {
        let root = tempfile::tempdir().expect("should make a directory");
        fs::write(root.path().join("cpuset.cpus"), "0-1\n").expect("should write");
        fs::write(root.path().join("cpuset.mems"), "0\n").expect("should write");
        create_v1(root.path(), "a/b").expect("should create");
        let inherited = fs::read_to_string(root.path().join("a/b/cpuset.cpus"));
        assert_eq!(inherited.expect("should exist"), "0-1");
    }
}
