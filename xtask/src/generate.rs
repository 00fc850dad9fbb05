//! `cargo xtask generate`: every file that is made from the Rust types. With
//! `--check` nothing is written; a file that differs is a failure.

mod access;
mod commands;
mod crds;
mod metrics;
mod reference;
mod troubleshooting;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;

/// Says, at the top of each generated file, where to change it.
const COMMAND: &str = "cargo xtask generate";

#[derive(Args)]
pub struct Arguments {
    /// Write nothing; fail if a generated file is not what it would be made
    #[arg(long)]
    check: bool,
}

/// A generated file: its path in the checkout, and its content.
struct Generated {
    path: PathBuf,
    content: String,
}

impl Generated {
    fn new(path: impl Into<PathBuf>, content: String) -> Self {
        Self { path: path.into(), content }
    }
}

pub fn run(arguments: &Arguments) -> Result<()> {
    let root = crate::install::root();
    let files = files(root)?;
    if arguments.check { check(root, &files) } else { write(root, &files) }
}

fn files(root: &Path) -> Result<Vec<Generated>> {
    let mut files = crds::files()?;
    files.push(access::file());
    files.push(commands::file());
    files.push(metrics::file());
    files.extend(reference::files());
    files.push(troubleshooting::file(root)?);
    Ok(files)
}

fn write(root: &Path, files: &[Generated]) -> Result<()> {
    let mut written = 0;
    for file in files.iter().filter(|f| on_disk(root, f).as_deref() != Some(&f.content)) {
        let path = root.join(&file.path);
        let folder = path.parent().unwrap_or(root);
        std::fs::create_dir_all(folder)
            .with_context(|| format!("making the folder {}", folder.display()))?;
        std::fs::write(&path, &file.content)
            .with_context(|| format!("writing {}", file.path.display()))?;
        println!("wrote {}", file.path.display());
        written += 1;
    }
    println!("{} generated files, {written} changed", files.len());
    Ok(())
}

fn check(root: &Path, files: &[Generated]) -> Result<()> {
    let stale: Vec<String> = files
        .iter()
        .filter(|f| on_disk(root, f).as_deref() != Some(&f.content))
        .map(|f| f.path.display().to_string())
        .collect();
    if !stale.is_empty() {
        bail!("not up to date: {}\nhint: {COMMAND}", stale.join(", "));
    }
    println!("{} generated files are up to date", files.len());
    Ok(())
}

fn on_disk(root: &Path, file: &Generated) -> Option<String> {
    std::fs::read_to_string(root.join(&file.path)).ok()
}
