//! Networks that are cut or slow, by filter rules and queues inside namespaces.

use anyhow::{Context, Result};

use super::filter::{Place, Queue, Rule, enter, make_slow, no_queue};
use crate::cluster::Cluster;
use crate::command::run;
use crate::config::Node;
use crate::network::NODE_INTERFACE;
use crate::pods::Pod;
use crate::process::Inside;

/// The interface of a pod, inside its namespace.
const POD_INTERFACE: &str = "eth0";

/// Whom a node shall no longer reach, nor be reached by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Peer {
    /// Everybody.
    All,
    /// The API server.
    ControlPlane,
    /// Another node and its pods.
    Node(Node),
}

/// How much of a pod's network is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PodCut {
    /// All of it; its probes fail too.
    Everything,
    /// All but what passes between the pod and its own node, so that the
    /// kubelet's probes still arrive.
    EverythingButItsNode,
    /// TCP from and to this port, at either end: its servers lose each other, and keep their
    /// clients and the API server.
    Port(u16),
}

/// A way of being slow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slow {
    /// Every packet waits this many milliseconds, both ways. Needs a kernel
    /// with netem.
    LatencyMs(u32),
    /// No more than this many kilobits a second, each way.
    RateKbit(u32),
    /// This share of packets is lost, in percent, each way.
    LossPercent(u8),
}

impl Cluster {
    /// Cuts a node off from its peers: packets vanish, nobody is told.
    /// Containers on the same node still reach each other. Takes the place of an
    /// earlier cut of that node.
    pub fn cut_node(&self, node: Node, peers: &[Peer]) -> Result<()> {
        let matches = peers.iter().flat_map(|peer| self.ranges(*peer)).map(Rule::Drop);
        let rules: Vec<Rule> = matches.collect();
        let place = node_place(self, node);
        place.apply(&rules).with_context(|| format!("cutting node {} off", node.name()))
    }

    /// Is a node cut off from anybody, or does it lose packets? One without power is not.
    pub fn is_node_cut(&self, node: Node) -> bool {
        node_place(self, node).has_rules()
    }

    /// Undoes every cut and slowness of a node.
    pub fn heal_node(&self, node: Node) -> Result<()> {
        let place = node_place(self, node);
        place.clear()?;
        self.node_queues(node).iter().for_each(no_queue);
        Ok(())
    }

    /// Makes a node's network slow.
    pub fn slow_node(&self, node: Node, slow: Slow) -> Result<()> {
        let slowing = || format!("slowing the network of node {}", node.name());
        let place = node_place(self, node);
        make_slow(&place, &self.node_queues(node), slow).with_context(slowing)
    }

    /// Cuts a pod's network until it is healed or the pod ends.
    pub fn cut_pod(&self, namespace: &str, pod: &str, cut: PodCut) -> Result<()> {
        let pod = self.pod(namespace, pod)?;
        let all = Rule::Drop("0.0.0.0/0".to_owned());
        let rules = match cut {
            PodCut::Everything => vec![all],
            PodCut::EverythingButItsNode => {
                let gateway = self.site().plan.pod_gateway(pod.node.number()).to_string();
                vec![Rule::Accept(gateway), all]
            }
            PodCut::Port(port) => vec![Rule::DropPort(port)],
        };
        let place = pod_place(self, &pod)?;
        place.apply(&rules).with_context(|| format!("cutting the network of pod {}", pod.title))
    }

    /// Undoes every cut and slowness of a pod.
    pub fn heal_pod(&self, namespace: &str, pod: &str) -> Result<()> {
        let pod = self.pod(namespace, pod)?;
        pod_place(self, &pod)?.clear()?;
        self.pod_queues(&pod)?.iter().for_each(no_queue);
        Ok(())
    }

    /// Makes a pod's network slow until it is healed or the pod ends.
    pub fn slow_pod(&self, namespace: &str, pod: &str, slow: Slow) -> Result<()> {
        let pod = self.pod(namespace, pod)?;
        let slowing = || format!("slowing the network of pod {}", pod.title);
        let place = pod_place(self, &pod)?;
        make_slow(&place, &self.pod_queues(&pod)?, slow).with_context(slowing)
    }

    fn ranges(&self, peer: Peer) -> Vec<String> {
        let plan = self.site().plan;
        match peer {
            Peer::All => vec!["0.0.0.0/0".to_owned()],
            Peer::ControlPlane => vec![plan.control_plane().to_string()],
            Peer::Node(node) => {
                vec![plan.node(node.number()).to_string(), plan.pods(node.number())]
            }
        }
    }

    /// Both ends of the node's wire, as a queue delays only what leaves.
    fn node_queues(&self, node: Node) -> Vec<Queue> {
        let network = &self.site().network;
        let queue = |namespace: String, interface: &str| Queue {
            entry: Inside::Network(namespace).entry(),
            interface: interface.to_owned(),
        };
        vec![
            queue(network.node(node), NODE_INTERFACE),
            queue(network.control_plane(), &node.name()),
        ]
    }

    fn pod_queues(&self, pod: &Pod) -> Result<Vec<Queue>> {
        let inner =
            Queue { entry: pod_entry(self.any_process(pod)?), interface: POD_INTERFACE.to_owned() };
        // The pod's end names its peer only by number: `eth0@if7`.
        let shown = run(&mut enter(&inner.entry, "ip", &["-o", "link", "show", POD_INTERFACE]))?;
        let number = shown
            .split_once("@if")
            .and_then(|(_, rest)| rest.split(':').next())
            .with_context(|| format!("finding the other end of the wire of pod {}", pod.title))?;
        let entry = Inside::Network(self.site().network.node(pod.node)).entry();
        let links = run(&mut enter(&entry, "ip", &["-o", "link", "show"]))?;
        let interface = links
            .lines()
            .find_map(|line| line.strip_prefix(&format!("{number}: ")))
            .and_then(|line| line.split(['@', ':']).next())
            .with_context(|| format!("finding interface {number} on node {}", pod.node.name()))?
            .to_owned();
        Ok(vec![inner, Queue { entry, interface }])
    }
}

fn node_place(cluster: &Cluster, node: Node) -> Place {
    Place {
        entry: Inside::Network(cluster.site().network.node(node)).entry(),
        interface: NODE_INTERFACE,
    }
}

fn pod_place(cluster: &Cluster, pod: &Pod) -> Result<Place> {
    Ok(Place { entry: pod_entry(cluster.any_process(pod)?), interface: POD_INTERFACE })
}

fn pod_entry(pid: i32) -> Vec<String> {
    vec!["nsenter".to_owned(), format!("--net=/proc/{pid}/ns/net")]
}
