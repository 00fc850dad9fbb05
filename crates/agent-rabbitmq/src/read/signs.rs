//! What the log of a node says while its management API is silent: that it waits for
//! others, which is no failure and lasts as long as it takes.

use super::terms::nodes;
use palladion_api::rabbitmq::NodeName;

/// What a silent node waits for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Sign {
    /// Nothing that its log would tell.
    #[default]
    None,
    /// For the tables of others, which ran longer than it (R16).
    Tables {
        /// Those that it names; none while its first attempt lasts.
        nodes: Vec<NodeName>,
    },
    /// It sees no majority, and has stopped serving until it does (R14).
    Paused,
}

const WAITS: &str = "Waiting for Mnesia tables";
const WAITED: &str = "timeout_waiting_for_tables";
const PAUSED: &str = "minority/secondary status detected";
/// What ends a wait.
const OVER: [&str; 3] =
    ["Successfully synced tables", "Server startup complete", "minority status ended"];

impl Sign {
    /// The last one in a log.
    pub fn of(log: &[String], own: &NodeName) -> Self {
        let mut sign = Sign::None;
        let mut term = None;
        for line in log {
            if OVER.iter().any(|part| line.contains(part)) {
                sign = Sign::None;
            } else if line.contains(PAUSED) {
                sign = Sign::Paused;
            } else if line.contains(WAITED) {
                term = beginning(line);
                sign = Sign::Tables { nodes: others(line, own) };
            } else if term.is_some() && beginning(line) == term {
                if let Sign::Tables { nodes } = &mut sign {
                    nodes.extend(others(line, own));
                }
            } else if line.contains(WAITS) && !matches!(sign, Sign::Tables { .. }) {
                sign = Sign::Tables { nodes: Vec::new() };
            }
        }
        sign
    }
}

/// Time, level and process: a term that is too long for a line goes on in the next one,
/// which begins alike.
fn beginning(line: &str) -> Option<&str> {
    line.split_once("> ").map(|(beginning, _)| beginning)
}

/// Nodes that a line names, without our own. It names all that have the tables, those that
/// wait as well among them.
fn others(line: &str, own: &NodeName) -> Vec<NodeName> {
    let mut named = nodes(line);
    named.retain(|node| node != own);
    named
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sign(lines: &[&str]) -> Sign {
        let log: Vec<String> = lines.iter().map(|line| (*line).to_string()).collect();
        Sign::of(&log, &NodeName::new("rabbit@a.b"))
    }

    #[test]
    fn a_node_that_waits_for_tables_names_whom_it_waits_for() {
        let waits =
            "2026-01-01 [info] <0.230.0> Waiting for Mnesia tables for 30000 ms, 9 retries left";
        assert_eq!(sign(&[waits]), Sign::Tables { nodes: Vec::new() });
        // Cut from a log of 3.10.8.
        let failed = [
            "2026-01-01 00:00:02.1 [warning] <0.223.0> Error while waiting for Mnesia tables: {timeout_waiting_for_tables,",
            "2026-01-01 00:00:02.1 [warning] <0.223.0>                                ['rabbit@c.b',",
            "2026-01-01 00:00:02.1 [warning] <0.223.0>                                 'rabbit@a.b'],",
            "2026-01-01 00:00:02.1 [warning] <0.223.0>                                [rabbit_durable_queue]}",
        ];
        let expected = Sign::Tables { nodes: vec![NodeName::new("rabbit@c.b")] };
        let log = [&[waits], &failed[..], &[waits]].concat();
        assert_eq!(sign(&log), expected, "the next attempt waits for the same");
        let other = "2026-01-01 00:00:02.1 [info] <0.9.0> node 'rabbit@d.b' up";
        assert_eq!(sign(&[&log[..], &[other]].concat()), expected, "that is another term");
        let synced = "Successfully synced tables from a peer";
        assert_eq!(sign(&[&log[..], &[synced]].concat()), Sign::None);
    }

    #[test]
    fn a_node_that_pauses_is_known() {
        let paused = "[warning] Cluster minority/secondary status detected - awaiting recovery";
        assert_eq!(sign(&["Server startup complete; 4 plugins started.", paused]), Sign::Paused);
        assert_eq!(sign(&[paused, "Server startup complete; 4 plugins started."]), Sign::None);
    }
}
