//! Moving the replicas of queues off a node that leaves or is lost, one queue after the
//! other: another node gets one and catches up, then the node's own is deleted (R11). To
//! forget a node first would leave queues with a dead replica that still counts (R10).

use super::replicas::Patience;
use super::{Done, Hands};
use crate::decide::replicas;
use crate::decide::target::target;
use crate::read::{Awaited, Queue, QueueKind, name};
use crate::words::job::{Doing, Done as Words};
use anyhow::{Context, Result};
use palladion_api::rabbitmq::NodeName;
use palladion_api::service_member::QueueNames;
use palladion_api::words::Count;
use std::collections::BTreeMap;

impl Hands {
    /// Move them; what could not be moved is left as it is, and named.
    pub(super) async fn move_replicas(&self, node: &NodeName) -> Result<Done> {
        let nodes = self.management.nodes().await.context(Doing::ReadCluster)?;
        let running: Vec<NodeName> =
            nodes.into_iter().filter(|node| node.running).map(|node| node.name).collect();
        let queues = self.replicated().await?;
        let mut load = load(&queues);
        let mut left = Vec::new();
        let mut patience = Patience::Waits;
        for queue in queues.iter().filter(|queue| queue.members.contains(node)) {
            let moved = self.move_replica(queue, node, &running, (&mut load, patience)).await;
            if let Err(error) = &moved {
                patience = patience.after(error);
                let (error, queue) = (format!("{error:#}"), name(&queue.vhost, &queue.name));
                tracing::warn!(error, queue, "a replica was not moved");
            }
            if !moved.unwrap_or_default() {
                left.push(name(&queue.vhost, &queue.name));
            }
        }
        if left.is_empty() {
            return Ok(Done::of(Words::Moved));
        }
        let words = Words::MovedAllBut { queues: Count::of(left.len(), "queue") };
        Ok(Done { message: words.to_string(), left: Some(QueueNames::of(left)) })
    }

    /// Move one; `false` where that cannot be.
    async fn move_replica(
        &self,
        queue: &Queue,
        node: &NodeName,
        running: &[NodeName],
        (load, patience): (&mut BTreeMap<NodeName, usize>, Patience),
    ) -> Result<bool> {
        // The list is of the beginning: another member may have moved it since, by an order of
        // the time when nothing was heard of this one.
        let Some(queue) = self.queue_now(queue).await?.filter(|now| now.members.contains(node))
        else {
            return Ok(true);
        };
        let queue = &queue;
        if !can_change(queue, node, running) {
            return Ok(false);
        }
        let to = target((self.own(), node), &queue.members, running, load)
            .filter(|_| can_add(queue, node, running) && !has_spare(queue));
        if let Some(to) = &to {
            self.add_replica(queue, to).await?;
            *load.entry(to.clone()).or_default() += 1;
        }
        // As it is now: who was online may not be any more.
        let Some(now) = self.queue_now(queue).await? else {
            return Ok(true);
        };
        let awaited = awaited(&now, node, to);
        if !awaited.is_nobody() {
            self.caught_up(&now, &awaited, patience).await?;
        }
        let members = now.members;
        let Some(now) = self.queue_now(queue).await? else {
            return Ok(true);
        };
        if now.members != members {
            return Ok(false);
        }
        if !can_do_without(&now, node) {
            return Ok(false);
        }
        self.delete_replica(&now, node).await?;
        Ok(true)
    }
}

/// How many replicas each node has.
fn load(queues: &[Queue]) -> BTreeMap<NodeName, usize> {
    let mut load = BTreeMap::new();
    for node in queues.iter().flat_map(|queue| &queue.members) {
        *load.entry(node.clone()).or_default() += 1;
    }
    load
}

/// Can the replicas of a queue be changed: is a majority of them online, that of a node
/// which runs among them?
fn can_change(queue: &Queue, node: &NodeName, running: &[NodeName]) -> bool {
    let counts = |other: &&NodeName| {
        queue.members.contains(other) && (*other != node || running.contains(node))
    };
    queue.online.iter().filter(counts).count() * 2 > queue.members.len()
}

/// Can a queue get another replica before that of a node is deleted? A stream refuses one
/// (`out_of_sync_replica`) while a replica is more than 10 s behind, as that of a node which
/// is lost is: another gets one when a node joins.
fn can_add(queue: &Queue, node: &NodeName, running: &[NodeName]) -> bool {
    queue.kind() != QueueKind::Stream || running.contains(node)
}

/// Has it a replica more than it should have?
fn has_spare(queue: &Queue) -> bool {
    replicas::has_spare(queue.members.len(), queue.wanted_size())
}

/// Who must have caught up before the replica of a node is deleted. Those that stay of a
/// quorum queue elect nobody who lacks what was confirmed. Those of a stream elect among a
/// majority of themselves, with whatever that has, and the files of the deleted one are gone
/// at once: a replica that copies all this for hours is online as well.
fn awaited(queue: &Queue, node: &NodeName, added: Option<NodeName>) -> Awaited {
    let stay = || queue.members.iter().filter(|other| *other != node).cloned().collect();
    let most_of = match queue.kind() {
        QueueKind::Stream => stay(),
        QueueKind::Quorum | QueueKind::Classic | QueueKind::Other if has_spare(queue) => stay(),
        QueueKind::Quorum | QueueKind::Classic | QueueKind::Other => Vec::new(),
    };
    Awaited { added, most_of }
}

