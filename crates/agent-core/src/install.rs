//! The init container's job: put this binary and the Java agents where the
//! database container finds them.

use anyhow::{Context, Result};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Copy this binary and every `*.jar` in `from` to `to`.
pub fn run(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to).with_context(|| format!("making directory {}", to.display()))?;
    let own = std::env::current_exe().context("finding this binary")?;
    copy(&own, &to.join("palladion-agent"), 0o755)?;
    let entries = fs::read_dir(from).with_context(|| format!("listing {}", from.display()))?;
    let mut jars = 0;
    for entry in entries {
        let path = entry.with_context(|| format!("listing {}", from.display()))?.path();
        if path.extension().is_some_and(|e| e == "jar") {
            let name = path.file_name().context("a jar without a name")?;
            copy(&path, &to.join(name), 0o644)?;
            jars += 1;
        }
    }
    println!("installed palladion-agent and {jars} Java agents in {}", to.display());
    Ok(())
}

/// Through a temporary name: a restarted init container meets a busy binary.
fn copy(from: &Path, to: &Path, mode: u32) -> Result<()> {
    let part = to.with_extension("part");
    fs::copy(from, &part)
        .with_context(|| format!("copying {} to {}", from.display(), part.display()))?;
    fs::set_permissions(&part, fs::Permissions::from_mode(mode))
        .with_context(|| format!("setting the mode of {}", part.display()))?;
    fs::rename(&part, to)
        .with_context(|| format!("renaming {} to {}", part.display(), to.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_the_binary_and_the_jars_and_nothing_else() {
        let from = tempfile::tempdir().unwrap();
        let to = tempfile::tempdir().unwrap();
        fs::write(from.path().join("jolokia.jar"), "jar").unwrap();
        fs::write(from.path().join("readme.txt"), "no").unwrap();
        run(from.path(), to.path()).unwrap();
        run(from.path(), to.path()).unwrap();
        let mut names: Vec<_> = fs::read_dir(to.path())
            .unwrap()
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        assert_eq!(names, ["jolokia.jar", "palladion-agent"]);
        let mode = fs::metadata(to.path().join("palladion-agent")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o755);
    }
}
