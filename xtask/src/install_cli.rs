//! `cargo xtask install-cli`: build `kubectl palladion` and put it where kubectl
//! finds its plugins.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use clap::Args;

const PROGRAM: &str = "kubectl-palladion";
/// The other names of the one program: see its `main.rs`.
const ALSO: [&str; 2] = ["palladion", "kubectl_complete-palladion"];

#[derive(Args)]
pub struct Arguments {
    /// The directory; it should be in your PATH [default: ~/.local/bin]
    #[arg(long, value_name = "DIRECTORY")]
    to: Option<PathBuf>,
}

pub fn run(arguments: &Arguments) -> Result<()> {
    let to = match (&arguments.to, std::env::home_dir()) {
        (Some(to), _) => to.clone(),
        (None, Some(home)) => home.join(".local/bin"),
        (None, None) => {
            bail!("you have no home directory\nhint: cargo xtask install-cli --to /usr/local/bin")
        }
    };
    let program = build()?;
    std::fs::create_dir_all(&to).with_context(|| format!("making the folder {}", to.display()))?;
    let installed = to.join(PROGRAM);
    replace(&installed, |at| std::fs::copy(&program, at).map(drop))?;
    for name in ALSO {
        replace(&to.join(name), |at| std::os::unix::fs::symlink(PROGRAM, at))?;
    }
    println!("{} is installed; try: {} version --client", installed.display(), installed.display());
    if !is_in_path(&to) {
        println!("hint: export PATH=\"{}:$PATH\"", to.display());
    }
    Ok(())
}

fn build() -> Result<PathBuf> {
    let status = Command::new(env!("CARGO"))
        .current_dir(crate::install::root())
        .args(["build", "--release", "--locked", "-p", PROGRAM])
        .status()
        .context("running cargo to build kubectl-palladion")?;
    if !status.success() {
        bail!("kubectl-palladion could not be built; cargo's own message is above");
    }
    let target = std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| crate::install::root().join("target"), PathBuf::from);
    Ok(target.join("release").join(PROGRAM))
}

/// A program that runs cannot be written over: the new one takes its name.
fn replace(at: &Path, make: impl FnOnce(&Path) -> std::io::Result<()>) -> Result<()> {
    let new = at.with_extension("new");
    let _ = std::fs::remove_file(&new);
    make(&new)
        .and_then(|()| std::fs::rename(&new, at))
        .with_context(|| format!("writing {}", at.display()))
}

fn is_in_path(folder: &Path) -> bool {
    std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|entry| entry == folder))
}
