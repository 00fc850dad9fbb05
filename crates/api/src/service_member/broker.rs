//! A cluster of RabbitMQ as one of its nodes sees it.
//!
//! Who writes what: the agent of a member writes [`BrokerView`] into `status.broker`
//! whenever it changes, and both it and [`QueuesView`] into `status.evidence`, read
//! after it has seen the nonce. Both are whole or absent: an agent that could not read
//! a part leaves the view out, and the operator takes that for "not known". Lists of
//! names are short; their counts are always right, and a digest stands for the names that
//! a list leaves out.

use crate::rabbitmq::NodeName;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Nodes of a view at the most.
const MOST_NODES: usize = 32;
/// Names of queues in a list at the most; the count says how many there are.
const MOST_NAMES: usize = 20;
/// Feature flags of a view at the most. 3.13 knows about 30.
const MOST_FLAGS: usize = 128;

/// The cluster as one node sees it. A node whose application is stopped sees none.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct BrokerView {
    /// Own node name, as the node itself says it.
    pub node: NodeName,
    /// Nodes that run, the own one among them, sorted.
    #[schemars(length(max = MOST_NODES))]
    pub running: Vec<NodeName>,
    /// All nodes of the cluster, running or not, sorted.
    #[schemars(length(max = MOST_NODES))]
    pub members: Vec<NodeName>,
    /// Nodes from which this one is partitioned, sorted. Absent if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = MOST_NODES))]
    pub partitions: Vec<NodeName>,
    /// Alarms of all nodes. Absent if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64))]
    pub alarms: Vec<Alarm>,
    /// Feature flags. Absent if they could not be read, which is not the same as none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flags: Option<FeatureFlags>,
}

/// An alarm of a node: publishers are held up.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Alarm {
    /// The node that has raised it.
    pub node: NodeName,
    /// What runs short, in RabbitMQ's word: `memory`, `disk`, `file_descriptor_limit`.
    #[schemars(length(max = 64))]
    pub resource: String,
}

/// Feature flags of a cluster, by name, sorted.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct FeatureFlags {
    /// Enabled ones. `khepri_db` among them means that the nodes keep their membership in another way than this operator knows.
    #[schemars(length(max = MOST_FLAGS), inner(length(max = 128)))]
    pub enabled: Vec<String>,
    /// Stable ones that are not enabled. An upgrade to the next line needs all of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = MOST_FLAGS), inner(length(max = 128)))]
    pub stable_disabled: Vec<String>,
}

/// The queues of the cluster as one node sees them, in all virtual hosts. Exclusive queues do not count: they end with their connection.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct QueuesView {
    /// For each node of the view, and for each other that a queue names, what is on it. A node that is not listed has nothing.
    #[schemars(length(max = MOST_NODES))]
    pub nodes: Vec<NodeQueues>,
    /// Queues for which this node must not stop: those with replicas on other nodes that would lose their quorum, and mirrored ones without another mirror in step. A queue that is on this node alone, or has two replicas that are both online, is none of them: nobody could wait for another copy. A node alone calls itself never critical: whoever reads this counts `running`, too.
    #[serde(default, skip_serializing_if = "QueueNames::is_empty")]
    pub critical: QueueNames,
    /// Replicas on this node that have not caught up since its start: whose last index has not reached what the leader had committed at an earlier look. Absent if that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub behind: Option<QueueNames>,
}

/// What queues have on one node.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct NodeQueues {
    /// The node.
    pub node: NodeName,
    /// Quorum queues with a replica on the node, online or not.
    #[serde(default, skip_serializing_if = "QueueNames::is_empty")]
    pub replicas: QueueNames,
    /// Streams with a replica on the node, online or not.
    #[serde(default, skip_serializing_if = "QueueNames::is_empty")]
    pub streams: QueueNames,
    /// Durable classic queues whose only copy that is in step is on the node.
    #[serde(default, skip_serializing_if = "QueueNames::is_empty")]
    pub classic: QueueNames,
    /// Quorum queues and streams with replicas on the node and on others, of which no majority of all replicas is online on other nodes. While the node does not run, they have lost their quorum, and no replica can be taken out of them.
    #[serde(default, skip_serializing_if = "QueueNames::is_empty")]
    pub without_majority: QueueNames,
    /// Quorum queues and streams whose only replica is on the node. They are not among `withoutMajority`.
    #[serde(default, skip_serializing_if = "QueueNames::is_empty")]
    pub only_here: QueueNames,
}

/// Queues: how many, and some of their names.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct QueueNames {
    /// How many there are.
    pub count: u32,
    /// Names of at most 20 of them, sorted, in the virtual host `/` by name alone, in others as `name in vhost`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = MOST_NAMES), inner(length(max = 512)))]
    pub names: Vec<String>,
    /// 32 hexadecimal digits of the SHA-256 of all names in full. Absent if `names` has all of them in full. What a user is asked about queues is about all of them: by their count and the first names alone another queue could take the place of one that is not listed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = DIGITS))]
    pub digest: Option<String>,
}

