//! Operators that run beside a testbed instead of in it: several at once, each
//! with a name of its own in the audit log, started with faults, stopped by
//! SIGSTOP and thawed again. To the API server each is the operator's account.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use palladion_testbed::Cluster;
use palladion_testbed::audit::{AuditEntry, AuditMark};
use palladion_testbed::images::AGENT;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::audits::is_write;
use crate::bed::{OPERATOR, OPERATOR_NAMESPACE, OPERATOR_USER, text, wait_for};

/// Stops itself before its n-th write of an object or a status.
pub const STOP_BEFORE_WRITES: &str = "PALLADION_FAULT_STOP_BEFORE_WRITES";
/// It stops itself before this write of those that need the region lock.
pub const STOP_BEFORE_LOCKED_WRITES: &str = "PALLADION_FAULT_STOP_BEFORE_LOCKED_WRITES";
/// Built by `cargo xtask test` beside this program.
const CHECKER: &str = "PALLADION_CHECKER";
const BUILT: &str = "../target/x86_64-unknown-linux-gnu/release/palladion-operator";
/// It finishes its running steps and releases the Lease.
const ENDS_IN: Duration = Duration::from_secs(60);

/// The operator's program, where `cargo xtask test` builds it.
pub fn program() -> PathBuf {
    match std::env::var_os(CHECKER) {
        Some(checker) => PathBuf::from(checker).with_file_name(OPERATOR),
        None => PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(BUILT),
    }
}

/// An operator outside; killed when it is dropped.
#[derive(Debug)]
pub struct Outside {
    name: String,
    child: Child,
}

impl Outside {
    /// Start one of this name, with these variables besides. A second one of the
    /// name is, to the first, its restarted container.
    ///
    /// # Errors
    /// The program is not there, or the testbed is not.
    pub fn start(
        cluster: &Cluster,
        program: &Path,
        name: &str,
        environment: &[(&str, String)],
    ) -> Result<Self> {
        Self::start_with(cluster, program, name, &[], environment)
    }

    /// The same with these flags besides, for example `--watch-namespace=x`.
    ///
    /// # Errors
    /// The program is not there, or the testbed is not.
    pub fn start_with(
        cluster: &Cluster,
        program: &Path,
        name: &str,
        flags: &[String],
        environment: &[(&str, String)],
    ) -> Result<Self> {
        let kubeconfig = cluster.site().run_dir().join(format!("{name}.kubeconfig"));
        cluster.kubeconfig_for(&kubeconfig, name, &["system:masters"])?;
        as_operator(&kubeconfig)?;
        let log = cluster.log_dir().join(format!("{name}.log"));
        let log =
            File::options().create(true).append(true).open(&log).context("opening its log")?;
        let child = Command::new(program)
            .args(["--metrics-address=127.0.0.1:0", "--health-address=127.0.0.1:0"])
            .args(flags)
            .env("KUBECONFIG", &kubeconfig)
            .env("POD_NAMESPACE", OPERATOR_NAMESPACE)
            .env("POD_NAME", name)
            .env("POD_UID", format!("uid-of-{name}"))
            .env("PALLADION_AGENT_IMAGE", AGENT)
            .env("PALLADION_ADMISSION_POLICIES", "true")
            .envs(environment.iter().map(|(name, value)| (*name, value.as_str())))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .with_context(|| format!("starting {}", program.display()))?;
        Ok(Self { name: name.to_string(), child })
    }

    /// Its process.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Is it stopped, with all its threads?
    ///
    /// # Errors
    /// It has ended.
    pub fn is_stopped(&self) -> Result<bool> {
        let state = format!("/proc/{}/stat", self.pid());
        let stat = fs::read_to_string(&state).with_context(|| format!("reading {state}"))?;
        Ok(state_of(&stat) == Some('T'))
    }

    /// Send it a signal.
    ///
    /// # Errors
    /// It has ended.
    pub fn signal(&self, signal: Signal) -> Result<()> {
        let pid = i32::try_from(self.pid()).ok().and_then(Pid::from_raw);
        let pid = pid.context("a process without an ID")?;
        kill_process(pid, signal).with_context(|| format!("sending {} a signal", self.name))
    }

