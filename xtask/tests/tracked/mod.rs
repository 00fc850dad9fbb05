//! The files of the repository: under version control, or about to be.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Where the repository is.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Names of the files that match one of these patterns of git's; of all, if
/// there are none.
pub fn names(patterns: &[&str]) -> Vec<String> {
    let output = Command::new("git")
        .current_dir(root())
        .args(["ls-files", "--cached", "--others", "--exclude-standard", "--"])
        .args(patterns)
        .output()
        .expect("git should run");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let names = String::from_utf8(output.stdout).expect("names should be text");
    names.lines().map(str::to_string).collect()
}

/// The content of a file, with its name; `None` if it is no text, or was deleted
/// and is not committed yet.
pub fn text(name: String) -> Option<(String, String)> {
    let text = std::fs::read_to_string(root().join(&name)).ok()?;
    Some((name, text))
}
