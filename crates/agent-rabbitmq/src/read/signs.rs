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
        for line in log {
            if OVER.iter().any(|part| line.contains(part)) {
                sign = Sign::None;
            } else if line.contains(PAUSED) {
                sign = Sign::Paused;
            } else if line.contains(WAITED) {
                let mut named = nodes(line);
                named.retain(|node| node != own);
                sign = Sign::Tables { nodes: named };
            } else if line.contains(WAITS) && !matches!(sign, Sign::Tables { .. }) {
                sign = Sign::Tables { nodes: Vec::new() };
            }
        }
        sign
    }
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
        let failed = "[warning] <0.230.0> Error while waiting for Mnesia tables: \
            {timeout_waiting_for_tables,['rabbit@c.b','rabbit@a.b'],[rabbit_durable_queue]}";
        let expected = Sign::Tables { nodes: vec![NodeName::new("rabbit@c.b")] };
        assert_eq!(sign(&[waits, failed, waits]), expected, "the next attempt waits for the same");
        assert_eq!(sign(&[waits, failed, "Successfully synced tables from a peer"]), Sign::None);
    }

    #[test]
    fn a_node_that_pauses_is_known() {
        let paused = "[warning] Cluster minority/secondary status detected - awaiting recovery";
        assert_eq!(sign(&["Server startup complete; 4 plugins started.", paused]), Sign::Paused);
        assert_eq!(sign(&[paused, "Server startup complete; 4 plugins started."]), Sign::None);
    }
}
