//! The processes of a group: all of them found, stopped, or killed at once.

use std::fs;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use rustix::process::{Pid, Signal, kill_process};

use super::{Cgroups, KILL_PATIENCE, children, write};

/// A freezer that needs longer than this holds a task that cannot be stopped;
/// killing goes on without it.
const FREEZE_PATIENCE: Duration = Duration::from_secs(2);
const POLL: Duration = Duration::from_millis(20);

impl Cgroups {
    /// The processes in a group and all groups below it.
    pub fn processes(&self, group: &str) -> Vec<i32> {
        let mut found = Vec::new();
        collect(&self.process_dir(group), &mut found);
        found
    }

    /// Stops all processes of a group where they stand. They stay alive and
    /// answer nothing, like a hung machine.
    pub fn freeze(&self, group: &str) -> Result<()> {
        let directory = self.process_dir(group);
        let (file, value, state, wanted) = match self {
            Self::V1 { .. } => ("freezer.state", "FROZEN", "freezer.state", "FROZEN"),
            Self::V2 { .. } => ("cgroup.freeze", "1", "cgroup.events", "frozen 1"),
        };
        write(&directory.join(file), value)?;
        let end = Instant::now() + FREEZE_PATIENCE;
        while Instant::now() < end {
            let now = fs::read_to_string(directory.join(state)).unwrap_or_default();
            if now.contains(wanted) {
                return Ok(());
            }
            sleep(POLL);
        }
        bail!("freezing {}: still not frozen after {FREEZE_PATIENCE:?}", directory.display())
    }

    /// Lets a frozen group go on.
    pub fn thaw(&self, group: &str) -> Result<()> {
        let directory = self.process_dir(group);
        match self {
            Self::V1 { .. } => write(&directory.join("freezer.state"), "THAWED"),
            Self::V2 { .. } => write(&directory.join("cgroup.freeze"), "0"),
        }
    }

    /// Are the processes of a group frozen? A group that does not exist is not.
    pub fn is_frozen(&self, group: &str) -> bool {
        let (file, frozen) = match self {
            Self::V1 { .. } => ("freezer.state", "FR"),
            Self::V2 { .. } => ("cgroup.freeze", "1"),
        };
        let state = fs::read_to_string(self.process_dir(group).join(file));
        // It is FREEZING as long as a task cannot be stopped.
        state.is_ok_and(|state| state.trim().starts_with(frozen))
    }

    /// Kills all processes of a group at one moment, as a power cut does, and
    /// waits until they are gone. A group that does not exist is fine.
    pub fn kill(&self, group: &str) -> Result<()> {
        let directory = self.process_dir(group);
        let end = Instant::now() + KILL_PATIENCE;
        while directory.is_dir() {
            let processes = self.processes(group);
            if processes.is_empty() {
                return Ok(());
            }
            if Instant::now() > end {
                bail!("killing everything in {}: {processes:?} would not end", directory.display());
            }
            match self {
                Self::V1 { .. } => {
                    // Best effort: what cannot be frozen is killed all the same.
                    let _ = self.freeze(group);
                    self.processes(group).into_iter().for_each(kill_now);
                    // Groups below may have been frozen by themselves.
                    thaw_tree(&directory);
                }
                Self::V2 { .. } => write(&directory.join("cgroup.kill"), "1")?,
            }
            sleep(POLL);
        }
        Ok(())
    }
}

fn kill_now(pid: i32) {
    if let Some(pid) = Pid::from_raw(pid) {
        // It may have ended since it was listed.
        let _ = kill_process(pid, Signal::KILL);
    }
}

fn collect(directory: &Path, found: &mut Vec<i32>) {
    let listed = fs::read_to_string(directory.join("cgroup.procs")).unwrap_or_default();
    found.extend(listed.lines().filter_map(|line| line.parse::<i32>().ok()));
    children(directory).iter().for_each(|child| collect(child, found));
}

fn thaw_tree(directory: &Path) {
    // It may have been removed since it was listed.
    let _ = fs::write(directory.join("freezer.state"), "THAWED");
    children(directory).iter().for_each(|child| thaw_tree(child));
}
