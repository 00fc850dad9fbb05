//! Giving queues replicas on this node, after it has joined: those that they lack, and never on
//! another node.

use super::{Done, Hands};
use crate::decide::replicas::lacks_one;
use crate::read::{Queue, name};
use crate::wire::Error;
use crate::words::job::{Doing, Done as Words, NotSo};
use anyhow::{Context, Result};
use palladion_api::rabbitmq::NodeName;
use palladion_api::service_member::QueueNames;
use palladion_api::words::Count;

/// A queue that elects a leader says no, and yes a little later. One that is sick goes on
/// saying no, and must not hold up all others.
const TRIES: usize = 3;
/// A queue that does not answer in time holds up no other one. Where so many do not, it is the node
/// that does not, and each would be waited for in vain.
const MOST_LATE: usize = 3;

impl Hands {
    /// Give each queue that has too few a replica here, and wait until all have caught up.
    /// Queues that refuse it are left as they are, and named.
    pub(super) async fn grow(&self) -> Result<Done> {
        let nodes = self.management.nodes().await.context(Doing::ReadCluster)?;
        let running = nodes.iter().filter(|node| node.running).count();
        let mut grown = 0_usize;
        let mut left = Vec::new();
        for _ in 0..TRIES {
            left.clear();
            let mut late = 0_usize;
            for queue in self.replicated().await? {
                if !wants_one(&queue, self.own(), running) {
                    continue;
                }
                match self.add_replica(&queue, self.own()).await {
                    Ok(()) => grown += 1,
                    Err(error) if is_of_one_queue(&error, &mut late) => {
                        let (error, queue) =
                            (format!("{error:#}"), name(&queue.vhost, &queue.name));
                        tracing::warn!(error, queue, "a queue takes no replica here");
                        left.push(queue);
                    }
                    Err(error) => return Err(error),
                }
            }
            // Those of an earlier try, too.
            self.all_caught_up().await?;
            if left.is_empty() {
                return Ok(Done::of(Words::Grown { queues: Count::of(grown, "queue") }));
            }
        }
        let queues = Count::of(left.len(), "queue");
        let message = Words::GrownAllBut { queues }.to_string();
        Ok(Done { message, left: Some(QueueNames::of(left)) })
    }
}

/// Has the node said no to this one queue, or not answered in time, or not made the replica? Whatever
/// else went wrong concerns all of them, and so does what happens to several.
fn is_of_one_queue(error: &anyhow::Error, late: &mut usize) -> bool {
    let mut causes = error.chain().filter_map(|cause| cause.downcast_ref::<Error>());
    let is_late =
        error.chain().any(|cause| matches!(cause.downcast_ref(), Some(Error::Late { .. })));
    *late += usize::from(is_late);
    let is_not_made = matches!(error.downcast_ref(), Some(NotSo::NoReplica { .. }));
    causes.any(Error::is_a_no) || is_not_made || (is_late && *late <= MOST_LATE)
}

/// Does a queue lack a replica, and has it none here?
fn wants_one(queue: &Queue, own: &NodeName, running: usize) -> bool {
    let (has, declared) = (queue.members.len(), queue.wanted_size());
    !queue.members.contains(own) && lacks_one(has, declared, running)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_no_and_a_few_that_are_late_are_about_one_queue_each() {
        let refused = Error::Refused { what: "add_member".into(), code: Some(69), said: "".into() };
        let late = || Error::Late { what: "add_member".into() };
        let of = |error: Error| anyhow::Error::from(error).context("adding a replica");
        let http = Error::Status { path: "nodes", code: 503 };
        let mut several = 0;
        assert!(is_of_one_queue(&of(refused), &mut several) && several == 0);
        for _ in 0..MOST_LATE {
            assert!(is_of_one_queue(&of(late()), &mut several), "{several}");
        }
        assert!(!is_of_one_queue(&of(late()), &mut several), "it is the node");
        let broken = Error::TooLong { what: "queues".into() };
        assert!(is_of_one_queue(&of(http), &mut 0) && !is_of_one_queue(&of(broken), &mut 0));
    }

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

    /// A stream is declared on all nodes, and a user may grow a quorum queue to all of them.
    #[test]
    fn a_queue_gets_the_replica_back_that_was_deleted_with_its_node() {
        let own = NodeName::new("e");
        let rest = &["a", "b", "c", "d"];
        assert!(wants_one(&queue("stream", rest, None), &own, 5));
        assert!(wants_one(&queue("quorum", rest, Some(3)), &own, 5));
        assert!(!wants_one(&queue("quorum", rest, Some(4)), &own, 5), "four were asked for");
    }
}
