//! Builds the tests of one suite in the copy and runs the named ones.

use std::io::Read;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde_json::Value;

use super::list::Suite;
use super::workplace::Workplace;

/// The tests of one mutant take seconds. One whose history never ends is no
/// test that fails: it would hang a real run, too.
const LONGEST: Duration = Duration::from_secs(600);

/// Tests of a suite, by parts of their names.
pub struct Tests<'a> {
    pub suite: Suite,
    pub names: Vec<&'a str>,
}

/// What came of them.
#[derive(Debug, PartialEq, Eq)]
pub enum Tried {
    /// All passed.
    Passed,
    /// These failed.
    Failed(Vec<String>),
    /// They could not be built.
    NotBuilt(String),
    /// They ended, or were ended, without a result.
    Ended(String),
}

/// Build and run them in the copy as it is now.
pub fn run(place: &Workplace, tests: &Tests<'_>) -> Result<Tried> {
    let program = match build(place, tests.suite)? {
        Ok(program) => program,
        Err(why) => return Ok(Tried::NotBuilt(why)),
    };
    let package = place.sources().join(tests.suite.directory());
    let mut child = Command::new(program)
        .args(&tests.names)
        .current_dir(&package)
        .env("CARGO_MANIFEST_DIR", &package)
        .env("INSTA_WORKSPACE_ROOT", place.sources())
        .env("INSTA_UPDATE", "no")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .context("running tests")?;
    let mut stdout = child.stdout.take().context("reading the output of tests")?;
    let output = thread::spawn(move || {
        let mut text = Vec::new();
        stdout.read_to_end(&mut text).map(|_| String::from_utf8_lossy(&text).into_owned())
    });
    let begin = Instant::now();
    while child.try_wait().context("waiting for tests")?.is_none() {
        if begin.elapsed() > LONGEST {
            child.kill().context("ending tests")?;
            child.wait().context("waiting for tests")?;
            return Ok(Tried::Ended(format!("no end within {} s", LONGEST.as_secs())));
        }
        thread::sleep(Duration::from_millis(50));
    }
    let output = output.join().ok().context("reading the output of tests")??;
    Ok(read(&output))
}

/// The program with the tests; or why there is none, in the compiler's words.
fn build(place: &Workplace, suite: Suite) -> Result<Result<PathBuf, String>> {
    let output = Command::new(env!("CARGO"))
        .current_dir(place.sources())
        .args(["test", "--no-run", "--locked", "--package", suite.package()])
        .args(suite.target())
        .args(["--message-format", "json"])
        .env("CARGO_TARGET_DIR", place.target())
        // Nobody looks at where a mutant's test stood.
        .env("CARGO_PROFILE_DEV_DEBUG", "0")
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .output()
        .context("running cargo to build tests")?;
    let lines = String::from_utf8_lossy(&output.stdout).into_owned();
    let messages = || lines.lines().filter_map(|l| serde_json::from_str::<Value>(l).ok());
    if !output.status.success() {
        let mut errors = messages().filter(|m| m["message"]["level"] == "error");
        let first = errors.find_map(|m| m["message"]["message"].as_str().map(str::to_string));
        let said = || String::from_utf8_lossy(&output.stderr).into_owned();
        return Ok(Err(format!("not built: {}", first.unwrap_or_else(said))));
    }
    let mut programs = messages().filter(|m| m["profile"]["test"] == true);
    let program = programs.find_map(|m| m["executable"].as_str().map(PathBuf::from));
    Ok(program.ok_or_else(|| "not built: cargo names no program".to_string()))
}

/// What the output of a test program says.
fn read(output: &str) -> Tried {
    let failed = |line: &str| {
        let name = line.strip_prefix("test ")?.strip_suffix(" ... FAILED")?;
        Some(name.rsplit("::").next().unwrap_or(name).to_string())
    };
    let names: Vec<String> = output.lines().filter_map(failed).collect();
    if !names.is_empty() {
        return Tried::Failed(names);
    }
    let result = output.lines().find_map(|line| line.strip_prefix("test result: ok. "));
    match result {
        Some(counts) if counts.starts_with("0 passed") => Tried::Ended("no test ran".into()),
        Some(_) => Tried::Passed,
        None => Tried::Ended("the tests ended without a result".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_test_that_fails_catches() {
        let failed = "test lint::tests::one ... ok\ntest lint::tests::two ... FAILED\n\ntest result: FAILED. 1 passed; 1 failed";
        assert_eq!(read(failed), Tried::Failed(vec!["two".into()]));
        assert_eq!(read("test one ... ok\ntest result: ok. 1 passed; 0 failed"), Tried::Passed);
        let none = "test result: ok. 0 passed; 0 failed; 0 ignored; 9 filtered out";
        assert_eq!(read(none), Tried::Ended("no test ran".into()));
        assert!(matches!(read("running 3 tests\n"), Tried::Ended(_)));
    }
}
