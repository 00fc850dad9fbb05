//! Machines under test: which one a pod runs on, and that the operator runs on
//! another one than that which is about to fail.

use std::time::Duration;

use anyhow::{Context, Result};
use palladion_testbed::Node;
use serde_json::Value;

use crate::bed::{Bed, OPERATOR_NAMESPACE, wait_for};
use crate::ring::{CLIENT, Ring};

/// A kubelet is back in seconds, an operator elsewhere too.
const PATIENCE: Duration = Duration::from_secs(180);

/// Does the object's condition `Ready` say `True`?
pub fn is_ready(object: &Value) -> bool {
    let conditions = object["status"]["conditions"].as_array();
    let mut conditions = conditions.into_iter().flatten();
    conditions.any(|c| c["type"] == "Ready" && c["status"] == "True")
}

fn node_name(pod: &Value) -> &str {
    pod["spec"]["nodeName"].as_str().unwrap_or_default()
}

/// Does this member say that it sees the host ID down?
pub fn sees_down(member: &Value, host_id: &str) -> bool {
    let exceptions = member["status"]["ring"]["exceptions"].as_array();
    let mut exceptions = exceptions.into_iter().flatten();
    exceptions.any(|e| e["hostID"] == host_id && e["liveness"] == "Down")
}

impl Ring<'_> {
    /// A member on a node without the operator, which must see what happens,
    /// and without the client if there is one; and that node.
    ///
    /// # Errors
    /// Every member's node has the operator on it, or nobody answers.
    pub fn a_victim(&self) -> Result<(String, Node)> {
        let operators = self.bed.operator_nodes()?;
        let client = self.bed.node_of(&self.namespace, CLIENT)?;
        let mut apart = Vec::new();
        for member in self.member_names()? {
            let node = self.bed.node_of(&self.namespace, &member)?;
            if !operators.contains(&node) {
                apart.push((node == client, member, node));
            }
        }
        apart.sort();
        let (_, member, node) =
            apart.into_iter().next().context("every member is on a node with the operator")?;
        Ok((member, self.bed.cluster.node(&node)?))
    }

    /// Does every other member see the host ID of this one down?
    ///
    /// # Errors
    /// The API server does not answer.
    pub fn others_see_down(&self, name: &str, host_id: &str) -> Result<bool> {
        let members = self.members()?;
        let mut others = members.iter().filter(|m| m["metadata"]["name"] != name);
        Ok(others.all(|m| sees_down(m, host_id)))
    }
}

/// Nodes that take no new pods: those that are deleted there stay away. They take pods again
/// when this is dropped, however the step ends.
#[must_use]
pub struct Cordoned<'a> {
    bed: &'a Bed,
    nodes: Vec<String>,
}

impl Drop for Cordoned<'_> {
    fn drop(&mut self) {
        for node in &self.nodes {
            if let Err(error) = self.bed.kubectl(&format!("uncordon {node}")) {
                eprintln!("{node} still takes no pods: {error:#}");
            }
        }
    }
}

impl Bed {
    /// Let no new pod come to these nodes.
    ///
    /// # Errors
    /// The API server does not answer.
    pub fn cordon(&self, nodes: &[String]) -> Result<Cordoned<'_>> {
        // Made first: what is cordoned when one of them fails is given back.
        let cordoned = Cordoned { bed: self, nodes: nodes.to_vec() };
        for node in nodes {
            self.kubectl(&format!("cordon {node}"))?;
        }
        Ok(cordoned)
    }

    /// The name of the node that a pod is on; empty without a pod or a node.
    ///
    /// # Errors
    /// The API server does not answer.
    pub fn node_of(&self, namespace: &str, pod: &str) -> Result<String> {
        let pod = self.get(namespace, "pod", pod)?.unwrap_or_default();
        Ok(node_name(&pod).to_string())
    }

    /// The nodes that the operator's pods are on.
    ///
    /// # Errors
    /// The API server does not answer.
    pub fn operator_nodes(&self) -> Result<Vec<String>> {
        let pods = self.list(OPERATOR_NAMESPACE, "pods")?;
        Ok(pods.iter().map(|p| node_name(p).to_string()).collect())
    }

    /// Wait until no volume is in use, and name them all.
    ///
    /// # Errors
    /// A claim keeps one, or the API server does not answer.
    pub fn free_volumes(&self) -> Result<Vec<String>> {
        let is_free = |volume: &Value| volume["status"]["phase"] == "Available";
        let name = |volume: &Value| volume["metadata"]["name"].as_str().map(str::to_string);
        wait_for("volumes to be free", PATIENCE, || {
            self.cluster.recycle_volumes()?;
            let volumes = self.list("", "pv")?;
            let names = volumes.iter().filter_map(name).collect();
            Ok(volumes.iter().all(is_free).then_some(names))
        })
    }

    /// Wait until a machine that was without power is a Node that is ready.
    ///
    /// # Errors
    /// It is not, in three minutes.
    pub fn wait_node_is_back(&self, node: Node) -> Result<()> {
        wait_for("the node to be back", PATIENCE, || {
            let node = self.get("", "node", &node.name())?;
            Ok(node.is_some_and(|n| is_ready(&n)).then_some(()))
        })
    }

    /// Move the operator to another node, if it is here, so that it sees what
    /// happens to this one.
    ///
    /// # Errors
    /// It is not ready elsewhere, in three minutes.
    pub fn move_operator_from(&self, node: Node) -> Result<()> {
        let name = node.name();
        if !self.operator_nodes()?.contains(&name) {
            return Ok(());
        }
        self.kubectl(&format!("cordon {name}"))?;
        self.kubectl(&format!("delete pods --all -n {OPERATOR_NAMESPACE} --wait=false"))?;
        wait_for("the operator to be elsewhere", PATIENCE, || {
            let pods = self.list(OPERATOR_NAMESPACE, "pods")?;
            let ready = pods.iter().any(is_ready);
            Ok((ready && !self.operator_nodes()?.contains(&name)).then_some(()))
        })
        .context("moving the operator")?;
        self.kubectl(&format!("uncordon {name}")).map(drop)
    }
}
