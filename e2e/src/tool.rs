//! `kubectl palladion` as a person types it, on the testbed.

use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::bed::Bed;
use crate::person::Person;

const PROGRAM: &str = "PALLADION_CLI";
const BUILT: &str = "../target/x86_64-unknown-linux-gnu/release/kubectl-palladion";

/// What came of a line.
#[derive(Debug)]
pub struct Typed {
    /// The exit code.
    pub code: i32,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub said: String,
}

impl Bed {
    /// Type a line of the tool as the administrator.
    ///
    /// # Errors
    /// The program is not there, or cannot be run.
    pub fn palladion(&self, line: &str) -> Result<Typed> {
        typed(line, self.cluster.kubeconfig())
    }

    /// How a verb and a word that is begun may go on, as kubectl asks for it.
    ///
    /// # Errors
    /// The program is not there, or does not answer.
    pub fn completed(&self, namespace: &str, verb: &str, begun: &str) -> Result<String> {
        let output = Command::new(program()?)
            .arg0("kubectl_complete-palladion")
            .args([verb, "-n", namespace, begun])
            .env("KUBECONFIG", self.cluster.kubeconfig())
            .output()
            .context("asking how a line may go on")?;
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }
}

impl Person {
    /// Type a line of the tool as this person.
    ///
    /// # Errors
    /// The program is not there, or cannot be run.
    pub fn palladion(&self, line: &str) -> Result<Typed> {
        typed(line, self.kubeconfig())
    }
}

/// Where the program is.
fn program() -> Result<PathBuf> {
    let program = std::env::var_os(PROGRAM)
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(BUILT), PathBuf::from);
    ensure!(
        program.exists(),
        "{} is not there; hint: `cargo xtask test` builds it",
        program.display()
    );
    Ok(program)
}

fn typed(line: &str, kubeconfig: PathBuf) -> Result<Typed> {
    let program = program()?;
    let output = Command::new(&program)
        .args(line.split(' '))
        .env("KUBECONFIG", kubeconfig)
        .output()
        .with_context(|| format!("running {}", program.display()))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ok(Typed {
        code: output.status.code().unwrap_or(-1),
        out: text(&output.stdout),
        said: text(&output.stderr),
    })
}
