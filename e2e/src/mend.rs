//! A testbed on which a test has failed half way is made whole again: machines
//! have power and are Nodes, disks are in their places, the operator runs. What
//! is whole already is left alone.

use std::path::Path;

use anyhow::{Context, Result};
use palladion_testbed::Node;

use crate::bed::{Bed, OPERATOR_NAMESPACE, text};

impl Bed {
    /// Machines first: without them nothing that runs there can end.
    ///
    /// # Errors
    /// A machine or the operator does not come back.
    pub fn mend_machines(&self) -> Result<()> {
        for node in self.cluster.nodes() {
            self.mend_node(node).with_context(|| format!("mending node {}", node.name()))?;
        }
        let operator = self.get(OPERATOR_NAMESPACE, "deployment", "palladion-operator")?;
        if operator.is_some_and(|d| d["spec"]["replicas"] == 0) {
            println!("mended: the operator was away");
            self.scale_operator(1)?;
        }
        self.kubectl("delete operatorconfig default --ignore-not-found")?;
        let as_made = serde_json::json!({ "allowVolumeExpansion": null });
        self.patch("default", "storageclass", "local", &as_made).map(drop)
    }

    fn mend_node(&self, node: Node) -> Result<()> {
        let name = node.name();
        if self.cluster.on_node(node, "true").is_err() {
            println!("mended: {name} was without power");
            self.cluster.power_on(node)?;
        }
        // One that is not frozen stays as it is.
        self.cluster.thaw_node(node)?;
        self.cluster.heal_node(node)?;
        match self.get("", "node", &name)? {
            // A kubelet that has just begun registers it by itself.
            None => self.cluster.register_node(node)?,
            Some(object) if object["spec"]["unschedulable"] == true => {
                println!("mended: {name} was cordoned");
                self.kubectl(&format!("uncordon {name}"))?;
            }
            Some(_) => {}
        }
        self.wait_node_is_back(node)
    }

    /// Volumes that are hidden or replaced by small ones are as they were. Pods
    /// that still run keep what they have.
    ///
    /// # Errors
    /// A node does not run, or the API server does not answer.
    pub fn mend_volumes(&self) -> Result<()> {
        let mut mounts = String::new();
        for node in self.cluster.nodes() {
            let mut command = self.cluster.on_node(node, "cat")?;
            let output = command.arg("/proc/self/mounts").output().context("reading the mounts")?;
            mounts += &String::from_utf8_lossy(&output.stdout);
        }
        for volume in self.list("", "pv")? {
            let name = text(&volume, "/metadata/name");
            let directory = self.cluster.volume_dir(name)?;
            for _ in 0..layers_over(&directory, &mounts) {
                println!("mended: volume {name} was out of its place");
                self.cluster.unhide_volume(name)?;
            }
        }
        Ok(())
    }
}

/// How many file systems are mounted over a volume, by the mounts of all nodes.
/// A volume is a mount itself.
fn layers_over(directory: &Path, mounts: &str) -> usize {
    let is_there =
        |line: &&str| line.split_whitespace().nth(1).is_some_and(|at| Path::new(at) == directory);
    mounts.lines().filter(is_there).count().saturating_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_volumes_own_mount_is_not_taken_for_one_over_it() {
        let own = "/dev/vda /data/n1/v1 ext4 rw 0 0\n/dev/vda /data/n1/v10 ext4 rw 0 0\n";
        let directory = Path::new("/data/n1/v1");
        assert_eq!(layers_over(directory, own), 0);
        let hidden = format!("{own}tmpfs /data/n1/v1 tmpfs rw,mode=755 0 0\n");
        assert_eq!(layers_over(directory, &hidden), 1);
    }
}
