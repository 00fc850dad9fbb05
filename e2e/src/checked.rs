//! The rows of a ring under test: `palladion-checker` writes them, and compares
//! what every replica holds by itself with what was acknowledged. What it
//! claims, and what not, is in `docs/concepts/data-checks.md`.

use std::cell::Cell;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

use palladion_testbed::faults::Victim;

use crate::bed::{Bed, text, wait_for};
use crate::ring::Ring;
use crate::writing::{Tally, Writing, said};

/// Where the rows are; stories alter its replication.
pub const KEYSPACE: &str = "kept";
/// The program, if it is not where `cargo xtask test` builds it.
const PROGRAM: &str = "PALLADION_CHECKER";
const BUILT: &str = "../target/x86_64-unknown-linux-gnu/release/palladion-checker";

/// The table of the checker that loses them.
const ROWS_OF_THE_CHECKER: &str = "kept/rows";
/// Until a server has been started again.
const START: Duration = Duration::from_secs(240);
/// Enough to be on every member, and each written more than once.
const ROWS: &str = "200";
const ATTEMPTS: &str = "450";
/// A busy machine takes longer than the two seconds of an idle one.
const WRITTEN_IN_SECONDS: &str = "60";
/// Each writer of the checker has at most one attempt under way.
const WRITERS: usize = 4;
/// Attempts in a second while something happens: servers under test have half a
/// core each, and the happening is to take as long as without them.
const RATE: &str = "40";
/// Nothing that happens to a ring takes longer.
const AT_MOST_SECONDS: &str = "3600";
/// A member that was started, or a machine that was reached again, a moment ago may not answer at
/// once.
const TRIES: usize = 6;
const BETWEEN_TRIES: Duration = Duration::from_secs(5);
const COULD_NOT_LOOK: i32 = 2;

/// What is written while something happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writes {
    /// Rows, and registers by compare-and-set.
    RowsAndRegisters,
    /// Rows alone: Cassandra's Paxos does not promise that registers are
    /// linearizable while ranges move.
    Rows,
}

/// What a ring's checks go by.
#[derive(Debug, Default)]
pub struct Checks {
    /// When a volume was lost the last time, in microseconds since 1970.
    lost: Cell<Option<u128>>,
    in_flight: Cell<usize>,
}