impl QueueNames {
    /// Of all names, in any order.
    pub fn of(all: impl IntoIterator<Item = String>) -> Self {
        let mut names: Vec<String> = all.into_iter().collect();
        names.sort();
        names.dedup();
        let count = u32::try_from(names.len()).unwrap_or(u32::MAX);
        let is_long = |name: &String| name.chars().count() > LONGEST_NAME;
        let is_whole = names.len() <= MOST_NAMES && !names.iter().any(is_long);
        let digest = (!is_whole).then(|| digest(&names));
        names.truncate(MOST_NAMES);
        for name in &mut names {
            let end = name.char_indices().nth(LONGEST_NAME).map(|(at, _)| at);
            end.into_iter().for_each(|at| name.truncate(at));
        }
        Self { count, names, digest }
    }

    /// Are there none?
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
}

/// Digest of sorted names. The length before each keeps lists apart, whatever the names
/// contain.
fn digest(names: &[String]) -> String {
    let mut hasher = Sha256::new();
    for name in names {
        hasher.update((name.len() as u64).to_be_bytes());
        hasher.update(name);
    }
    let mut hex: String = hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    hex.truncate(DIGITS);
    hex
}

/// Characters of a queue's name that a list keeps.
const LONGEST_NAME: usize = 512;
/// Hexadecimal digits of a digest: a client that can declare queues must not find a second
/// list of names with the same.
const DIGITS: usize = 32;

impl BrokerView {
    /// Does it name this node as a member of the cluster?
    pub fn names(&self, node: &NodeName) -> bool {
        self.members.contains(node) || self.running.contains(node)
    }

    /// Does it see this node run?
    pub fn sees(&self, node: &NodeName) -> bool {
        self.running.contains(node)
    }

    /// Does the node serve as a member: by its own word it runs, in a cluster that names it?
    pub fn serves(&self) -> bool {
        self.sees(&self.node) && self.members.contains(&self.node)
    }
}

impl QueuesView {
    /// What is on a node: nothing, if it is not listed.
    pub fn on(&self, node: &NodeName) -> NodeQueues {
        let listed = self.nodes.iter().find(|on| on.node == *node);
        listed.cloned().unwrap_or_else(|| NodeQueues { node: node.clone(), ..Default::default() })
    }
}

impl NodeQueues {
    /// Does no queue name the node?
    pub fn is_empty(&self) -> bool {
        [&self.replicas, &self.streams, &self.classic].into_iter().all(QueueNames::is_empty)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_list_of_queues_is_short_and_its_count_right() {
        let many = QueueNames::of((0..30).map(|i| format!("q{i:02}")));
        assert_eq!((many.count, many.names.len()), (30, MOST_NAMES));
        assert_eq!(QueueNames::of(["b".into(), "a".into(), "b".into()]).names, ["a", "b"]);
        assert!(QueueNames::of([]).is_empty());
        let long = QueueNames::of(["ä".repeat(600)]);
        assert_eq!(long.names[0].chars().count(), LONGEST_NAME);
    }

    #[test]
    fn a_digest_stands_for_the_names_that_are_left_out() {
        let numbered = |last: &str| {
            let all = (0..MOST_NAMES).map(|i| format!("q{i:02}"));
            QueueNames::of(all.chain([last.to_string()]))
        };
        let (one, other) = (numbered("r1"), numbered("r2"));
        assert_eq!((one.count, &one.names), (other.count, &other.names));
        assert_ne!(one.digest, other.digest);
        assert_eq!(one.digest.as_ref().map(String::len), Some(DIGITS));
        assert_eq!(one, numbered("r1"));
        let long = |end: &str| QueueNames::of([format!("{}{end}", "q".repeat(LONGEST_NAME))]);
        assert_ne!(long("a").digest, long("b").digest);
        assert_eq!(QueueNames::of((0..MOST_NAMES).map(|i| format!("q{i}"))).digest, None);
    }

    #[test]
    fn what_was_not_read_is_not_nothing() {
        let read = |view| serde_json::from_value::<QueuesView>(view).expect("it should be read");
        assert_eq!(read(json!({ "nodes": [] })).behind, None);
        let none = read(json!({ "nodes": [], "behind": { "count": 0 } }));
        assert_eq!(none.behind, Some(QueueNames::default()));
        // Written and read again, none is still none, and not unknown.
        assert_eq!(read(json!(none)), none);
        assert!(none.on(&NodeName::new("rabbit@a")).is_empty());
    }

    #[test]
    fn a_node_serves_if_it_runs_in_a_cluster_that_names_it() {
        let node = || NodeName::new("rabbit@a");
        let view =
            |running, members| BrokerView { node: node(), running, members, ..Default::default() };
        assert!(view(vec![node()], vec![node()]).serves());
        assert!(!view(vec![], vec![node()]).serves());
        assert!(!view(vec![node()], vec![]).serves());
    }
}
