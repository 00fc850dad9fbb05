//! A process with less of a processor than it wants.

use std::path::Path;

use anyhow::{Context, Result};

use super::{Cgroups, create_v1, create_v2, write};

/// The kernel's own default: how long a process that has used up its share may
/// have to wait.
const PERIOD_MICROSECONDS: u64 = 100_000;

impl Cgroups {
    /// Moves a process into this group, which gets so many thousandths of a
    /// processor. In version 1 it stays in its group for all else.
    pub fn limit_processor(&self, group: &str, pid: i32, millicores: u32) -> Result<()> {
        let quota = quota(millicores);
        match self {
            Self::V1 { hierarchies, .. } => {
                let of_processor = |h: &&std::path::PathBuf| h.join("cpu.shares").exists();
                let hierarchy = hierarchies
                    .iter()
                    .find(of_processor)
                    .context("finding the cgroup hierarchy of processors: none is mounted")?;
                create_v1(hierarchy, group)?;
                let directory = hierarchy.join(group);
                write(&directory.join("cpu.cfs_period_us"), &PERIOD_MICROSECONDS.to_string())?;
                write(&directory.join("cpu.cfs_quota_us"), &quota.to_string())?;
                enter(&directory, pid)
            }
            Self::V2 { root } => {
                create_v2(root, group)?;
                let directory = root.join(group);
                write(&directory.join("cpu.max"), &format!("{quota} {PERIOD_MICROSECONDS}"))?;
                enter(&directory, pid)
            }
        }
    }
}

fn enter(directory: &Path, pid: i32) -> Result<()> {
    write(&directory.join("cgroup.procs"), &pid.to_string())
}

/// Microseconds of processor time in each period.
fn quota(millicores: u32) -> u64 {
    u64::from(millicores) * PERIOD_MICROSECONDS / 1000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_processor_is_half_of_each_period() {
        assert_eq!(quota(500), PERIOD_MICROSECONDS / 2);
    }
}
