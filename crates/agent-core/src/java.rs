//! The Java of the server's image: where it is and which version it has.

use crate::words::files::{Doing, Missing};
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};

/// The `java` program.
pub fn program(java_home: Option<&Path>) -> PathBuf {
    match java_home {
        Some(home) if home.join("bin/java").exists() => home.join("bin/java"),
        Some(_) | None => PathBuf::from("java"),
    }
}

/// Its major version: from the `release` file beside it, which costs nothing,
/// or by asking it.
pub fn major(program: &Path) -> Result<u32> {
    let home =
        std::fs::canonicalize(program).ok().and_then(|p| Some(p.parent()?.parent()?.to_path_buf()));
    let release = home.and_then(|h| std::fs::read_to_string(h.join("release")).ok());
    if let Some(version) = release.as_deref().and_then(|text| {
        text.lines()
            .find_map(|line| line.strip_prefix("JAVA_VERSION="))
            .map(|v| v.trim_matches('"').to_string())
    }) {
        return parse(&version);
    }
    let output = std::process::Command::new(program)
        .arg("-version")
        .output()
        .with_context(|| Doing::ReadJavaVersion { program: program.display().to_string() })?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let version = text.split('"').nth(1).with_context(|| Missing::JavaVersion {
        program: program.display().to_string(),
        output: text.trim().to_string(),
    })?;
    parse(version)
}

/// `17.0.15`, `11.0.2`, `1.8.0_292`, `21`.
fn parse(version: &str) -> Result<u32> {
    let mut parts = version.split(['.', '_', '-', '+']);
    let first = parts.next().and_then(|p| p.parse::<u32>().ok());
    match (first, parts.next().and_then(|p| p.parse::<u32>().ok())) {
        (Some(1), Some(second)) => Ok(second),
        (Some(first), _) => Ok(first),
        (None, _) => bail!(Missing::NotJava { version: version.to_string() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_every_age() {
        for (text, major) in
            [("17.0.15", 17), ("1.8.0_292", 8), ("21", 21), ("11.0.2+9", 11), ("22-ea", 22)]
        {
            assert_eq!(parse(text).unwrap(), major, "{text}");
        }
        assert!(parse("seventeen").is_err());
    }

    #[test]
    fn the_release_file_is_enough() {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join("bin")).unwrap();
        std::fs::write(home.path().join("bin/java"), "not a program").unwrap();
        std::fs::write(home.path().join("release"), "IMPLEMENTOR=\"x\"\nJAVA_VERSION=\"17.0.9\"\n")
            .unwrap();
        let program = program(Some(home.path()));
        assert_eq!(major(&program).unwrap(), 17);
    }
}
