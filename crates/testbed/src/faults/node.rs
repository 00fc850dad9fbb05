//! Nodes that hang, lose their power, or are taken out of the cluster.

use std::fs;

use anyhow::{Context, Result};

use super::disk;
use crate::cluster::Cluster;
use crate::config::Node;
use crate::node::{self, Part};
use crate::process;
use crate::state::State;

impl Cluster {
    /// Ends a node's kubelet. Its containers go on; after the grace period the
    /// cluster holds the node for lost.
    pub fn stop_kubelet(&self, node: Node) -> Result<()> {
        process::kill(&self.site().records(), &Part::Kubelet.record(node))
    }

    /// Starts a node's kubelet again.
    pub fn start_kubelet(&self, node: Node) -> Result<()> {
        node::start_part(self.site(), node, Part::Kubelet)
    }

    /// Takes a node's power: every process on it, containers too, ends at one
    /// moment without a word, and its network is gone. Its disks stay, with what
    /// was written to them.
    pub fn power_off(&self, node: Node) -> Result<()> {
        let site = self.site();
        self.lose_unwritten(node)?;
        site.cgroups.kill(&site.node_cgroup(node))?;
        site.network.delete_node(node)
    }

    /// Gives a node its power back. Returns when its processes run; the node is
    /// ready some seconds later.
    pub fn power_on(&self, node: Node) -> Result<()> {
        let site = self.site();
        // What a real machine keeps in memory.
        for volatile in ["state", "cni-leases", "mounted"] {
            let path = site.node_run_dir(node).join(volatile);
            let removed = match fs::metadata(&path) {
                Ok(metadata) if metadata.is_dir() => fs::remove_dir_all(&path),
                Ok(_) => fs::remove_file(&path),
                Err(_) => Ok(()),
            };
            removed.with_context(|| format!("removing {}", path.display()))?;
        }
        disk::wait_until_all_are_free(site, node)?;
        let state = State::read(&site.config.name)?.context("reading the testbed's state")?;
        node::start(site, node, &state.store)
    }

    /// Stops everything on a node where it stands: alive, but answering nothing.
    pub fn freeze_node(&self, node: Node) -> Result<()> {
        self.site().cgroups.freeze(&self.site().node_cgroup(node))
    }

    /// Lets a frozen node go on.
    pub fn thaw_node(&self, node: Node) -> Result<()> {
        self.site().cgroups.thaw(&self.site().node_cgroup(node))
    }

    /// Is everything on a node frozen?
    pub fn is_node_frozen(&self, node: Node) -> bool {
        self.site().cgroups.is_frozen(&self.site().node_cgroup(node))
    }

    /// Deletes the Node object. A running kubelet does not make it again.
    pub fn delete_node_object(&self, node: Node) -> Result<()> {
        self.kubectl(&["delete", "node", &node.name(), "--wait=true"]).map(drop)
    }

    /// Registers a node again whose object was deleted, by starting its kubelet
    /// anew.
    pub fn register_node(&self, node: Node) -> Result<()> {
        self.stop_kubelet(node)?;
        self.start_kubelet(node)
    }
}
