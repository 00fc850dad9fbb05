//! The test programs of the workspace, built in one go and run by themselves. A `cargo test`
//! for one package after another builds the libraries they share once for each set of features
//! that these packages ask for, and a change of the sources while stories are played would
//! reach the ones that begin later.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, anyhow, bail};
use serde::Deserialize;

use crate::install;

/// One test program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// The crate whose tests these are.
    pub package: String,
    /// What of the crate is tested: its library, a program of it or one of its test targets,
    /// by cargo's name of it.
    pub target: String,
    /// Does it test the crate from within?
    pub is_unit: bool,
    file: PathBuf,
    /// The crate's directory, in which `cargo test` would start it.
    directory: PathBuf,
}

impl Program {
    /// The program, to be run as `cargo test` runs it, after these words.
    pub fn command(&self, before: &[&str]) -> Command {
        let mut command = match before {
            [] => Command::new(&self.file),
            [first, rest @ ..] => {
                let mut command = Command::new(first);
                command.args(rest).arg(&self.file);
                command
            }
        };
        command
            .current_dir(&self.directory)
            .env("CARGO", env!("CARGO"))
            .env("CARGO_MANIFEST_DIR", &self.directory);
        command
    }

    /// For people: the crate and what of it.
    pub fn name(&self) -> String {
        format!("{} {}", self.package, self.target)
    }
}

/// Build the test programs of the whole workspace.
///
/// # Errors
/// If one does not compile.
pub fn all() -> Result<Vec<Program>> {
    build(&[])
}

/// Build the program of the stories alone, with the same features as in [`all`].
///
/// # Errors
/// If it does not compile.
pub fn stories() -> Result<Program> {
    let built = build(&["--test", "stories"])?;
    let found = built.into_iter().find(|p| p.package == "palladion-e2e" && p.target == "stories");
    found.ok_or_else(|| anyhow!("cargo names no test program `stories` of palladion-e2e"))
}

fn build(words: &[&str]) -> Result<Vec<Program>> {
    let output = Command::new(env!("CARGO"))
        .current_dir(install::root())
        .args(["test", "--workspace", "--locked", "--no-run"])
        .arg("--message-format=json-render-diagnostics")
        .args(words)
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .context("running cargo to build the tests")?;
    if !output.status.success() {
        bail!("the tests do not compile; what the compiler says is above");
    }
    let text = String::from_utf8(output.stdout).context("reading what cargo has built")?;
    text.lines().filter_map(|line| read(line).transpose()).collect()
}

/// What cargo prints of each thing that it has built, as far as it is of use here.
/// <https://doc.rust-lang.org/cargo/reference/external-tools.html#artifact-messages>
#[derive(Deserialize)]
struct Artifact {
    package_id: String,
    manifest_path: PathBuf,
    target: Target,
    profile: Profile,
    executable: Option<PathBuf>,
}

#[derive(Deserialize)]
struct Target {
    name: String,
    kind: Vec<String>,
}

#[derive(Deserialize)]
struct Profile {
    test: bool,
}

/// The test program that a line of cargo's tells of, if it is one.
fn read(line: &str) -> Result<Option<Program>> {
    #[derive(Deserialize)]
    struct Reason {
        reason: String,
    }
    let told = |error| anyhow!("cargo tells of what it built in unknown words: {error}: {line}");
    if serde_json::from_str::<Reason>(line).map_err(told)?.reason != "compiler-artifact" {
        return Ok(None);
    }
    let artifact: Artifact = serde_json::from_str(line).map_err(told)?;
    let Some(file) = artifact.executable.filter(|_| artifact.profile.test) else { return Ok(None) };
    let directory = artifact.manifest_path.parent().context("a manifest in a directory")?;
    let is_unit = artifact.target.kind.iter().any(|kind| kind != "test");
    Ok(Some(Program {
        package: package(&artifact.package_id).to_string(),
        target: artifact.target.name,
        is_unit,
        file,
        directory: directory.to_path_buf(),
    }))
}

/// The name in `path+file:///…/agent#palladion-agent@0.1.0`, or in `path+file:///…/xtask#0.1.0`,
/// where it is that of the directory.
/// <https://doc.rust-lang.org/cargo/reference/pkgid-spec.html>
fn package(id: &str) -> &str {
    let (place, name) = id.rsplit_once('#').unwrap_or((id, ""));
    match name.split_once('@') {
        Some((name, _)) => name,
        None => place.rsplit('/').next().unwrap_or(place),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(id: &str, target: &str, kind: &str, is_test: bool, file: &str) -> String {
        format!(
            r#"{{"reason":"compiler-artifact","package_id":"{id}","manifest_path":"/w/crates/agent/Cargo.toml","target":{{"kind":["{kind}"],"name":"{target}"}},"profile":{{"opt_level":"0","test":{is_test}}},"features":[],"executable":{file},"fresh":true}}"#
        )
    }

    #[test]
    fn a_test_program_is_read_from_what_cargo_prints() {
        let id = "path+file:///w/crates/agent#palladion-agent@0.1.0";
        let read = |line: String| super::read(&line).expect("cargo's own words");
        let file = r#""/w/target/debug/deps/pod-1""#;
        let pod = read(line(id, "pod", "test", true, file)).expect("a test program");
        assert_eq!(pod.name(), "palladion-agent pod");
        assert_eq!(pod.directory, PathBuf::from("/w/crates/agent"));
        assert!(!pod.is_unit);
        let library = read(line(id, "palladion_agent", "lib", true, file));
        assert!(library.is_some_and(|program| program.is_unit));
        let others = [
            line(id, "palladion-agent", "bin", false, file),
            line(id, "palladion_agent", "lib", false, "null"),
            r#"{"reason":"build-finished","success":true}"#.to_string(),
        ];
        for other in others {
            assert_eq!(read(other.clone()), None, "{other}");
        }
        assert!(super::read("warning: something").is_err());
    }

    #[test]
    fn a_crate_is_named_also_where_cargo_leaves_its_name_to_the_directory() {
        assert_eq!(package("path+file:///w/crates/agent#palladion-agent@0.1.0"), "palladion-agent");
        assert_eq!(package("path+file:///w/xtask#0.1.0"), "xtask");
    }

    #[test]
    fn a_program_runs_in_its_crate_behind_other_words() {
        let program = Program {
            package: "p".into(),
            target: "t".into(),
            is_unit: false,
            file: "/bin/pwd".into(),
            directory: "/".into(),
        };
        for before in [&[][..], &["env", "A=1"][..]] {
            let output = program.command(before).output().expect("pwd is everywhere");
            assert_eq!(String::from_utf8_lossy(&output.stdout), "/\n");
        }
    }
}
