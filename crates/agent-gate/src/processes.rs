//! Which process gets a signal: the one of exactly this name whose parent has
//! another. Workers that it has forked hear of a change from it.

use crate::words::reload::Reloaded;
use std::fs;
use std::path::Path;

/// A process, as `/proc/<pid>/stat` has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// Its ID.
    pub pid: i32,
    /// Its name: at most 15 characters.
    pub name: String,
    /// The ID of its parent.
    pub parent: i32,
}

impl Process {
    /// Read one line of `stat`. The name is in parentheses and may have some itself.
    pub fn parse(stat: &str) -> Option<Self> {
        let (pid, rest) = stat.split_once(" (")?;
        let (name, rest) = rest.rsplit_once(") ")?;
        let parent = rest.split(' ').nth(1)?.parse().ok()?;
        Some(Self { pid: pid.parse().ok()?, name: name.to_string(), parent })
    }
}

/// All processes of the pod. One that ends while it is read is left out.
pub fn all(proc: &Path) -> Vec<Process> {
    let entries = fs::read_dir(proc).into_iter().flatten().flatten();
    let stats = entries.filter_map(|entry| fs::read_to_string(entry.path().join("stat")).ok());
    stats.filter_map(|stat| Process::parse(&stat)).collect()
}

/// The process of this name whose parent has another.
///
/// # Errors
/// There is none, or more than one.
pub fn named(processes: &[Process], name: &str) -> Result<i32, Reloaded> {
    let is_named = |pid: i32| processes.iter().any(|p| p.pid == pid && p.name == name);
    let mut found: Vec<i32> =
        processes.iter().filter(|p| p.name == name && !is_named(p.parent)).map(|p| p.pid).collect();
    found.sort_unstable();
    match found.as_slice() {
        [] => Err(Reloaded::NoProcess { process: name.to_string() }),
        [one] => Ok(*one),
        several => {
            let pids: Vec<String> = several.iter().map(ToString::to_string).collect();
            Err(Reloaded::Several { process: name.to_string(), pids: pids.join(", ") })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(pid: i32, name: &str, parent: i32) -> Process {
        Process { pid, name: name.into(), parent }
    }

    #[test]
    fn a_line_of_stat_is_read_whatever_the_name_is() {
        let read = |text: &str| Process::parse(text);
        assert_eq!(read("12 (control) S 1 12 12 0"), Some(process(12, "control", 1)));
        assert_eq!(read("7 (a) b) (c) R 3 1"), Some(process(7, "a) b) (c", 3)));
        assert_eq!(read("x (a) S 1"), None);
        assert_eq!(read("7 (a) S"), None);
    }

    #[test]
    fn the_parent_of_its_own_kind_gets_the_signal() {
        let tree = [
            process(1, "pause", 0),
            process(10, "nginx", 1),
            process(11, "nginx", 10),
            process(12, "nginx", 10),
            process(20, "nginx-exporter", 1),
        ];
        assert_eq!(named(&tree, "nginx"), Ok(10));
        assert!(matches!(named(&tree, "ngin"), Err(Reloaded::NoProcess { .. })));
        let two = [process(10, "a", 1), process(11, "a", 1)];
        assert!(
            matches!(named(&two, "a"), Err(Reloaded::Several { pids, .. }) if pids == "10, 11")
        );
    }

    #[test]
    fn the_processes_of_this_machine_can_be_read() {
        let me = i32::try_from(std::process::id()).expect("an ID fits");
        assert!(all(Path::new("/proc")).iter().any(|p| p.pid == me));
    }
}
