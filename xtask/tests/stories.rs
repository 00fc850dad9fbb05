//! A file of stories that no module names is not compiled, and nothing would
//! say that its steps are not played.

use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../e2e/stories")
}

/// Every file below a directory that should be a module, with its parent.
fn modules(directory: &Path, parent: &Path, found: &mut Vec<(String, PathBuf)>) {
    let entries = std::fs::read_dir(directory).expect("the stories should be there");
    for path in entries.map(|entry| entry.expect("an entry should be readable").path()) {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() {
            modules(&path, &path.with_extension("rs"), found);
        } else if path.extension().is_some_and(|e| e == "rs") && stem != "main" {
            found.push((stem, parent.to_path_buf()));
        }
    }
}

#[test]
fn every_file_of_stories_is_a_module() {
    let mut found = Vec::new();
    modules(&root(), &root().join("main.rs"), &mut found);
    assert!(found.len() > 30, "only {} files were found", found.len());
    for (name, parent) in found {
        let text = std::fs::read_to_string(&parent).expect("a parent should be readable");
        let line = format!("mod {name};");
        let is_named = text.lines().any(|l| {
            ["", "pub ", "pub(crate) ", "pub(super) "]
                .iter()
                .any(|seen| l.trim() == format!("{seen}{line}"))
        });
        assert!(is_named, "{} must have the line `{line}`", parent.display());
    }
}
