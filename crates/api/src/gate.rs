//! What the gate of a pod and the operator say to each other: labels of the pod,
//! the ticket, and the hash of the files that the pod is to start with. Both
//! sides read it from here.

use sha2::{Digest, Sha256};
use std::fmt::{self, Display, Write};
use std::str::FromStr;

/// Label: empty when the pod is created, [`READY`] when its services may start.
pub const STATUS: &str = "status";
/// The value of [`STATUS`] that lets services start.
pub const READY: &str = "ready";
/// Label: the [`Ticket`] of one start.
pub const TICKET: &str = "palladion.dev/gate";
/// Label: hash of the pod's configuration, see [`hash_of_files`].
pub const CONFIG: &str = "palladion.dev/config";
/// Annotation: ID of the init container that has the ticket.
pub const CONTAINER: &str = "palladion.dev/gate-container";
/// Annotation: when the ticket was given.
pub const GIVEN: &str = "palladion.dev/gate-given";

/// Name of the init container that is the gate.
pub const INIT: &str = "init";
/// Name of the container that signals a process when its configuration has changed.
pub const RELOAD: &str = "reload";
/// Volume of the pod's labels as a file.
pub const STATUS_VOLUME: &str = "status";
/// Where that volume is mounted.
pub const STATUS_PATH: &str = "/tmp/podinfo";
/// The file of the labels in it.
pub const LABELS_FILE: &str = "pod_labels";
/// Volume of the configuration.
pub const CONFIG_VOLUME: &str = "config";
/// Volume of the agent's program.
pub const AGENT_VOLUME: &str = "palladion";
/// Where that volume is mounted.
pub const AGENT_PATH: &str = "/palladion";

/// Seconds by which the start of a container as the kubelet has it, and that of
/// the program in it, may differ. Both are by the clock of one node.
pub const TOLERANCE: u64 = 20;

/// Hexadecimal digits of a hash of files: a label holds 63 characters.
const DIGITS: usize = 32;

/// Permission for one start of one init container: it opens once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket {
    /// Counts the tickets of a pod.
    pub number: u32,
    /// When the init container started, in seconds since 1970, by the clock of its node.
    pub start: i64,
}

impl Ticket {
    /// Is it for a start at this second?
    pub fn is_for(self, start: i64) -> bool {
        self.start.abs_diff(start) <= TOLERANCE
    }
}

impl Display for Ticket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.number, self.start)
    }
}

/// A text that is no ticket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoTicket;

impl FromStr for Ticket {
    type Err = NoTicket;

    fn from_str(text: &str) -> Result<Self, NoTicket> {
        let (number, start) = text.split_once('-').ok_or(NoTicket)?;
        let number = number.parse().map_err(|_| NoTicket)?;
        Ok(Self { number, start: start.parse().map_err(|_| NoTicket)? })
    }
}

/// Key of a ConfigMap for a node identifier: a key has no colon, an IPv6 address has.
pub fn key_of(identifier: &str) -> String {
    identifier.replace(':', "-")
}

/// The key of one file of a pod: `<key>`, or `<key>.<file>`.
pub fn key_of_file(key: &str, file: &str) -> String {
    match file {
        "" => key.to_string(),
        file => format!("{key}.{file}"),
    }
}

/// The file that a key of a map is for a pod, if it is one of this pod's.
pub fn file_of_key<'a>(key: &str, of_map: &'a str) -> Option<&'a str> {
    match of_map.strip_prefix(key)? {
        "" => Some(""),
        rest => rest.strip_prefix('.').filter(|file| !file.is_empty()),
    }
}

/// Hash of a pod's files, by their names without its key: in any order, and the
/// same for a pod that gets another key.
pub fn hash_of_files<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let mut files: Vec<(&str, &str)> = files.into_iter().collect();
    files.sort_unstable();
    let mut hasher = Sha256::new();
    for (name, text) in files {
        for part in [name, text] {
            // With its length, so that no text is taken for the start of the next.
            hasher.update((part.len() as u64).to_be_bytes());
            hasher.update(part.as_bytes());
        }
    }
    let mut hex = String::new();
    for byte in hasher.finalize() {
        // Writing to a String does not fail.
        let _ = write!(hex, "{byte:02x}");
    }
    hex.truncate(DIGITS);
    hex
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ticket_is_read_back_and_is_for_one_start() {
        let ticket = Ticket { number: 3, start: 1_764_000_000 };
        assert_eq!(ticket.to_string().parse(), Ok(ticket));
        assert!(ticket.is_for(1_764_000_020) && ticket.is_for(1_763_999_980));
        assert!(!ticket.is_for(1_764_000_021) && !ticket.is_for(1_763_999_979));
        for text in ["", "3", "3-", "-3", "x-1", "3-x", "1-2-3"] {
            assert_eq!(text.parse::<Ticket>(), Err(NoTicket), "{text}");
        }
    }

    #[test]
    fn the_hash_is_of_names_and_texts_in_any_order() {
        let of = |files: &[(&str, &str)]| hash_of_files(files.iter().copied());
        assert_eq!(of(&[("a", "1"), ("b", "2")]), of(&[("b", "2"), ("a", "1")]));
        assert_ne!(of(&[("a", "1"), ("b", "2")]), of(&[("a", "2"), ("b", "1")]));
        assert_ne!(of(&[("a", "1b2")]), of(&[("a", "1"), ("b", "2")]), "no text runs into a name");
        assert_ne!(of(&[]), of(&[("", "")]));
        assert_eq!(of(&[]).len(), 32);
    }

    #[test]
    fn a_pod_finds_its_own_files_and_no_namesakes() {
        assert_eq!(file_of_key("web-1", "web-1"), Some(""));
        assert_eq!(file_of_key("web-1", "web-1.api.ini"), Some("api.ini"));
        for other in ["web-10", "web-10.api.ini", "web-1.", "web", "rabbitmq.nodes"] {
            assert_eq!(file_of_key("web-1", other), None, "{other}");
        }
        assert_eq!(key_of_file("web-1", ""), "web-1");
        assert_eq!(file_of_key("web-1", &key_of_file("web-1", "x")), Some("x"));
        assert_eq!(key_of("fd00::1"), "fd00--1");
    }
}
