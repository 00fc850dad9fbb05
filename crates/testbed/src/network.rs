//! The network namespaces of a testbed and the wires between them.
//!
//! The control plane's namespace has a bridge; each node hangs on it by a pair
//! of interfaces. No interface ends on the host, so nothing gets out, and
//! deleting the namespaces deletes every interface, route and filter rule.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use crate::addresses::AddressPlan;
use crate::command::{ip, run};
use crate::config::Node;
use crate::names::ClusterName;
use crate::process::Inside;

/// The part name of the control plane's namespace.
pub const CONTROL_PLANE: &str = "cp";
/// The bridge in the control plane's namespace, and a node's own interface.
const BRIDGE: &str = "nodes";
/// A node's interface to all others.
pub const NODE_INTERFACE: &str = "eth0";

/// A node's bridge for its pods. The CNI plugin takes the one that is there.
pub const POD_BRIDGE: &str = "pods";
/// Hardware addresses are fixed: a bridge would otherwise take that of one of
/// its ports, change it when that port goes, and be unreachable for the ten
/// seconds that its neighbours' caches take to notice.
const BRIDGE_HARDWARE: &str = "02:00:00:00:00:01";

/// A node's own hardware address; like a real card's, the same after a restart.
fn hardware(node: Node) -> String {
    format!("02:00:00:00:01:{:02x}", node.number())
}

/// What every namespace needs: forwarding, and bridged packets shown to the
/// filter that implements Services.
const SETTINGS: &str = "echo 1 >/proc/sys/net/ipv4/ip_forward
echo 1 >/proc/sys/net/bridge/bridge-nf-call-iptables 2>/dev/null || true";

/// The networks of one testbed.
#[derive(Debug, Clone)]
pub struct Network {
    name: ClusterName,
    plan: AddressPlan,
}

impl Network {
    /// The networks that follow from a name.
    pub fn of(name: &ClusterName) -> Self {
        Self { name: name.clone(), plan: AddressPlan::of(name) }
    }

    /// The namespace of the control plane.
    pub fn control_plane(&self) -> String {
        self.name.network_namespace(CONTROL_PLANE)
    }

    /// The namespace of a node.
    pub fn node(&self, node: Node) -> String {
        self.name.network_namespace(&node.name())
    }

    /// Makes the control plane's namespace and its bridge, unless it is there.
    pub fn create_control_plane(&self, nodes: &[Node]) -> Result<()> {
        let namespace = self.control_plane();
        if exists(&namespace) {
            return Ok(());
        }
        let (plan, prefix) = (self.plan, self.plan.node_prefix());
        add(&namespace)?;
        ip(&format!("-n {namespace} link add {BRIDGE} address {BRIDGE_HARDWARE} type bridge"))?;
        ip(&format!("-n {namespace} addr add {}/{prefix} dev {BRIDGE}", plan.control_plane()))?;
        ip(&format!("-n {namespace} link set {BRIDGE} up"))?;
        self.route_to_pods(&namespace, nodes)
    }

    /// Makes a node's namespace and its wire, unless it is there.
    pub fn create_node(&self, node: Node, nodes: &[Node]) -> Result<()> {
        let (control, own) = (self.control_plane(), self.node(node));
        if exists(&own) {
            return Ok(());
        }
        let (plan, port) = (self.plan, node.name());
        add(&own)?;
        ip(&format!(
            "-n {control} link add {port} type veth peer name {NODE_INTERFACE} netns {own}"
        ))?;
        ip(&format!("-n {control} link set {port} master {BRIDGE} up"))?;
        ip(&format!("-n {own} link set {NODE_INTERFACE} address {}", hardware(node)))?;
        ip(&format!("-n {own} link add {POD_BRIDGE} address {BRIDGE_HARDWARE} type bridge"))?;
        ip(&format!("-n {own} link set {POD_BRIDGE} up"))?;
        let address = plan.node(node.number());
        ip(&format!("-n {own} addr add {address}/{} dev {NODE_INTERFACE}", plan.node_prefix()))?;
        ip(&format!("-n {own} link set {NODE_INTERFACE} up"))?;
        let others: Vec<Node> = nodes.iter().copied().filter(|other| *other != node).collect();
        // The kubelet and kube-proxy look for a default route to learn which
        // address is theirs. It leads to the bridge and no further.
        ip(&format!("-n {own} route add default via {}", plan.control_plane()))?;
        self.route_to_pods(&own, &others)
    }

    /// Removes a node's namespace, with all that is in it.
    pub fn delete_node(&self, node: Node) -> Result<()> {
        // The kernel ends a namespace some time after its name is gone; the
        // wire must not outlive the name, or the next one finds its port taken.
        let (control, port) = (self.control_plane(), node.name());
        if ip(&format!("-n {control} link show {port}")).is_ok() {
            ip(&format!("-n {control} link delete {port}"))?;
        }
        delete(&self.node(node))
    }

    /// Removes all namespaces of this testbed.
    pub fn delete_all(&self) -> Result<()> {
        self.namespaces().iter().try_for_each(|namespace| delete(namespace))
    }

    /// The namespaces of this testbed that exist.
    pub fn namespaces(&self) -> Vec<String> {
        let prefix = self.name.network_namespace_prefix();
        // `n1` and `cp` hold no dash, which tells `a`'s namespaces from `a-b`'s.
        let is_ours =
            |name: &String| name.strip_prefix(&prefix).is_some_and(|part| !part.contains('-'));
        let entries = fs::read_dir("/run/netns").into_iter().flatten().flatten();
        entries.filter_map(|entry| entry.file_name().into_string().ok()).filter(is_ours).collect()
    }

    fn route_to_pods(&self, namespace: &str, nodes: &[Node]) -> Result<()> {
        nodes.iter().try_for_each(|node| {
            let (pods, via) = (self.plan.pods(node.number()), self.plan.node(node.number()));
            ip(&format!("-n {namespace} route add {pods} via {via}")).map(drop)
        })
    }
}

fn add(namespace: &str) -> Result<()> {
    ip(&format!("netns add {namespace}")).with_context(|| {
        format!("making the network namespace {namespace}; hint: this needs root and a kernel with network namespaces")
    })?;
    ip(&format!("-n {namespace} link set lo up"))?;
    let mut set: Command = Inside::Network(namespace.to_owned()).command("sh");
    run(set.args(["-ec", SETTINGS]))
        .map(drop)
        .with_context(|| format!("setting up the network namespace {namespace}"))
}

fn delete(namespace: &str) -> Result<()> {
    if exists(namespace) {
        ip(&format!("netns delete {namespace}"))?;
    }
    Ok(())
}

fn exists(namespace: &str) -> bool {
    Path::new("/run/netns").join(namespace).exists()
}
