//! The one setting of the host that testbeds change, and change back.
//!
//! Kubelets, containerd and API servers watch files with inotify, of which a
//! user has 128 instances by default: enough for two testbeds, and the parts of
//! a third would end with "too many open files".

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::names::run_root;

/// The kernel's limit of inotify instances per user.
const SETTING: &str = "/proc/sys/fs/inotify/max_user_instances";
/// A testbed of three nodes takes about fifty.
const ENOUGH: u64 = 4096;

/// Raises the limit if it is too low, and remembers what it was.
pub fn raise() -> Result<()> {
    raise_at(Path::new(SETTING), &memory())
}

/// Puts the limit back to what it was before the first testbed.
pub fn restore() -> Result<()> {
    restore_at(Path::new(SETTING), &memory())
}

fn memory() -> PathBuf {
    run_root().join(".inotify-instances-before")
}

fn raise_at(setting: &Path, memory: &Path) -> Result<()> {
    let reading = || format!("reading {}", setting.display());
    let before = fs::read_to_string(setting).with_context(reading)?;
    if before.trim().parse::<u64>().with_context(reading)? >= ENOUGH {
        return Ok(());
    }
    if !memory.exists() {
        if let Some(parent) = memory.parent() {
            fs::create_dir_all(parent).with_context(|| format!("creating {}", parent.display()))?;
        }
        fs::write(memory, &before).with_context(|| format!("writing {}", memory.display()))?;
    }
    fs::write(setting, ENOUGH.to_string())
        .with_context(|| format!("raising {} to {ENOUGH}", setting.display()))
}

fn restore_at(setting: &Path, memory: &Path) -> Result<()> {
    let Ok(before) = fs::read_to_string(memory) else {
        return Ok(());
    };
    fs::write(setting, before.trim())
        .with_context(|| format!("setting {} back to {}", setting.display(), before.trim()))?;
    fs::remove_file(memory).with_context(|| format!("removing {}", memory.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_value_comes_back_however_often_it_was_raised() {
        let directory = tempfile::tempdir().expect("should make a directory");
        let (setting, memory) = (directory.path().join("s"), directory.path().join("m"));
        fs::write(&setting, "128\n").expect("should write");
        raise_at(&setting, &memory).expect("should raise");
        assert_eq!(fs::read_to_string(&setting).expect("should read"), "4096");
        fs::write(&setting, "200\n").expect("somebody should lower it again");
        raise_at(&setting, &memory).expect("should raise again");
        restore_at(&setting, &memory).expect("should restore");
        assert_eq!(fs::read_to_string(&setting).expect("should read"), "128");
        assert!(!memory.exists());
    }

    #[test]
    fn a_limit_that_is_high_enough_is_left_alone() {
        let directory = tempfile::tempdir().expect("should make a directory");
        let (setting, memory) = (directory.path().join("s"), directory.path().join("m"));
        fs::write(&setting, "8192\n").expect("should write");
        raise_at(&setting, &memory).expect("should do nothing");
        restore_at(&setting, &memory).expect("should do nothing");
        assert_eq!(fs::read_to_string(&setting).expect("should read"), "8192\n");
    }
}
