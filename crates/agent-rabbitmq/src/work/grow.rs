//! Giving queues replicas on this node, after it has joined: as many as they were declared
//! with, and never on another node.

use super::{Done, Hands};
use crate::read::Queue;
use crate::words::job::{Doing, Done as Words};
use anyhow::{Context, Result};
use palladion_api::rabbitmq::NodeName;
use palladion_api::words::Count;

impl Hands {
    /// Give each queue that has too few a replica here, and wait until all have caught up.
    pub(super) async fn grow(&self) -> Result<Done> {
        let nodes = self.management.nodes().await.context(Doing::ReadCluster)?;
        let running = nodes.iter().filter(|node| node.running).count();
        let mut grown = 0_usize;
        for queue in self.replicated().await? {
            if wants_one(&queue, self.own(), running) {
                self.add_replica(&queue, self.own()).await?;
                grown += 1;
            }
        }
        // Those of an earlier try, too.
        self.all_caught_up().await?;
        Ok(Done::of(Words::Grown { queues: Count::of(grown, "queue") }))
    }
}

/// Has a queue fewer replicas than it was declared with, and none here?
fn wants_one(queue: &Queue, own: &NodeName, running: usize) -> bool {
    !queue.members.contains(own) && queue.members.len() < queue.wanted_size().min(running)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn queue(kind: &str, members: &[&str], size: Option<u64>) -> Queue {
        let argument = match kind {
            "stream" => "x-initial-cluster-size",
            _ => "x-quorum-initial-group-size",
        };
        let arguments = size.map(|size| (argument.to_string(), json!(size)));
        serde_json::from_value(json!({
            "name": "q", "vhost": "/", "type": kind, "members": members,
            "arguments": arguments.into_iter().collect::<serde_json::Map<_, _>>(),
        }))
        .unwrap()
    }

    #[test]
    fn a_queue_gets_as_many_replicas_as_it_was_declared_with_and_never_all() {
        let own = NodeName::new("d");
        let wants = |members: &[&str], size, running| {
            wants_one(&queue("quorum", members, size), &own, running)
        };
        assert!(wants(&["a"], None, 2) && wants(&["a", "b"], None, 3));
        assert!(!wants(&["a", "b", "c"], None, 4), "three is what it has by default");
        assert!(wants(&["a", "b", "c"], Some(5), 4));
        assert!(!wants(&["a"], Some(1), 4));
        assert!(!wants(&["a", "d"], None, 4), "it has one here");
        assert!(!wants(&["a", "gone"], None, 2), "there is nobody else");
        assert!(wants_one(&queue("stream", &["a"], Some(2)), &own, 3));
    }
}
