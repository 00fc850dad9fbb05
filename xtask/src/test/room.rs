//! Room on the disks before anything is built: a run that fills one fails half-way, with
//! the words of a compiler or of Cassandra instead of the reason.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use palladion_testbed::cache::Cache;

use crate::install;

/// What the programs, the tests, the images and the volumes of the rings take in all
/// where nothing is built yet: 17 GiB were seen.
const CLEAN: u64 = 20 << 30;
/// The same where the programs are built: the volumes of the rings, and what changed.
const BUILT: u64 = 8 << 30;

/// Fail, naming the disk and the figure, where a run would fill it.
pub fn look() -> Result<()> {
    let target = install::built();
    let needed = if target.join("palladion-agent").exists() { BUILT } else { CLEAN };
    for place in [&*target, Cache::of_user()?.root()] {
        has(place, needed)?;
    }
    Ok(())
}

fn has(place: &Path, needed: u64) -> Result<()> {
    let there = existing(place);
    let disk = rustix::fs::statvfs(&there)
        .with_context(|| format!("looking for free disk space at {}", there.display()))?;
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    if free < needed {
        bail!(
            "the disk of {} has {} free and this run needs {}; free some (`cargo clean`, \
             checkouts that are not used), or set CARGO_TARGET_DIR and XDG_CACHE_HOME to \
             directories on a larger disk",
            there.display(),
            gib(free),
            gib(needed),
        );
    }
    Ok(())
}

/// The nearest directory that exists: the caches may not have been made yet.
fn existing(place: &Path) -> PathBuf {
    place.ancestors().find(|p| p.exists()).unwrap_or(Path::new("/")).to_path_buf()
}

fn gib(bytes: u64) -> String {
    format!("{:.1} GiB", bytes as f64 / f64::from(1 << 30))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_that_is_too_small_is_named_with_figures_and_the_way_out() {
        let refused = has(&install::root().join("not/yet/made"), u64::MAX);
        let words = refused.expect_err("a disk of so much").to_string();
        let root = install::root().display().to_string();
        assert!(words.starts_with(&format!("the disk of {root} has ")), "{words}");
        assert!(
            words.contains("needs 17179869184.0 GiB") && words.contains("cargo clean"),
            "{words}"
        );
    }

    #[test]
    fn a_disk_with_room_is_accepted() {
        assert!(has(install::root(), 1).is_ok());
    }
}
