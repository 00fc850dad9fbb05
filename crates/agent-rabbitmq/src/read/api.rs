//! Answers of the management API, and queues in the words that it has for them, as far as
//! the agent reads them. What is not there is not known, and a field of a later version is
//! ignored.

use palladion_api::rabbitmq::NodeName;
use serde::Deserialize;
use serde_json::{Map, Value};

/// The first page.
#[derive(Deserialize, Clone, Debug, PartialEq)]
pub struct Overview {
    /// The node that answers.
    pub node: NodeName,
    /// Its version.
    #[serde(default)]
    pub rabbitmq_version: Option<String>,
    /// What all nodes listen on.
    #[serde(default)]
    pub listeners: Vec<Listener>,
    /// Messages: `messages`, `messages_ready`, `messages_unacknowledged`. Empty at first.
    #[serde(default)]
    pub queue_totals: Value,
    /// `connections`, `channels`, `queues`, `consumers`, `exchanges`.
    #[serde(default)]
    pub object_totals: Value,
}

impl Overview {
    /// Does the node that answers take clients?
    pub fn is_open(&self) -> bool {
        let own = self.listeners.iter().filter(|listener| listener.node == self.node);
        own.into_iter().any(|listener| listener.protocol == "amqp")
    }
}

/// A listener of a node.
#[derive(Deserialize, Clone, Debug, PartialEq)]
pub struct Listener {
    /// The node.
    pub node: NodeName,
    /// `amqp`, `http`, `clustering`, …
    pub protocol: String,
}

/// A node of the cluster.
#[derive(Deserialize, Clone, Debug, PartialEq)]
pub struct Node {
    /// Its name.
    pub name: NodeName,
    /// Does it run, as far as the node that answers knows?
    #[serde(default)]
    pub running: bool,
    /// Nodes that it was partitioned from. This and the alarms are among the samples that a
    /// node takes of itself: without them nothing is known.
    #[serde(default)]
    pub partitions: Option<Vec<NodeName>>,
    /// Is memory short?
    #[serde(default)]
    pub mem_alarm: Option<bool>,
    /// Is disk space short?
    #[serde(default)]
    pub disk_free_alarm: Option<bool>,
    /// Is it drained? 3.10 does not say so.
    #[serde(default)]
    pub being_drained: bool,
    /// Bytes of memory.
    #[serde(default)]
    pub mem_used: Option<f64>,
    /// Bytes of disk that are free.
    #[serde(default)]
    pub disk_free: Option<f64>,
    /// Open files.
    #[serde(default)]
    pub fd_used: Option<f64>,
    /// Processes of Erlang.
    #[serde(default)]
    pub proc_used: Option<f64>,
}

/// A queue.
#[derive(Deserialize, Clone, Debug, PartialEq)]
pub struct Queue {
    /// Its name.
    pub name: String,
    /// Its virtual host.
    pub vhost: String,
    /// Its kind, in RabbitMQ's word. Versions and states that do not say are classic.
    #[serde(default, rename = "type")]
    pub kind: Option<String>,
    /// Does it outlive a restart?
    #[serde(default)]
    pub durable: bool,
    /// Does it end with its connection?
    #[serde(default)]
    pub exclusive: bool,
    /// The node of its leader, or of the only one that has it.
    #[serde(default)]
    pub node: Option<NodeName>,
    /// Nodes with a replica, online or not (quorum queues and streams).
    #[serde(default)]
    pub members: Vec<NodeName>,
    /// Nodes whose replica is online.
    #[serde(default)]
    pub online: Vec<NodeName>,
    /// Mirrors that are in step (classic queues).
    #[serde(default)]
    pub synchronised_slave_nodes: Vec<NodeName>,
    /// What it was declared with.
    #[serde(default)]
    pub arguments: Map<String, Value>,
}

/// Kinds of queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueKind {
    /// On one node, and perhaps mirrored.
    Classic,
    /// By Raft.
    Quorum,
    /// A log with replicas.
    Stream,
    /// One that this agent does not know, as a plugin may bring it in.
    Other,
}

impl Queue {
    /// Its kind.
    pub fn kind(&self) -> QueueKind {
        match self.kind.as_deref() {
            Some("quorum" | "rabbit_quorum_queue") => QueueKind::Quorum,
            Some("stream" | "rabbit_stream_queue") => QueueKind::Stream,
            Some("classic" | "rabbit_classic_queue") | None => QueueKind::Classic,
            Some(_) => QueueKind::Other,
        }
    }