    /// Has it ended?
    ///
    /// # Errors
    /// The kernel does not say.
    pub fn ended(&mut self) -> Result<Option<ExitStatus>> {
        Ok(self.child.try_wait()?)
    }

    /// Wait until it has ended by itself.
    ///
    /// # Errors
    /// It has not, in this time.
    pub fn wait_ended(&mut self, patience: Duration) -> Result<ExitStatus> {
        let what = format!("{} to end", self.name);
        wait_for(&what, patience, || self.ended())
    }

    /// End it in good order: it releases the Lease.
    ///
    /// # Errors
    /// It does not end.
    pub fn end(mut self) -> Result<()> {
        self.signal(Signal::TERM)?;
        self.wait_ended(ENDS_IN).map(drop)
    }

    /// Wait until it holds the Lease.
    ///
    /// # Errors
    /// It does not, in this time, or it has ended.
    pub fn wait_leads(&mut self, cluster: &Cluster, patience: Duration) -> Result<()> {
        let begins = format!("{}_", self.name);
        let what = format!("{} to lead", self.name);
        wait_for(&what, patience, || {
            let held = lease(cluster)?;
            let holder = text(&held, "/spec/holderIdentity");
            Ok(holder.starts_with(&begins).then_some(()))
        })?;
        match self.ended()? {
            Some(status) => bail!("{} has ended: {status}", self.name),
            None => Ok(()),
        }
    }

    /// What it asked for since then.
    ///
    /// # Errors
    /// The audit log cannot be read.
    pub fn asked(&self, cluster: &Cluster, since: AuditMark) -> Result<Vec<AuditEntry>> {
        let mut entries = cluster.audit_entries(since, &self.name)?;
        entries.retain(|entry| entry.user == self.name);
        Ok(entries)
    }
}

impl Drop for Outside {
    fn drop(&mut self) {
        // It may have ended; a stopped one is killed as well.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The operator's Lease; null if there is none.
///
/// # Errors
/// The API server does not answer.
pub fn lease(cluster: &Cluster) -> Result<Value> {
    let words = ["get", "lease", OPERATOR, "-n", OPERATOR_NAMESPACE, "-o", "json"];
    let answer = cluster.kubectl(&[&words[..], &["--ignore-not-found"]].concat())?;
    match answer.trim() {
        "" => Ok(Value::Null),
        object => serde_json::from_str(object).context("reading the lease"),
    }
}

/// Did this request change something, and was it accepted?
pub fn took_effect(entry: &AuditEntry) -> bool {
    is_write(entry) && (200..300).contains(&entry.code)
}

/// Is this request about the Lease?
pub fn is_of_lease(entry: &AuditEntry) -> bool {
    entry.resource == "leases"
}

/// Let the user of a kubeconfig act as the operator's account: its rights and
/// the admission policies are those of the operator, and the audit log keeps
/// its own name.
fn as_operator(path: &Path) -> Result<()> {
    let reading = || format!("reading {}", path.display());
    let content = fs::read_to_string(path).with_context(reading)?;
    let mut config: Value = serde_yaml::from_str(&content).with_context(reading)?;
    config["users"][0]["user"]["as"] = Value::from(OPERATOR_USER);
    let content = serde_yaml::to_string(&config).with_context(reading)?;
    fs::write(path, content).with_context(|| format!("writing {}", path.display()))
}

/// The state in a line of `/proc/PID/stat`: after the name, which is in
/// parentheses and may hold anything.
fn state_of(stat: &str) -> Option<char> {
    stat.rsplit_once(')')?.1.trim_start().chars().next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_of_a_process_is_read_after_its_name() {
        assert_eq!(state_of("12 (a) b) T 1 12 12 0"), Some('T'));
        assert_eq!(state_of(""), None);
    }

    #[test]
    fn a_user_acts_as_the_operator_s_account() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("kubeconfig");
        fs::write(&path, "users:\n- name: x\n  user: {client-key-data: a}\n").expect("written");
        as_operator(&path).expect("changed");
        let text = fs::read_to_string(&path).expect("read");
        let config: Value = serde_yaml::from_str(&text).expect("YAML");
        assert_eq!(config["users"][0]["user"]["as"], OPERATOR_USER);
        assert_eq!(config["users"][0]["user"]["client-key-data"], "a");
    }
}