/// Would a majority of the rest be online without a node?
fn can_do_without(queue: &Queue, node: &NodeName) -> bool {
    let rest = queue.members.iter().filter(|other| *other != node).count();
    let elsewhere = |other: &&NodeName| *other != node && queue.members.contains(other);
    let online = queue.online.iter().filter(elsewhere).count();
    rest > 0 && online * 2 > rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nodes(names: &[&str]) -> Vec<NodeName> {
        names.iter().map(|name| NodeName::new(*name)).collect()
    }

    fn queue(members: &[&str], online: &[&str]) -> Queue {
        Queue {
            name: "q".into(),
            vhost: "/".into(),
            kind: Some("quorum".into()),
            durable: true,
            exclusive: false,
            node: None,
            members: nodes(members),
            online: nodes(online),
            synchronised_slave_nodes: Vec::new(),
            arguments: Default::default(),
        }
    }

    #[test]
    fn a_replica_of_a_lost_node_moves_only_where_a_majority_is_left() {
        let lost = NodeName::new("c");
        let (running, all) = (nodes(&["a", "b"]), nodes(&["a", "b", "c"]));
        assert!(can_change(&queue(&["a", "b", "c"], &["a", "b"]), &lost, &running));
        assert!(!can_change(&queue(&["a", "c"], &["a"]), &lost, &running));
        assert!(!can_change(&queue(&["c"], &[]), &lost, &running));
        // One that runs itself counts: its only replica can be moved.
        assert!(can_change(&queue(&["c"], &["c"]), &lost, &all));
        assert!(can_change(&queue(&["a", "c"], &["a", "c"]), &lost, &all));
        // What the list still calls online of a node that does not run does not.
        assert!(!can_change(&queue(&["a", "c"], &["a", "c"]), &lost, &running));
    }

    #[test]
    fn a_stream_gets_no_replica_for_that_of_a_lost_node_and_one_for_that_of_a_leaver() {
        let (node, running) = (NodeName::new("c"), nodes(&["a", "b", "d"]));
        let stream = Queue { kind: Some("stream".into()), ..queue(&["a", "b", "c"], &["a", "b"]) };
        assert!(!can_add(&stream, &node, &running));
        assert!(can_add(&stream, &node, &nodes(&["a", "b", "c", "d"])));
        assert!(can_add(&queue(&["a", "b", "c"], &["a", "b"]), &node, &running));
    }

    /// The second try of a move whose first one was cut short, or has lasted too long.
    #[test]
    fn a_replica_that_an_earlier_try_has_added_is_taken_up() {
        let of = |members: &[&str], size: u64| {
            let argument =
                ("x-quorum-initial-group-size".to_string(), serde_json::Value::from(size));
            Queue { arguments: [argument].into_iter().collect(), ..queue(members, members) }
        };
        assert!(has_spare(&of(&["a", "c"], 1)) && has_spare(&of(&["a", "b", "c", "d"], 3)));
        assert!(!has_spare(&of(&["c"], 1)) && !has_spare(&of(&["a", "b", "c"], 3)));
        assert!(!has_spare(&of(&["a", "c"], 3)), "it has too few");
        assert!(!has_spare(&of(&["a", "b", "c"], 1)), "a user has grown it");
        assert!(has_spare(&of(&["a", "b", "c"], 2)));
    }

    #[test]
    fn the_rest_of_a_stream_is_awaited_by_whomever_its_replicas_were_added() {
        let node = NodeName::new("c");
        let stream = |members| Queue { kind: Some("stream".into()), ..queue(members, members) };
        assert_eq!(awaited(&stream(&["a", "c"]), &node, None).most_of, nodes(&["a"]));
        assert_eq!(awaited(&stream(&["a", "b", "c"]), &node, None).most_of, nodes(&["a", "b"]));
        assert!(awaited(&queue(&["a", "b", "c"], &["a", "b"]), &node, None).is_nobody());
        let added = awaited(&queue(&["a", "c"], &["a", "c"]), &node, Some(NodeName::new("a")));
        assert_eq!((added.added, added.most_of), (Some(NodeName::new("a")), Vec::new()));
    }

    #[test]
    fn a_replica_is_deleted_only_where_the_rest_has_a_majority() {
        let leaver = NodeName::new("c");
        assert!(can_do_without(&queue(&["a", "b", "c"], &["a", "b", "c"]), &leaver));
        assert!(can_do_without(&queue(&["a", "c"], &["a", "c"]), &leaver));
        assert!(!can_do_without(&queue(&["a", "b", "c"], &["a", "c"]), &leaver));
        assert!(!can_do_without(&queue(&["c"], &["c"]), &leaver), "it would be deleted with it");
    }
}