    /// Has it replicas that vote, or that a coordinator which votes looks after?
    pub fn is_replicated(&self) -> bool {
        match self.kind() {
            QueueKind::Quorum | QueueKind::Stream => true,
            QueueKind::Classic | QueueKind::Other => false,
        }
    }

    /// How many replicas it was declared with, if that was said.
    pub fn initial_size(&self) -> Option<u64> {
        let name = match self.kind() {
            QueueKind::Quorum => "x-quorum-initial-group-size",
            QueueKind::Stream => "x-initial-cluster-size",
            QueueKind::Classic | QueueKind::Other => return None,
        };
        self.arguments.get(name)?.as_u64()
    }

    /// How many replicas it was declared with, as far as anybody can tell, which is the least
    /// that it should have where there are as many nodes.
    pub fn wanted_size(&self) -> usize {
        let said = self.initial_size().unwrap_or(USUAL);
        usize::try_from(said).unwrap_or(usize::MAX)
    }
}

/// Replicas of a queue that was declared without a number: RabbitMQ's own default for a quorum
/// queue. A stream gets one on each node that runs, of which nothing is noted either.
const USUAL: u64 = 3;

/// The answer of a health check.
#[derive(Deserialize, Clone, Debug, Default, PartialEq)]
pub struct Health {
    #[serde(default)]
    queues: Vec<Value>,
}

impl Health {
    /// The queues that it names.
    pub fn queues(&self) -> Vec<String> {
        let name = |queue: &Value| {
            let vhost = queue["virtual_host"].as_str().or(queue["vhost"].as_str()).unwrap_or("/");
            queue["name"].as_str().map(|name| super::name(vhost, name))
        };
        self.queues.iter().filter_map(name).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cut from answers of 3.10.8.
    #[test]
    fn nodes_are_read_whether_they_run_or_not() {
        let text = r#"[
            {"name":"rabbit@a","running":true,"partitions":[],"mem_alarm":false,
             "disk_free_alarm":true,"mem_used":130234368,"applications":[],"type":"disc"},
            {"name":"rabbit@c","running":true,"type":"disc"},
            {"name":"rabbit@b","running":false,"partitions":["rabbit@a"],"type":"disc",
             "os_pid":"","cluster_links":[]}
        ]"#;
        let nodes: Vec<Node> = serde_json::from_str(text).unwrap();
        assert!(nodes[0].running && nodes[0].disk_free_alarm == Some(true));
        assert_eq!((&nodes[1].partitions, nodes[1].mem_alarm), (&None, None), "no sample");
        assert!(!nodes[2].running);
        assert_eq!(nodes[2].partitions, Some(vec![NodeName::new("rabbit@a")]));
        assert_eq!(nodes[2].mem_used, None);
    }

    #[test]
    fn a_queue_is_what_it_says_and_one_of_a_kind_that_is_not_known_is_told_apart() {
        let of = |text: &str| serde_json::from_str::<Queue>(text).unwrap();
        let quorum = of(r#"{"name":"q","vhost":"/","type":"quorum","durable":true,
            "node":"rabbit@a","leader":"rabbit@a","members":["rabbit@a","rabbit@b"],
            "online":["rabbit@a"],"arguments":{"x-queue-type":"quorum",
            "x-quorum-initial-group-size":5},"state":"running"}"#);
        assert_eq!((quorum.kind(), quorum.initial_size()), (QueueKind::Quorum, Some(5)));
        assert_eq!((quorum.members.len(), quorum.online.len()), (2, 1));
        let down =
            of(r#"{"name":"q","vhost":"v","durable":true,"node":"rabbit@b","state":"down"}"#);
        assert_eq!(down.kind(), QueueKind::Classic);
        let other = of(r#"{"name":"q","vhost":"v","type":"delayed"}"#);
        assert!(other.kind() == QueueKind::Other && !other.is_replicated());
    }

    #[test]
    fn a_health_check_names_its_queues() {
        let text = r#"{"status":"failed","reason":"…","queues":[{"name":"q1","readable_name":
            "queue 'q1' in vhost '/'","type":"quorum","virtual_host":"/"},{"name":"q2",
            "virtual_host":"v"}]}"#;
        let health: Health = serde_json::from_str(text).unwrap();
        assert_eq!(health.queues(), ["q1", "q2 in v"]);
        let well: Health =
            serde_json::from_str(r#"{"status":"ok","reason":"single node cluster"}"#).unwrap();
        assert!(well.queues().is_empty());
    }
}
