//! A copy of the sources outside the checkout, in which mutants are tried: the
//! checkout itself is never changed.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::list::Mutant;

/// The copy, and what is built from it. Nobody else uses it meanwhile.
pub struct Workplace {
    sources: PathBuf,
    target: PathBuf,
    _lock: File,
}

impl Workplace {
    /// Bring the copy at this place up to date with the checkout.
    pub fn open(place: &Path, checkout: &Path) -> Result<Self> {
        let (sources, target) = (place.join("sources"), place.join("target"));
        fs::create_dir_all(&sources).with_context(|| format!("making {}", sources.display()))?;
        let path = place.join("lock");
        let lock = File::create(&path).with_context(|| format!("making {}", path.display()))?;
        if lock.try_lock().is_err() {
            bail!("another run tries mutants in {}: wait for its end", place.display());
        }
        let wanted = tracked(checkout)?;
        for name in &wanted {
            copy(&checkout.join(name), &sources.join(name))?;
        }
        remove_all_but(&sources, Path::new(""), &wanted)?;
        Ok(Self { sources, target, _lock: lock })
    }

    /// The root of the copy.
    pub fn sources(&self) -> &Path {
        &self.sources
    }

    /// Where cargo puts what it builds.
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// Do something with this mutant in the copy, and put the file back.
    pub fn with<T>(&self, mutant: &Mutant, act: impl FnOnce() -> Result<T>) -> Result<T> {
        let path = self.sources.join(&mutant.file);
        let text = fs::read_to_string(&path).with_context(|| format!("reading {}", mutant.file))?;
        let write =
            |text: &str| fs::write(&path, text).with_context(|| format!("writing {}", mutant.file));
        write(&mutant.applied(&text)?)?;
        let outcome = act();
        write(&text)?;
        outcome
    }
}

/// The files of a checkout: under version control, or about to be.
fn tracked(checkout: &Path) -> Result<BTreeSet<PathBuf>> {
    let output = Command::new("git")
        .current_dir(checkout)
        .args(["ls-files", "--cached", "--others", "--exclude-standard"])
        .output()
        .context("running git to list the sources")?;
    if !output.status.success() {
        bail!("listing the sources: {}", String::from_utf8_lossy(&output.stderr));
    }
    let names = String::from_utf8_lossy(&output.stdout);
    // One that was deleted and is not committed yet is listed, too.
    let is_there = |name: &PathBuf| checkout.join(name).is_file();
    Ok(names.lines().map(PathBuf::from).filter(is_there).collect())
}

/// Cargo builds again what is newer: a file that is the same stays as it is.
fn copy(from: &Path, to: &Path) -> Result<()> {
    let new = fs::read(from).with_context(|| format!("reading {}", from.display()))?;
    if fs::read(to).is_ok_and(|old| old == new) {
        return Ok(());
    }
    if let Some(parent) = to.parent() {
        fs::create_dir_all(parent).with_context(|| format!("making {}", parent.display()))?;
    }
    fs::write(to, new).with_context(|| format!("writing {}", to.display()))
}

/// Remove what the checkout has no longer.
fn remove_all_but(sources: &Path, folder: &Path, wanted: &BTreeSet<PathBuf>) -> Result<()> {
    let listing = || format!("listing {}", sources.join(folder).display());
    for entry in fs::read_dir(sources.join(folder)).with_context(listing)? {
        let name = folder.join(entry.with_context(listing)?.file_name());
        let path = sources.join(&name);
        if path.is_dir() {
            remove_all_but(sources, &name, wanted)?;
        } else if !wanted.contains(&name) {
            fs::remove_file(&path).with_context(|| format!("removing {}", path.display()))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use palladion_testbed::cache::hex;

    fn checkout() -> PathBuf {
        let unique = hex(format!("{:?}", std::time::Instant::now()).as_bytes());
        let place = std::env::temp_dir().join(format!("mutants-{unique}"));
        fs::create_dir_all(place.join("checkout/src")).expect("a directory");
        fs::write(place.join("checkout/src/one.rs"), "let is_safe = true;").expect("a file");
        fs::write(place.join("checkout/gone.rs"), "").expect("a file");
        let mut git = Command::new("git");
        git.args(["init", "--quiet"]).arg(place.join("checkout"));
        assert!(git.status().expect("git should run").success());
        place
    }

    fn mutant() -> Mutant {
        let text = "{ name: n, rule: '1.1', breaks: b, file: src/one.rs, find: 'true', put: 'false', suite: plan, tests: [t] }";
        serde_yaml::from_str(text).expect("a mutant")
    }

    #[test]
    fn a_mutant_is_in_the_copy_alone_and_only_for_its_time() {
        let place = checkout();
        let read = |path: &str| fs::read_to_string(place.join(path)).expect("a file");
        let work = Workplace::open(&place, &place.join("checkout")).expect("a copy");
        assert!(Workplace::open(&place, &place.join("checkout")).is_err(), "one at a time");
        let copy = "sources/src/one.rs";
        let within = work.with(&mutant(), || Ok((read(copy), read("checkout/src/one.rs"))));
        let (mutated, original) = within.expect("is carried out");
        assert_eq!(
            (mutated.as_str(), original.as_str()),
            ("let is_safe = false;", "let is_safe = true;")
        );
        let failed = work.with(&mutant(), || -> Result<()> { bail!("the tests cannot be run") });
        assert!(failed.is_err());
        assert_eq!(read(copy), original);
        drop(work);
        fs::remove_file(place.join("checkout/gone.rs")).expect("is there");
        fs::write(place.join(copy), "left by a run that was killed").expect("is there");
        Workplace::open(&place, &place.join("checkout")).expect("a copy");
        assert_eq!(read(copy), original);
        assert!(!place.join("sources/gone.rs").exists());
        fs::remove_dir_all(place).expect("is there");
    }
}