impl Ring<'_> {
    fn history(&self) -> PathBuf {
        self.bed.cluster.site().run_dir().join(format!("checked-{}.jsonl", self.namespace))
    }

    /// The checker, in the network of a node that runs: with the operator on
    /// it if that is somewhere, because no story takes such a node away.
    fn checker(&self, verb: &str) -> Result<Command> {
        let program = std::env::var_os(PROGRAM)
            .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(BUILT), PathBuf::from);
        ensure!(
            program.exists(),
            "{} is not there; hint: `cargo xtask test` builds it",
            program.display()
        );
        let members = self.members()?;
        let addresses: Vec<&str> = members.iter().map(|m| text(m, "/spec/address")).collect();
        let mut command = self.bed.command_on_a_network(&program.to_string_lossy())?;
        command
            .args([verb, "--keyspace", KEYSPACE, "--contact", &addresses.join(",")])
            .arg("--history")
            .arg(self.history())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if let Some(access) = &self.access {
            access.tell(&mut command);
        }
        Ok(command)
    }

    /// A keyspace of so many copies and rows in it, written more than once and
    /// some of them deleted: the beginning of a new history.
    ///
    /// # Errors
    /// Nobody answers.
    pub fn write_data(&self, copies: u32) -> Result<()> {
        let history = self.history();
        if history.exists() {
            std::fs::remove_file(&history).context("removing an old history")?;
        }
        self.checks.lost.set(None);
        self.checks.in_flight.set(0);
        let copies = copies.to_string();
        let mut load = self.checker("load")?;
        load.args(["--copies", &copies, "--rows", ROWS, "--attempts", ATTEMPTS])
            .args(["--writers", &WRITERS.to_string()])
            .args(["--for", WRITTEN_IN_SECONDS]);
        Tally::of(&load.output().context("running the checker")?).map(drop)
    }

    /// Is all that was acknowledged there, at QUORUM, at ALL and on every
    /// replica by itself, and nothing else?
    ///
    /// # Errors
    /// It is not, or nobody can tell.
    pub fn check_data(&self) -> Result<()> {
        let begin = Instant::now();
        let members = self.members()?.len().to_string();
        let mut tried = 1;
        let output = loop {
            let mut verify = self.checker("verify")?;
            verify.args(["--members", &members]);
            if let Some(moment) = self.checks.lost.get() {
                verify.args(["--lost-before", &moment.to_string()]);
            }
            verify.args(["--in-flight", &self.checks.in_flight.get().to_string()]);
            let output = verify.output().context("running the checker")?;
            if output.status.code() != Some(COULD_NOT_LOOK) || tried == TRIES {
                break output;
            }
            println!("the data could not be read: {}", said(&output));
            tried += 1;
            std::thread::sleep(BETWEEN_TRIES);
        };
        if !output.status.success() {
            let kept = self.keep_evidence(&output);
            bail!("{}; the report and the history are in {}", said(&output), kept?.display());
        }
        let took = begin.elapsed().as_secs_f64();
        let closing = said(&output).lines().last().unwrap_or_default().to_string();
        println!("data checked in {took:.1} s: {closing}");
        Ok(())
    }

    /// For whoever reads of a failure: logs stay when the testbed goes.
    fn keep_evidence(&self, output: &Output) -> Result<PathBuf> {
        let moment = std::time::UNIX_EPOCH.elapsed().map_or(0, |passed| passed.as_secs());
        let directory = self.bed.cluster.log_dir().join(format!("{}-{moment}", self.namespace));
        let keeping = || format!("keeping evidence in {}", directory.display());
        std::fs::create_dir_all(&directory).with_context(keeping)?;
        std::fs::copy(self.history(), directory.join("history.jsonl")).with_context(keeping)?;
        std::fs::write(directory.join("report.json"), &output.stdout).with_context(keeping)?;
        std::fs::write(directory.join("report.txt"), &output.stderr).with_context(keeping)?;
        Ok(directory)
    }

    /// All members end at once, and the hints of what they coordinated with them: from now on each
    /// may lack what was in flight.
    pub fn ends_at_once(&self) {
        self.checks.in_flight.set(WRITERS);
    }

    /// A volume has been lost, and nothing writes to it any more: with it went what
    /// was acknowledged at ONE until now and had not yet come to another.
    pub fn loses_a_volume(&self) {
        let now = std::time::UNIX_EPOCH.elapsed().map_or(0, |passed| passed.as_micros());
        self.checks.lost.set(Some(now));
    }

    /// A member loses all its rows, and starts again without them: it is the same member,
    /// and for Kubernetes all is well.
    ///
    /// # Errors
    /// The member's server does not come back.
    pub fn loses_rows(&self, member: &str) -> Result<()> {
        self.loses_rows_of(member, ROWS_OF_THE_CHECKER)
    }

    /// The same of another table: `KEYSPACE/TABLE`.
    ///
    /// # Errors
    /// The member's server does not come back.
    pub fn loses_rows_of(&self, member: &str, table: &str) -> Result<()> {
        let started =
            || anyhow::Ok(self.member(member)?["status"]["startHistory"][0]["startedAt"].clone());
        let before = started()?;
        // A server that is drained has nothing in its commit log that would bring the rows back.
        let erase = format!("nodetool drain && rm /var/lib/cassandra/data/{table}-*/*-*-*");
        self.bed.exec(&self.namespace, member, &["bash", "-c", &erase])?;
        self.bed.cluster.kill(&self.namespace, member, "cassandra", &Victim::Init)?;
        wait_for("the server to be started again", START, || {
            Ok((started()? != before).then_some(()))
        })?;
        self.wait_ready(u32::try_from(self.members()?.len())?)?;
        self.wait_settled()
    }

    /// Write while something happens, until it is stopped.
    ///
    /// # Errors
    /// The checker does not start.
    pub fn writing(&self, writes: Writes) -> Result<Writing> {
        let mut load = self.checker("load")?;
        load.args(["--rows", ROWS, "--rate", RATE, "--for", AT_MOST_SECONDS])
            .args(["--writers", &WRITERS.to_string()]);
        if writes == Writes::Rows {
            load.args(["--registers", "0"]);
        }
        Writing::start(&mut load, self.history())
    }
}

impl Bed {
    fn command_on_a_network(&self, program: &str) -> Result<Command> {
        let busy = self.operator_nodes()?;
        let mut nodes = self.cluster.nodes();
        nodes.sort_by_key(|node| !busy.contains(&node.name()));
        let commands = nodes.into_iter().map(|node| self.cluster.in_network_of(node, program));
        let mut last = None;
        for command in commands {
            match command {
                Ok(command) => return Ok(command),
                Err(error) => last = Some(error),
            }
        }
        Err(last.context("the testbed has no node")?).context("no node runs")
    }
}
