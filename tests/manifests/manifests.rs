//! The manifests of this folder, read. They are one set for two judges: the
//! unit tests of `palladion-api`, which run the rules offline, and the tests on
//! the testbed, where the API server runs them. The two must agree.
//!
//! A file is one object, or two: what was there, and what it is changed to. Its
//! head is comments; `# expect: TEXT` is part of what the refusal must say, and
//! `# offline: unsupported WHY` leaves it to the API server.

use std::path::{Path, PathBuf};

use serde::Deserialize as _;
use serde_json::Value;

/// What should become of a manifest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is accepted.
    Accepted,
    /// It is refused, with every text in [`Manifest::expect`].
    Refused,
}

/// One file.
#[derive(Clone, Debug)]
pub struct Manifest {
    /// Its name in this folder.
    pub name: String,
    /// What should become of it.
    pub verdict: Verdict,
    /// Parts of the refusal.
    pub expect: Vec<String>,
    /// Why it cannot be judged offline, where it cannot.
    pub offline_unsupported: Option<String>,
    /// What was there before, for an update.
    pub old: Option<Value>,
    /// What is written.
    pub new: Value,
}

/// All manifests below `folder`, which has the folders `ok` and `refused`, by name.
///
/// # Panics
/// If a file cannot be read as said above: a manifest that nobody judges proves nothing.
pub fn read_all(folder: &Path) -> Vec<Manifest> {
    let mut all: Vec<Manifest> = [("ok", Verdict::Accepted), ("refused", Verdict::Refused)]
        .into_iter()
        .flat_map(|(sub, verdict)| {
            files(&folder.join(sub)).into_iter().map(move |path| read(sub, &path, verdict))
        })
        .collect();
    all.sort_by(|a, b| a.name.cmp(&b.name));
    all
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries =
        std::fs::read_dir(folder).unwrap_or_else(|e| panic!("reading {}: {e}", folder.display()));
    entries
        .map(|e| e.expect("a folder should list its files").path())
        .filter(|p| p.extension().is_some_and(|e| e == "yaml"))
        .collect()
}

fn read(sub: &str, path: &Path, verdict: Verdict) -> Manifest {
    let name = format!("{sub}/{}", path.file_name().unwrap_or_default().to_string_lossy());
    let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("reading {name}: {e}"));
    let head = |key: &str| -> Vec<String> {
        text.lines()
            .filter_map(|l| l.strip_prefix("# ")?.strip_prefix(key))
            .map(|v| v.trim().to_string())
            .collect()
    };
    let mut documents: Vec<Value> = serde_yaml::Deserializer::from_str(&text)
        .map(|d| Value::deserialize(d).unwrap_or_else(|e| panic!("reading {name}: {e}")))
        .collect();
    let new = documents.pop().unwrap_or_else(|| panic!("{name} has no object"));
    let old = documents.pop();
    assert!(documents.is_empty(), "{name} has more than two objects");
    let expect = head("expect:");
    assert_eq!(
        verdict == Verdict::Refused,
        !expect.is_empty(),
        "{name}: what is refused, and only that, says `# expect:`"
    );
    Manifest {
        verdict,
        expect,
        offline_unsupported: head("offline: unsupported").pop(),
        old,
        new,
        name,
    }
}
