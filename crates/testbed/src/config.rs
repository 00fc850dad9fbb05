//! What can be chosen about a testbed before it starts.

use std::time::Duration;

use anyhow::{Result, ensure};
use serde::{Deserialize, Serialize};

use crate::addresses::MOST_NODES;
use crate::images::ImageSet;
use crate::names::ClusterName;

/// One zone per node up to this many; further nodes share them in turn.
const ZONES: u8 = 3;

/// The choices. `Config::default()` is a good testbed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Config {
    /// What it is called, on the host.
    pub name: ClusterName,
    /// How many nodes; 3 unless chosen. With 0 it is a control plane alone, whose
    /// pods stay pending.
    pub nodes: u8,
    /// How many local volumes each node offers; 6 unless chosen.
    pub volumes_per_node: u8,
    /// The capacity the volumes say they have, in GiB; nothing holds them to it.
    pub volume_size_gib: u32,
    /// Which images the nodes have from the start.
    pub images: ImageSet,
    /// After how long without a word a node counts as lost; Kubernetes' own
    /// default unless chosen.
    pub node_monitor_grace: Option<Duration>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            name: ClusterName::default(),
            nodes: 3,
            volumes_per_node: 6,
            volume_size_gib: 10,
            images: ImageSet::Full,
            node_monitor_grace: None,
        }
    }
}

impl Config {
    /// Refuses what cannot work.
    pub fn validate(&self) -> Result<()> {
        ensure!(
            self.nodes <= MOST_NODES,
            "a testbed has at most {MOST_NODES} nodes, not {}",
            self.nodes
        );
        Ok(())
    }

    /// All nodes.
    pub fn node_list(&self) -> Vec<Node> {
        (1..=self.nodes).map(|number| Node { number }).collect()
    }
}

/// One node of a testbed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Node {
    number: u8,
}

impl Node {
    /// Counts from 1.
    pub fn number(self) -> u8 {
        self.number
    }

    /// `n1`, `n2`, …: its name in Kubernetes.
    pub fn name(self) -> String {
        format!("n{}", self.number)
    }

    /// `z1`, `z2` or `z3`: its `topology.kubernetes.io/zone`.
    pub fn zone(self) -> String {
        format!("z{}", (self.number - 1) % ZONES + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_nodes_lie_in_three_zones_and_a_fourth_in_the_first() {
        let config = Config { nodes: 4, ..Config::default() };
        let zones: Vec<_> = config.node_list().into_iter().map(Node::zone).collect();
        assert_eq!(zones, ["z1", "z2", "z3", "z1"]);
    }

    #[test]
    fn a_testbed_with_more_nodes_than_addresses_is_refused() {
        let config = Config { nodes: MOST_NODES + 1, ..Config::default() };
        assert!(config.validate().is_err());
    }
}
