//! Containers that are killed or hang.

use std::fs;

use anyhow::{Context, Result, bail};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process};

use crate::cluster::Cluster;

/// The program that holds the namespaces of a pod.
const SANDBOX: &str = "pause";

/// Which process of a container is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Victim {
    /// Its first process; the container ends with it.
    Init,
    /// All its processes of that name, as `ps -o comm` shows it.
    Named(String),
}

impl Cluster {
    /// Kills processes of a container with SIGKILL, and returns how many.
    pub fn kill(
        &self,
        namespace: &str,
        pod: &str,
        container: &str,
        victim: &Victim,
    ) -> Result<usize> {
        let pod = self.pod(namespace, pod)?;
        let processes = self.container_processes(&pod, container)?;
        let victims: Vec<i32> = match victim {
            Victim::Init => processes.into_iter().take(1).collect(),
            Victim::Named(name) => {
                processes.into_iter().filter(|pid| is_named(*pid, name)).collect()
            }
        };
        if victims.is_empty() {
            bail!("container {container} of pod {} has no process {victim:?}", pod.title);
        }
        let mut killed = 0;
        for pid in victims {
            let pid = Pid::from_raw(pid).context("reading a process id of 0")?;
            match kill_process(pid, Signal::KILL) {
                Ok(()) => killed += 1,
                // A child that had its parent's name until it ran a program of its own.
                Err(Errno::SRCH) => {}
                Err(error) => {
                    return Err(error).with_context(|| {
                        format!("killing a process of container {container} of pod {}", pod.title)
                    });
                }
            }
        }
        if killed == 0 {
            bail!("{victim:?} of container {container} of pod {} ended by itself", pod.title);
        }
        Ok(killed)
    }

    /// Ends the sandbox of a pod, as a crash of its runtime does: the kubelet makes another
    /// for the same pod, whose init containers run again.
    ///
    /// # Errors
    /// The pod has no sandbox here.
    pub fn kill_sandbox(&self, namespace: &str, pod: &str) -> Result<()> {
        let pod = self.pod(namespace, pod)?;
        let mut all = self.site().cgroups.processes(&self.pod_group(&pod)?).into_iter();
        let holder = all.find(|pid| is_named(*pid, SANDBOX)).and_then(Pid::from_raw);
        let holder = holder.with_context(|| format!("pod {} has no sandbox", pod.title))?;
        kill_process(holder, Signal::KILL)
            .with_context(|| format!("killing the sandbox of pod {}", pod.title))
    }

    /// Stops a container where it stands: alive, but answering nothing.
    pub fn freeze_container(&self, namespace: &str, pod: &str, container: &str) -> Result<()> {
        let pod = self.pod(namespace, pod)?;
        self.site().cgroups.freeze(&self.container_group(&pod, container)?)
    }

    /// Lets a frozen container go on.
    pub fn thaw_container(&self, namespace: &str, pod: &str, container: &str) -> Result<()> {
        let pod = self.pod(namespace, pod)?;
        self.site().cgroups.thaw(&self.container_group(&pod, container)?)
    }
}

fn is_named(pid: i32, name: &str) -> bool {
    fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|comm| comm.trim_end() == name)
}
