//! Ending a testbed, and proof that nothing of it is left.

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::cache::Cache;
use crate::cgroup::Cgroups;
use crate::names::{ClusterName, run_root};
use crate::network::Network;
use crate::node::settings::KUBELET_ROOT;
use crate::progress::{Progress, stage};
use crate::{host_limits, process};

/// Ends and removes everything, and fails if something is left.
pub fn down(name: &ClusterName, cache: &Cache, progress: &mut dyn Progress) -> Result<()> {
    if leftovers(name, cache)?.is_empty() {
        return Ok(());
    }
    let what = format!("Removing the testbed {name}");
    stage(progress, &what, Duration::from_secs(5), || remove(name, cache))?;
    let left = leftovers(name, cache)?;
    if !left.is_empty() {
        bail!("the testbed {name} is not gone: {}", left.join("; "));
    }
    Ok(())
}

/// What of a testbed exists on the host: processes, namespaces, mounts,
/// cgroups, directories. Empty after a good `down`.
pub fn leftovers(name: &ClusterName, cache: &Cache) -> Result<Vec<String>> {
    let cgroups = Cgroups::detect()?;
    let mut found = Vec::new();
    for pid in cgroups.processes(&name.cgroup()) {
        found.push(format!("process {pid}"));
    }
    let records = name.run_dir().join("records");
    for part in process::recorded(&records) {
        if process::is_running(&records, &part) {
            found.push(format!("process of {part}"));
        }
    }
    for namespace in Network::of(name).namespaces() {
        found.push(format!("network namespace {namespace}"));
    }
    for directory in cgroups.leftovers(&name.cgroup()) {
        found.push(format!("cgroup {}", directory.display()));
    }
    let directories = [name.run_dir(), name.data_dir(cache)];
    found.extend(mounts_below(&directories)?.iter().map(|at| format!("mount {at}")));
    for directory in directories.iter().filter(|directory| directory.exists()) {
        found.push(format!("directory {}", directory.display()));
    }
    Ok(found)
}

fn remove(name: &ClusterName, cache: &Cache) -> Result<()> {
    let cgroups = Cgroups::detect()?;
    // Every process of ours is in this cgroup; the records are for one that
    // was caught before it had entered.
    cgroups.kill(&name.cgroup())?;
    let records = name.run_dir().join("records");
    for part in process::recorded(&records) {
        process::kill(&records, &part)?;
    }
    Network::of(name).delete_all()?;
    cgroups.remove(&name.cgroup())?;
    for directory in [name.data_dir(cache), name.run_dir()] {
        if directory.exists() {
            fs::remove_dir_all(&directory)
                .with_context(|| format!("removing {}", directory.display()))?;
        }
    }
    leave_the_host()
}

/// What all testbeds of this host share goes with the last one.
fn leave_the_host() -> Result<()> {
    let is_testbed = |entry: &fs::DirEntry| entry.path().is_dir();
    let others = fs::read_dir(run_root()).into_iter().flatten().flatten();
    if others.filter(is_testbed).count() > 0 {
        return Ok(());
    }
    // Nodes mount theirs over it. A kubelet of the host keeps its own, as that
    // is not empty.
    let _ = fs::remove_dir(KUBELET_ROOT);
    host_limits::restore()
}

fn mounts_below(directories: &[std::path::PathBuf]) -> Result<Vec<String>> {
    let path = "/proc/self/mounts";
    let mounts = fs::read_to_string(path).with_context(|| format!("reading {path}"))?;
    let points = mounts.lines().filter_map(|line| line.split(' ').nth(1));
    let is_below = |point: &&str| directories.iter().any(|d| Path::new(point).starts_with(d));
    Ok(points.filter(is_below).map(str::to_owned).collect())
}
