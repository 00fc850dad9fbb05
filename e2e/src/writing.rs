//! A checker that writes while something happens to a ring, and what it says of it.

use std::path::PathBuf;
use std::process::{Child, Command, Output};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use crate::bed::wait_for;

/// It connects, makes a schema and prepares statements first.
const BEGUN_IN: Duration = Duration::from_secs(60);

/// A checker that writes until it is stopped; killed where a step fails.
pub struct Writing {
    child: Option<Child>,
    history: PathBuf,
    /// How long the history was before.
    known: usize,
}

impl Writing {
    /// Start this checker, which goes on with a history.
    pub(crate) fn start(load: &mut Command, history: PathBuf) -> Result<Self> {
        let known = std::fs::read(&history).map_or(0, |text| text.len());
        let child = load.spawn().context("starting the checker")?;
        Ok(Self { child: Some(child), history, known })
    }

    /// Stop, and say what was written.
    ///
    /// # Errors
    /// It ended before, or not well.
    pub fn stop(mut self) -> Result<Tally> {
        let mut child = self.child.take().context("it is stopped once")?;
        let ended = child.try_wait().context("looking at the checker")?.is_some();
        if !ended {
            let id = child.id().to_string();
            Command::new("kill").args(["-TERM", &id]).status().context("running kill")?;
        }
        let output = child.wait_with_output().context("waiting for the checker")?;
        ensure!(!ended, "the checker ended before it was stopped: {}", said(&output));
        let tally = Tally::of(&output)?;
        println!("written meanwhile: {tally:?}");
        Ok(tally)
    }

    /// End it where it stands, as soon as something was acknowledged: what it had
    /// begun is of unknown outcome.
    ///
    /// # Errors
    /// It ended before, or nothing was acknowledged in a minute.
    pub fn kill(mut self) -> Result<()> {
        let mut child = self.child.take().context("it is stopped once")?;
        let begun = wait_for("something to be acknowledged", BEGUN_IN, || {
            let ended = child.try_wait().context("looking at the checker")?.is_some();
            Ok((ended || self.acknowledged()? > 0).then_some(()))
        });
        if child.try_wait().context("looking at the checker")?.is_some() {
            let output = child.wait_with_output().context("reading its words")?;
            bail!("the checker ended before it was killed: {}", said(&output));
        }
        child.kill().context("killing the checker")?;
        child.wait().context("waiting for the checker")?;
        begun?;
        println!("written meanwhile: {} acknowledged before the kill", self.acknowledged()?);
        Ok(())
    }

    /// How many attempts were acknowledged since the start.
    fn acknowledged(&self) -> Result<usize> {
        let history = std::fs::read(&self.history).context("reading the history")?;
        let since = String::from_utf8_lossy(history.get(self.known..).unwrap_or_default());
        Ok(acknowledged_in(&since))
    }
}

impl Drop for Writing {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            // One that has ended by itself needs no more.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// What a run of writing came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// All attempts.
    pub attempts: u64,
    /// Those that were acknowledged, at any level.
    pub acknowledged: u64,
    /// Those that may have been done or not.
    pub unknown: u64,
}

impl Tally {
    pub(crate) fn of(output: &Output) -> Result<Self> {
        ensure!(output.status.success(), "writing rows: {}", said(output));
        let read = serde_json::from_slice(&output.stdout);
        let tally: Value = read.context("reading what the checker says")?;
        let number = |value: &Value| value.as_u64().unwrap_or_default();
        let by_level = tally["acknowledged"].as_object();
        Ok(Self {
            attempts: number(&tally["attempts"]),
            acknowledged: by_level.into_iter().flatten().map(|(_, n)| number(n)).sum(),
            unknown: number(&tally["unknown"]),
        })
    }
}

/// How many attempts were acknowledged, by lines of a history.
fn acknowledged_in(lines: &str) -> usize {
    let read = lines.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    read.filter(|record| record["outcome"]["result"] == "acknowledged").count()
}

/// The sentences of a checker.
pub(crate) fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).trim().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_acknowledged_counts_as_written() {
        let lines = concat!(
            r#"{"run":{"at":1,"seed":1,"keyspace":"kept"}}"#,
            "\n",
            r#"{"attempt":{"id":1,"at":2,"key":3,"action":{"put":{"version":1}},"level":"ALL"}}"#,
            "\n",
            r#"{"outcome":{"id":1,"at":3,"result":"failed","cause":"unavailable"}}"#,
            "\n",
        );
        assert_eq!(acknowledged_in(lines), 0);
        let more = format!(
            "{lines}{}\n{{\"outc",
            r#"{"outcome":{"id":2,"at":4,"result":"acknowledged"}}"#
        );
        assert_eq!(acknowledged_in(&more), 1, "a line that was cut off is nothing");
    }
}
