//! Stores of other projects, each a server of its own on the loopback: installed from its
//! registry, in the version that stands here, into the cache of this user, and asked all that a
//! backup asks of a store.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use palladion_testbed::cache::{Cache, Key};
use palladion_testbed::progress::{Lines, stage};

use super::cargo;
use super::steps::Tally;

/// What the cache calls them.
const CACHED: &str = "servers";
/// The tests with each server: of the store, and of the child of the agent.
const PACKAGES: [&str; 2] = ["palladion-store", "palladion-agent-transfer"];

/// A server that is no program of ours.
struct Server {
    /// As its project and the tests call it.
    name: &'static str,
    /// The variable in which its tests look for its directory.
    variable: &'static str,
    /// Its version.
    version: &'static str,
    /// Where it comes from.
    from: From,
    /// How long that takes where nothing is cached.
    usual: Duration,
}

/// The registry, and what else has to be on this machine.
#[derive(Clone, Copy)]
enum From {
    /// This package with these of its extras, in an environment of its own.
    Pip { package: &'static str },
    /// This main package of a module.
    Go { package: &'static str },
    /// This package, with what it needs.
    Npm { package: &'static str },
}

/// The protocol of S3 twice, Google Cloud Storage, and Azure.
const SERVERS: [Server; 4] = [
    Server {
        name: "moto",
        variable: "PALLADION_MOTO",
        version: "5.2.5",
        from: From::Pip { package: "moto[s3,server]" },
        usual: Duration::from_secs(60),
    },
    Server {
        name: "versitygw",
        variable: "PALLADION_VERSITYGW",
        version: "v1.8.0",
        from: From::Go { package: "github.com/versity/versitygw/cmd/versitygw" },
        usual: Duration::from_secs(150),
    },
    Server {
        name: "fake-gcs-server",
        variable: "PALLADION_FAKE_GCS_SERVER",
        version: "v1.56.1",
        from: From::Go { package: "github.com/fsouza/fake-gcs-server" },
        usual: Duration::from_secs(120),
    },
    Server {
        name: "azurite",
        variable: "PALLADION_AZURITE",
        // The last one for Node.js 20, which Debian 13 has.
        version: "3.35.0",
        from: From::Npm { package: "azurite" },
        usual: Duration::from_secs(40),
    },
];

impl From {
    /// The programs that have to be here, with what says their version.
    fn programs(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Pip { .. } => &[("python3", "--version")],
            Self::Go { .. } => &[("go", "version")],
            Self::Npm { .. } => &[("npm", "--version"), ("node", "--version")],
        }
    }

    /// How they come onto a machine that lacks them.
    fn hint(self) -> &'static str {
        match self {
            Self::Pip { .. } => "install Python 3 with its module venv (Debian: python3-venv)",
            Self::Go { .. } => {
                "install Go as the testbed needs it, see `cargo xtask testbed check`"
            }
            Self::Npm { .. } => "install Node.js 20 or newer with npm (Debian: nodejs, npm)",
        }
    }
}

/// All of them, each with its tests. One that cannot be had is a failure: what was not asked is
/// not known to answer.
pub fn with_stores(tally: &mut Tally) {
    let outcome = with_a_thousand_faults(tally);
    tally.ended(outcome);
    let cache = Cache::of_user();
    for server in &SERVERS {
        let there = match &cache {
            Ok(cache) => installed(server, cache),
            Err(error) => Err(anyhow::anyhow!("{error:#}")),
        };
        let outcome = there
            .with_context(|| format!("{} is not there, so its tests were not run", server.name))
            .and_then(|directory| played(server, &directory, tally));
        tally.ended(outcome);
    }
}

/// Backups to a server of the tests' own, whose every third request or so fails: none that is called
/// complete may lack anything. A landing plays fewer.
fn with_a_thousand_faults(tally: &mut Tally) -> Result<()> {
    let mut command =
        cargo(&["test", "--package", "palladion-store", "--locked", "--test", "complete"]);
    command.args(["--", "--ignored", "--nocapture"]);
    tally.step("palladion-store with a thousand faults", "", &mut command)
}

fn played(server: &Server, directory: &Path, tally: &mut Tally) -> Result<()> {
    let module = server.name.replace('-', "_");
    for package in PACKAGES {
        let mut command = cargo(&["test", "--package", package, "--locked", "--test", "real"]);
        command.env(server.variable, directory);
        command.args(["--", "--ignored", "--nocapture", "--test-threads", "1", &module]);
        tally.step(
            &format!("{package} with {} {}", server.name, server.version),
            "",
            &mut command,
        )?;
    }
    Ok(())
}

/// Its directory.
fn installed(server: &Server, cache: &Cache) -> Result<PathBuf> {
    let mut key = Key::of(server.name).text(server.version);
    for (program, word) in server.from.programs() {
        let said = said(Command::new(program).arg(word));
        key = key.text(&said.with_context(|| server.from.hint())?);
    }
    let key = key.build();
    if let Some(directory) = cache.find(CACHED, &key) {
        return Ok(directory);
    }
    let what = format!("installing {} {}", server.name, server.version);
    stage(&mut Lines, &what, server.usual, || {
        cache.get(CACHED, &key, |directory| install(server, directory))
    })
}

fn install(server: &Server, directory: &Path) -> Result<()> {
    let version = server.version;
    match server.from {
        From::Pip { package } => {
            let make = said(Command::new("python3").args(["-m", "venv"]).arg(directory));
            make.with_context(|| server.from.hint())?;
            let mut pip = Command::new(directory.join("bin/python3"));
            pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
            said(pip.arg(format!("{package}=={version}"))).map(drop)
        }
        From::Go { package } => {
            let mut go = Command::new("go");
            go.args(["install", &format!("{package}@{version}")]);
            said(go.env("GOBIN", directory).env("CGO_ENABLED", "0")).map(drop)
        }
        From::Npm { package } => {
            let mut npm = Command::new("npm");
            // Nothing of it is built, so none of its scripts has to run.
            npm.args(["install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix"]);
            said(npm.arg(directory).arg(format!("{package}@{version}"))).map(drop)
        }
    }
}

/// What a program says, or why it failed.
fn said(command: &mut Command) -> Result<String> {
    let shown = format!("running {:?}", command.get_program());
    let output = command.stdin(Stdio::null()).output().with_context(|| shown.clone())?;
    if !output.status.success() {
        let why = String::from_utf8_lossy(&output.stderr);
        bail!("{shown} ended with {}: {}", output.status, why.trim());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_is_missing_or_fails_says_so() {
        let missing = said(&mut Command::new("palladion-no-such-program"));
        let why = format!("{:#}", missing.expect_err("there is none"));
        assert!(why.contains("palladion-no-such-program"), "{why}");
        let failed = said(Command::new("sh").args(["-c", "echo no registry >&2; exit 3"]));
        assert!(format!("{:#}", failed.expect_err("fails")).contains("no registry"));
    }

    /// The tests look for each server under the name of its variable, and by its module.
    #[test]
    fn the_tests_know_each_server() {
        let tests = crate::install::root().join("crates/store/tests/support/servers");
        let text = |name: &str| std::fs::read_to_string(tests.join(name)).expect("read");
        let (all, process) = (text("mod.rs"), text("process.rs"));
        for server in &SERVERS {
            assert!(process.contains(&format!("\"{}\"", server.variable)), "{}", server.name);
            let module = format!("with_each_server!({} ", server.name.replace('-', "_"));
            assert!(all.contains(&module), "{module}");
        }
    }
}
