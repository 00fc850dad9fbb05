//! A testbed on which a test has failed half way is made whole again: machines
//! have power and are Nodes, disks are in their places, the operator runs. What
//! is whole already is left alone.

use std::path::Path;

use anyhow::{Context, Result};
use palladion_testbed::Node;

use crate::bed::{Bed, OPERATOR_NAMESPACE, text};
use crate::machines::is_ready;

impl Bed {
    /// Machines first: without them nothing that runs there can end. What had to
    /// be mended.
    ///
    /// # Errors
    /// A machine or the operator does not come back.
    pub fn mend_machines(&self) -> Result<Vec<String>> {
        let mut mended = Mended::default();
        for node in self.cluster.nodes() {
            self.mend_node(node, &mut mended)
                .with_context(|| format!("mending node {}", node.name()))?;
        }
        let operator = self.get(OPERATOR_NAMESPACE, "deployment", "palladion-operator")?;
        if operator.is_some_and(|d| d["spec"]["replicas"] == 0) {
            mended.says("the operator was away".into());
            self.scale_operator(1)?;
        }
        if self.get("", "operatorconfig", "default")?.is_some() {
            mended.says("an OperatorConfig was left".into());
            self.kubectl("delete operatorconfig default --ignore-not-found")?;
        }
        let class = self.get("", "storageclass", "local")?.unwrap_or_default();
        if !class["allowVolumeExpansion"].is_null() {
            mended.says("the storage class allowed claims to grow".into());
            let as_made = serde_json::json!({ "allowVolumeExpansion": null });
            self.patch("default", "storageclass", "local", &as_made)?;
        }
        Ok(mended.0)
    }

    fn mend_node(&self, node: Node, mended: &mut Mended) -> Result<()> {
        let name = node.name();
        let object = self.get("", "node", &name)?;
        if self.cluster.on_node(node, "true").is_err() {
            mended.says(format!("{name} was without power"));
            self.cluster.power_on(node)?;
        } else if object.as_ref().is_some_and(|node| !is_ready(node)) {
            mended.says(format!("{name} was not ready: frozen, cut off, or back too short a time"));
        }
        // One that is not frozen or cut off stays as it is.
        self.cluster.thaw_node(node)?;
        self.cluster.heal_node(node)?;
        match object {
            None => {
                mended.says(format!("{name} was no Node"));
                // A kubelet that has just begun registers it by itself.
                if self.get("", "node", &name)?.is_none() {
                    self.cluster.register_node(node)?;
                }
            }
            Some(object) if object["spec"]["unschedulable"] == true => {
                mended.says(format!("{name} was cordoned"));
                self.kubectl(&format!("uncordon {name}"))?;
            }
            Some(_) => {}
        }
        self.wait_node_is_back(node)
    }

    /// Volumes that are hidden or replaced by small ones are as they were. Pods
    /// that still run keep what they have. What had to be mended.
    ///
    /// # Errors
    /// A node does not run, or the API server does not answer.
    pub fn mend_volumes(&self) -> Result<Vec<String>> {
        let mut mended = Mended::default();
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
                mended.says(format!("volume {name} was out of its place"));
                self.cluster.unhide_volume(name)?;
            }
        }
        Ok(mended.0)
    }
}

/// What had to be mended, said as it happens and again in the report.
#[derive(Default)]
struct Mended(Vec<String>);

impl Mended {
    fn says(&mut self, what: String) {
        println!("mended: {what}");
        self.0.push(what);
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
