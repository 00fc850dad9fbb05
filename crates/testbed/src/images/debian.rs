//! Root file systems made of Debian packages, as base layers.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};

use super::layer::Layer;
use crate::cache::{Cache, Key};
use crate::command::{command, run};
use crate::progress::Progress;

/// The release that all images are based on.
const SUITE: &str = "bookworm";
/// Where packages come from if the host does not say.
const MIRROR: &str = "http://deb.debian.org/debian";

/// What it mounts below the new root ends with it, however it ends: removing a
/// half-made root must never reach into the host's /proc or /sys.
const PRIVATE_MOUNTS: [&str; 3] = ["--mount", "--propagation", "private"];

/// What no container of ours reads, and what only changes from build to build.
const UNUSED: [&str; 9] = [
    "dev",
    "var/cache/apt",
    "var/cache/ldconfig",
    "var/lib/apt/lists",
    "var/log",
    "usr/share/doc",
    "usr/share/man",
    "usr/share/locale",
    "usr/share/info",
];

/// A base layer of the smallest Debian with these packages added; `finish` may
/// change it before it is packed.
pub fn base(
    cache: &Cache,
    name: &str,
    packages: &[&str],
    finish: &str,
    progress: &mut dyn Progress,
) -> Result<Layer> {
    let mut key = Key::of(name).text(SUITE).text(finish);
    for part in packages.iter().chain(&UNUSED) {
        key = key.text(part);
    }
    let what = format!("Making a Debian root file system with {}", packages.join(", "));
    let usual = Duration::from_secs(60);
    Layer::stage(cache, &key.build(), progress, (&what, usual), |content| {
        let downloads = cache.root().join("debs");
        fs::create_dir_all(&downloads)
            .with_context(|| format!("creating {}", downloads.display()))?;
        let mut bootstrap = command("unshare", PRIVATE_MOUNTS);
        bootstrap
            .args(["debootstrap", "--variant=minbase"])
            .arg(format!("--cache-dir={}", downloads.display()))
            .arg(format!("--include={}", packages.join(",")))
            .arg(SUITE)
            .arg(content)
            .arg(mirror());
        run(&mut bootstrap).with_context(|| format!("making the root file system of {name}"))?;
        for unused in UNUSED {
            empty(&content.join(unused))?;
        }
        let mut chroot = command("unshare", PRIVATE_MOUNTS);
        chroot.arg("chroot").arg(content).args(["/bin/sh", "-ec", finish]);
        run(&mut chroot).with_context(|| format!("finishing the root file system of {name}"))?;
        Ok(())
    })
}

/// The package mirror that this host itself uses.
pub(super) fn mirror() -> String {
    let lists = ["/etc/apt/sources.list", "/etc/apt/sources.list.d/debian.sources"];
    let texts = lists.iter().filter_map(|path| fs::read_to_string(path).ok());
    texts.filter_map(|text| first_mirror(&text)).next().unwrap_or_else(|| MIRROR.to_owned())
}

/// The first address in a list of sources, in either of apt's two formats.
fn first_mirror(text: &str) -> Option<String> {
    let of_line = |line: &str| {
        let line = line.trim();
        if !line.starts_with("deb ") && !line.starts_with("URIs:") {
            return None;
        }
        let is_address = |word: &&str| word.starts_with("http://") || word.starts_with("https://");
        line.split_whitespace().find(is_address).map(str::to_owned)
    };
    text.lines().find_map(of_line)
}

fn empty(directory: &Path) -> Result<()> {
    let emptying = || format!("emptying {}", directory.display());
    let entries: Vec<PathBuf> = match fs::read_dir(directory) {
        Ok(entries) => entries.flatten().map(|entry| entry.path()).collect(),
        Err(_) => return Ok(()),
    };
    for path in entries {
        if path.is_dir() && !path.is_symlink() {
            fs::remove_dir_all(&path).with_context(emptying)?;
        } else {
            fs::remove_file(&path).with_context(emptying)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hosts_mirror_is_found_in_both_formats() {
        let new = "Types: deb\n# URIs: http://old/\nURIs: http://one/debian\nSuites: bookworm\n";
        assert_eq!(first_mirror(new).as_deref(), Some("http://one/debian"));
        let old = "# deb http://no/\ndeb [signed-by=/x] https://two/debian bookworm main\n";
        assert_eq!(first_mirror(old).as_deref(), Some("https://two/debian"));
        assert_eq!(first_mirror("deb cdrom:[x]/ bookworm main\n"), None);
    }
}
