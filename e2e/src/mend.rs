//! A testbed on which a test has failed half way is made whole again: machines
//! have power and are Nodes, disks are in their places, the operator runs. What
//! is whole already is left alone.

use std::fmt::{self, Display, Formatter};
use std::path::Path;

use anyhow::{Context, Result};
use palladion_testbed::Node;
use palladion_testbed::images::AGENT;
use serde_json::Value;

use crate::bed::{AGENT_IMAGE, Bed, OPERATOR, OPERATOR_NAMESPACE, text};
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
        let operator = self.get(OPERATOR_NAMESPACE, "deployment", OPERATOR)?.unwrap_or_default();
        if operator["spec"]["replicas"] == 0 {
            mended.says("the operator was away".into());
            self.scale_operator(1)?;
        }
        let environment = &operator["spec"]["template"]["spec"]["containers"][0]["env"];
        let mut variables = environment.as_array().into_iter().flatten();
        if variables.any(|v| v["name"] == AGENT_IMAGE && v["value"] != AGENT) {
            mended.says("the operator had another image for agents".into());
            self.upgrade_palladion(AGENT)?;
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
        let found = Found {
            has_power: self.cluster.on_node(node, "true").is_ok(),
            is_frozen: self.cluster.is_node_frozen(node),
            is_cut_off: self.cluster.is_node_cut(node),
            object: object.as_ref(),
        };
        for fault in faults(&found) {
            mended.says(format!("{name} {fault}"));
            self.mend_fault(node, fault).with_context(|| format!("it {fault}"))?;
        }
        // What makes a network slow leaves no rule.
        self.cluster.heal_node(node)?;
        if object.is_some_and(|node| !is_ready(&node)) {
            // On a busy host it may be late by itself: that took nothing away.
            println!("{name} is not ready: waiting for it");
        }
        self.wait_node_is_back(node)
    }

    fn mend_fault(&self, node: Node, fault: Fault) -> Result<()> {
        let name = node.name();
        match fault {
            Fault::WithoutPower => self.cluster.power_on(node),
            Fault::Frozen => self.cluster.thaw_node(node),
            Fault::CutOff => self.cluster.heal_node(node),
            // A kubelet that has just begun registers it by itself.
            Fault::NoNode if self.get("", "node", &name)?.is_none() => {
                self.cluster.register_node(node)
            }
            Fault::Cordoned => self.kubectl(&format!("uncordon {name}")).map(drop),
            Fault::NoNode => Ok(()),
        }
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

/// What a machine may be left with, in the order in which it is mended: what
/// runs there must run before it can be asked for anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    WithoutPower,
    Frozen,
    CutOff,
    NoNode,
    Cordoned,
}

/// A machine as it is found.
struct Found<'a> {
    has_power: bool,
    is_frozen: bool,
    is_cut_off: bool,
    object: Option<&'a Value>,
}

impl Display for Fault {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Fault::WithoutPower => "was without power",
            Fault::Frozen => "was frozen",
            Fault::CutOff => "was cut off",
            Fault::NoNode => "was no Node",
            Fault::Cordoned => "was cordoned",
        })
    }
}

/// All that is wrong with a machine. Its Node is ready for some time after it
/// was frozen or cut off.
fn faults(found: &Found<'_>) -> Vec<Fault> {
    let node = found.object;
    let of_machine = [
        (!found.has_power, Fault::WithoutPower),
        (found.is_frozen, Fault::Frozen),
        (found.is_cut_off, Fault::CutOff),
        (node.is_none(), Fault::NoNode),
        (node.is_some_and(|n| n["spec"]["unschedulable"] == true), Fault::Cordoned),
    ];
    of_machine.into_iter().filter_map(|(is_so, fault)| is_so.then_some(fault)).collect()
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
    use serde_json::json;

    fn node(ready: &str) -> Value {
        json!({ "status": { "conditions": [{ "type": "Ready", "status": ready }] } })
    }

    fn found(object: Option<&Value>) -> Found<'_> {
        Found { has_power: true, is_frozen: false, is_cut_off: false, object }
    }

    #[test]
    fn a_machine_that_is_frozen_or_cut_off_is_named_although_its_node_is_still_ready() {
        let ready = node("True");
        assert_eq!(faults(&found(Some(&ready))), []);
        let frozen = Found { is_frozen: true, ..found(Some(&ready)) };
        assert_eq!(faults(&frozen), [Fault::Frozen]);
        let cut_off = Found { is_cut_off: true, ..found(Some(&ready)) };
        assert_eq!(faults(&cut_off), [Fault::CutOff]);
    }

    #[test]
    fn a_node_that_is_not_ready_and_has_all_is_waited_for_and_no_fault() {
        let unready = node("Unknown");
        assert_eq!(faults(&found(Some(&unready))), []);
        let dark = Found { has_power: false, ..found(None) };
        assert_eq!(faults(&dark), [Fault::WithoutPower, Fault::NoNode]);
    }

    #[test]
    fn a_volumes_own_mount_is_not_taken_for_one_over_it() {
        let own = "/dev/vda /data/n1/v1 ext4 rw 0 0\n/dev/vda /data/n1/v10 ext4 rw 0 0\n";
        let directory = Path::new("/data/n1/v1");
        assert_eq!(layers_over(directory, own), 0);
        let hidden = format!("{own}tmpfs /data/n1/v1 tmpfs rw,mode=755 0 0\n");
        assert_eq!(layers_over(directory, &hidden), 1);
    }
}
