//! How a testbed is, at one glance.

use std::fmt;

use anyhow::Result;

use crate::cluster::Cluster;
use crate::control_plane::Component;
use crate::down::leftovers;
use crate::names::ClusterName;
use crate::node::Part;
use crate::process;
use crate::state::{State, boot};

/// What a testbed's own processes do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Status {
    /// There is none of that name.
    Down,
    /// Something of it exists, but it is not up: a start or an end that was
    /// interrupted, or a restart of the machine.
    Remains(Vec<String>),
    /// It is up; these are its processes.
    Up(Vec<Process>),
}

/// One process of a testbed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// Its record's and log's name.
    pub name: String,
    /// Whether it runs.
    pub state: ProcessState,
}

/// Whether a process of a testbed runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessState {
    /// It does.
    Runs,
    /// It ended, or was stopped.
    Ended,
}

impl Status {
    /// Looks at the testbed of that name.
    pub fn of(name: &ClusterName) -> Result<Self> {
        let state = State::read(name)?;
        let Some(state) = state.filter(|state| boot().is_ok_and(|boot| boot == state.boot)) else {
            let left = leftovers(name, &Cluster::cache_of(name)?)?;
            return Ok(match left.is_empty() {
                true => Self::Down,
                false => Self::Remains(left),
            });
        };
        let records = name.run_dir().join("records");
        let mut names = vec!["forward-api".to_owned()];
        names.extend(Component::ALL.map(|component| component.name().to_owned()));
        for node in state.config.node_list() {
            names.extend(Part::ALL.map(|part| part.record(node)));
        }
        let others = process::recorded(&records).into_iter();
        let others: Vec<_> = others.filter(|other| !names.contains(other)).collect();
        let processes = names.into_iter().chain(others).map(|name| Process {
            state: match process::is_running(&records, &name) {
                true => ProcessState::Runs,
                false => ProcessState::Ended,
            },
            name,
        });
        Ok(Self::Up(processes.collect()))
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Down => f.write_str("down: nothing of it exists\nhint: cargo xtask testbed up"),
            Self::Remains(left) => write!(
                f,
                "not up, but this is left of it:\n  {}\nhint: cargo xtask testbed down",
                left.join("\n  ")
            ),
            Self::Up(processes) => {
                let ended = processes.iter().filter(|p| p.state == ProcessState::Ended);
                let ended: Vec<_> = ended.map(|p| p.name.as_str()).collect();
                write!(
                    f,
                    "up: {} of {} processes run",
                    processes.len() - ended.len(),
                    processes.len()
                )?;
                if !ended.is_empty() {
                    write!(
                        f,
                        "\nnot running: {}\nhint: cargo xtask testbed up starts them, cargo xtask testbed logs NAME says why",
                        ended.join(", ")
                    )?;
                }
                Ok(())
            }
        }
    }
}

impl Cluster {
    /// How its own processes are.
    pub fn status(&self) -> Result<Status> {
        Status::of(&self.site().config.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stopped_process_is_named_with_a_way_on() {
        let process = |name: &str, state| Process { name: name.to_owned(), state };
        let status = Status::Up(vec![
            process("etcd", ProcessState::Runs),
            process("n1-kubelet", ProcessState::Ended),
        ]);
        let text = status.to_string();
        assert!(text.contains("1 of 2") && text.contains("n1-kubelet") && text.contains("hint:"));
    }

    #[test]
    fn what_was_never_up_is_down() {
        let name = ClusterName::parse("never-was-up").expect("should parse");
        assert_eq!(Status::of(&name).expect("should look"), Status::Down);
    }
}
