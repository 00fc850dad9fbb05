//! Networks that are cut or slow, by filter rules and queues inside namespaces.

use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::cluster::Cluster;
use crate::command::{command, run};
use crate::config::Node;
use crate::network::NODE_INTERFACE;
use crate::pods::Pod;
use crate::process::Inside;

/// The interface of a pod, inside its namespace.
const POD_INTERFACE: &str = "eth0";
/// The chain that all our rules are in, so that healing is removing it.
const CHAIN: &str = "PALLADION-FAULT";

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
    /// Containers on the same node still reach each other.
    pub fn cut_node(&self, node: Node, peers: &[Peer]) -> Result<()> {
        let matches = peers
            .iter()
            .flat_map(|peer| self.ranges(*peer))
            .map(Rule::Drop);
        let rules: Vec<Rule> = matches.collect();
        let place = Place::node(self, node);
        place
            .apply(&rules)
            .with_context(|| format!("cutting node {} off", node.name()))
    }

    /// Undoes every cut and slowness of a node.
    pub fn heal_node(&self, node: Node) -> Result<()> {
        let place = Place::node(self, node);
        place.clear()?;
        self.node_queues(node).iter().for_each(no_queue);
        Ok(())
    }

    /// Makes a node's network slow.
    pub fn slow_node(&self, node: Node, slow: Slow) -> Result<()> {
        let slowing = || format!("slowing the network of node {}", node.name());
        let place = Place::node(self, node);
        make_slow(&place, &self.node_queues(node), slow).with_context(slowing)
    }

    /// Cuts a pod's network until it is healed or the pod ends.
    pub fn cut_pod(&self, namespace: &str, pod: &str, cut: PodCut) -> Result<()> {
        let pod = self.pod(namespace, pod)?;
        let mut rules = Vec::new();
        if cut == PodCut::EverythingButItsNode {
            rules.push(Rule::Accept(
                self.site().plan.pod_gateway(pod.node.number()).to_string(),
            ));
        }
        rules.push(Rule::Drop("0.0.0.0/0".to_owned()));
        let place = Place::pod(self, &pod)?;
        place
            .apply(&rules)
            .with_context(|| format!("cutting the network of pod {}", pod.title))
    }

    /// Undoes every cut and slowness of a pod.
    pub fn heal_pod(&self, namespace: &str, pod: &str) -> Result<()> {
        let pod = self.pod(namespace, pod)?;
        Place::pod(self, &pod)?.clear()?;
        self.pod_queues(&pod)?.iter().for_each(no_queue);
        Ok(())
    }

    /// Makes a pod's network slow until it is healed or the pod ends.
    pub fn slow_pod(&self, namespace: &str, pod: &str, slow: Slow) -> Result<()> {
        let pod = self.pod(namespace, pod)?;
        let slowing = || format!("slowing the network of pod {}", pod.title);
        let place = Place::pod(self, &pod)?;
        make_slow(&place, &self.pod_queues(&pod)?, slow).with_context(slowing)
    }

    fn ranges(&self, peer: Peer) -> Vec<String> {
        let plan = self.site().plan;
        match peer {
            Peer::All => vec!["0.0.0.0/0".to_owned()],
            Peer::ControlPlane => vec![plan.control_plane().to_string()],
            Peer::Node(node) => vec![
                plan.node(node.number()).to_string(),
                plan.pods(node.number()),
            ],
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
        let inner = Queue {
            entry: pod_entry(self.any_process(pod)?),
            interface: POD_INTERFACE.to_owned(),
        };
        // The pod's end names its peer only by number: `eth0@if7`.
        let shown = run(&mut enter(
            &inner.entry,
            "ip",
            &["-o", "link", "show", POD_INTERFACE],
        ))?;
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

#[derive(Debug)]
enum Rule {
    Drop(String),
    Accept(String),
    Lose(u8),
}

struct Queue {
    entry: Vec<String>,
    interface: String,
}

/// A namespace and the interface at which its traffic is filtered.
struct Place {
    entry: Vec<String>,
    interface: &'static str,
}

impl Place {
    fn node(cluster: &Cluster, node: Node) -> Self {
        Self {
            entry: Inside::Network(cluster.site().network.node(node)).entry(),
            interface: NODE_INTERFACE,
        }
    }

    fn pod(cluster: &Cluster, pod: &Pod) -> Result<Self> {
        Ok(Self {
            entry: pod_entry(cluster.any_process(pod)?),
            interface: POD_INTERFACE,
        })
    }

    /// Adds rules for both directions. Incoming packets are met before, and
    /// outgoing ones after, everything that Services do to them.
    fn apply(&self, rules: &[Rule]) -> Result<()> {
        for (table, hook, interface, side) in [
            ("raw", "PREROUTING", "-i", "-s"),
            ("mangle", "POSTROUTING", "-o", "-d"),
        ] {
            if self.iptables(table, &["-N", CHAIN]).is_ok() {
                self.iptables(table, &["-I", hook, interface, self.interface, "-j", CHAIN])?;
            }
            for rule in rules {
                match rule {
                    Rule::Drop(range) => {
                        self.iptables(table, &["-A", CHAIN, side, range, "-j", "DROP"])?
                    }
                    Rule::Accept(range) => {
                        self.iptables(table, &["-A", CHAIN, side, range, "-j", "ACCEPT"])?
                    }
                    Rule::Lose(percent) => {
                        let share = format!("{:.2}", f32::from(*percent) / 100.0);
                        let random = [
                            "-m",
                            "statistic",
                            "--mode",
                            "random",
                            "--probability",
                            &share,
                        ];
                        self.iptables(
                            table,
                            &[&["-A", CHAIN][..], &random, &["-j", "DROP"]].concat(),
                        )?;
                    }
                }
            }
        }
        Ok(())
    }

    /// A place without our rules is fine.
    fn clear(&self) -> Result<()> {
        for (table, hook, interface) in
            [("raw", "PREROUTING", "-i"), ("mangle", "POSTROUTING", "-o")]
        {
            if self
                .iptables(table, &["-D", hook, interface, self.interface, "-j", CHAIN])
                .is_ok()
            {
                self.iptables(table, &["-F", CHAIN])?;
                self.iptables(table, &["-X", CHAIN])?;
            }
        }
        Ok(())
    }

    fn iptables(&self, table: &str, words: &[&str]) -> Result<()> {
        let words = [&["-w", "-t", table], words].concat();
        run(&mut enter(&self.entry, "iptables", &words)).map(drop)
    }
}

fn make_slow(place: &Place, queues: &[Queue], slow: Slow) -> Result<()> {
    let queue = match slow {
        Slow::LossPercent(percent) => return place.apply(&[Rule::Lose(percent)]),
        Slow::LatencyMs(delay) => format!("netem delay {delay}ms"),
        // Large enough a burst for one packet of any size, small enough to bite.
        Slow::RateKbit(rate) => format!("tbf rate {rate}kbit burst 64kb latency 400ms"),
    };
    for end in queues {
        let words = format!("qdisc replace dev {} root {queue}", end.interface);
        let words: Vec<&str> = words.split(' ').collect();
        if let Err(error) = run(&mut enter(&end.entry, "tc", &words)) {
            if error.to_string().contains("qdisc kind is unknown") {
                bail!(
                    "this kernel cannot do that: it has no {:?} queue; use Slow::RateKbit or Slow::LossPercent",
                    queue.split(' ').next().unwrap_or_default()
                );
            }
            return Err(error);
        }
    }
    Ok(())
}

/// An interface without a queue of ours is fine.
fn no_queue(queue: &Queue) {
    let words = ["qdisc", "del", "dev", &queue.interface, "root"];
    let _ = run(&mut enter(&queue.entry, "tc", &words));
}

fn pod_entry(pid: i32) -> Vec<String> {
    vec!["nsenter".to_owned(), format!("--net=/proc/{pid}/ns/net")]
}

fn enter(entry: &[String], program: &str, words: &[&str]) -> Command {
    let mut entered = command(&entry[0], &entry[1..]);
    entered.arg(program).args(words);
    entered
}
