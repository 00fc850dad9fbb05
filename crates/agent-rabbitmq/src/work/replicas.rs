//! One replica of one queue: added and waited for, or deleted; each answer checked by what
//! the node lists afterwards (R11).

use super::Hands;
use crate::read::{Awaited, CatchUp, Queue, QueueKind, name, terms};
use crate::wire::ctl::{Input, Program};
use crate::words::job::{Doing, NotSo};
use anyhow::{Context, Result, bail};
use palladion_api::rabbitmq::NodeName;
use palladion_api::words::Names;
use std::time::{Duration, Instant};

/// A change of a queue's replicas waits for a majority of them.
const CHANGE_TIME: Duration = Duration::from_secs(90);
/// A replica copies all messages of its queue.
const CATCH_UP_TIME: Duration = Duration::from_secs(900);
/// From one look at a replica to the next: each is a call of the command line.
const CATCH_UP_LOOK: Duration = Duration::from_secs(3);
/// A change that was made is listed within this time.
const SHOWN_TIME: Duration = Duration::from_secs(15);
/// From one look at the list to the next: each is a call of the command line.
const SHOWN_LOOK: Duration = Duration::from_secs(2);

/// How long the replicas of a queue are waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Patience {
    /// As long as it may take.
    Waits,
    /// Only for those that have caught up already: another queue of this order was waited for in
    /// vain, and one that is left is moved by a later order. An order with many queues on a slow
    /// disk would take hours otherwise, and nothing else would be done in the cluster.
    Looks,
}

impl Patience {
    fn time(self) -> Duration {
        match self {
            Patience::Waits => CATCH_UP_TIME,
            Patience::Looks => CATCH_UP_LOOK * 2,
        }
    }

    /// After a queue whose move has failed in this way.
    pub(super) fn after(self, error: &anyhow::Error) -> Self {
        match error.downcast_ref() {
            Some(NotSo::NotCaughtUp { .. }) => Patience::Looks,
            Some(_) | None => self,
        }
    }
}

/// Whether a node has a replica.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Membership {
    /// It has.
    Member,
    /// It has none.
    None,
}

impl Hands {
    /// All queues, and those of them whose replicas can be told apart.
    pub(super) async fn replicated(&self) -> Result<Vec<Queue>> {
        let all = self.queues_now().await?;
        Ok(all.into_iter().filter(|queue| queue.is_replicated() && !queue.exclusive).collect())
    }

    /// The queue as it is now; `None` where it was deleted.
    pub(super) async fn queue_now(&self, queue: &Queue) -> Result<Option<Queue>> {
        self.queue_of(&queue.vhost, &queue.name).await
    }

    /// Give a queue a replica on a node.
    pub(super) async fn add_replica(&self, queue: &Queue, node: &NodeName) -> Result<()> {
        let shown = name(&queue.vhost, &queue.name);
        let doing = || Doing::AddReplica { queue: shown.clone(), node: node.clone() };
        if queue.kind() == QueueKind::Stream {
            self.coordinator_runs().await.with_context(doing)?;
        }
        let command = match queue.kind() {
            QueueKind::Stream => "add_replica",
            QueueKind::Quorum | QueueKind::Classic | QueueKind::Other => "add_member",
        };
        self.change(queue, command, node).await.with_context(doing)?;
        match self.shows(queue, node, Membership::Member).await? {
            true => Ok(()),
            false => bail!(NotSo::NoReplica { queue: shown, node: node.clone() }),
        }
    }

    /// Take the replica of a queue from a node.
    pub(super) async fn delete_replica(&self, queue: &Queue, node: &NodeName) -> Result<()> {
        let shown = name(&queue.vhost, &queue.name);
        let doing = || Doing::DeleteReplica { queue: shown.clone(), node: node.clone() };
        match queue.kind() {
            QueueKind::Stream => self.delete_of_stream(queue, node).await.with_context(doing)?,
            QueueKind::Quorum | QueueKind::Classic | QueueKind::Other => {
                self.change(queue, "delete_member", node).await.with_context(doing)?;
            }
        }
        match self.shows(queue, node, Membership::None).await? {
            true => Ok(()),
            false => bail!(NotSo::StillReplica { queue: shown, node: node.clone() }),
        }
    }

    /// Is a node listed among the replicas of a queue, or not any more? Of a queue that was
    /// deleted nothing is missing.
    async fn shows(&self, queue: &Queue, node: &NodeName, wanted: Membership) -> Result<bool> {
        let begun = Instant::now();
        loop {
            let Some(now) = self.queue_now(queue).await? else {
                return Ok(true);
            };
            let is_member = now.members.contains(node);
            if is_member == (wanted == Membership::Member) {
                return Ok(true);
            }
            if begun.elapsed() > SHOWN_TIME {
                return Ok(false);
            }
            tokio::time::sleep(SHOWN_LOOK).await;
        }
    }

    async fn delete_of_stream(&self, queue: &Queue, node: &NodeName) -> Result<()> {
        self.coordinator_runs().await?;
        let expression = stream_delete(queue, node);
        let arguments = ["eval", &expression];
        self.ctl.call(Program::Ctl, &arguments, Input::None, CHANGE_TIME).await?;
        Ok(())
    }

    async fn change(&self, queue: &Queue, command: &str, node: &NodeName) -> Result<()> {
        let program = match queue.kind() {
            QueueKind::Stream => Program::Streams,
            QueueKind::Quorum | QueueKind::Classic | QueueKind::Other => Program::Queues,
        };
        let vhost = format!("--vhost={}", queue.vhost);
        let arguments = change(command, &vhost, queue, node);
        self.ctl.call(program, &arguments, Input::None, CHANGE_TIME).await?;
        Ok(())
    }

    /// Wait until all replicas of this node have what their leaders had committed at the first
    /// look. One call tells it of all of them.
    pub(super) async fn all_caught_up(&self) -> Result<()> {
        let begun = Instant::now();
        let mut catch_up = CatchUp::default();
        loop {
            catch_up.look(self.own(), &self.all_replicas().await?);
            if catch_up.is_done() {
                return Ok(());
            }
            if begun.elapsed() > CATCH_UP_TIME {
                let behind = catch_up.behind().unwrap_or_default();
                bail!(NotSo::Behind { queues: Names::of(behind.names) });
            }
            tokio::time::sleep(CATCH_UP_LOOK).await;
        }
    }

    /// Wait until these have what the leader had committed at the first look.
    pub(super) async fn caught_up(
        &self,
        queue: &Queue,
        awaited: &Awaited,
        patience: Patience,
    ) -> Result<()> {
        if queue.kind() == QueueKind::Stream {
            // Without it a stream does not say how far its replicas are.
            self.coordinator_runs().await?;
        }
        let begun = Instant::now();
        let mut mark = None;
        loop {
            let Some(now) = self.replicas_of(&queue.vhost, &queue.name).await? else {
                return Ok(());
            };
            if mark.is_some_and(|mark| awaited.have(mark, &now)) {
                return Ok(());
            }
            mark = mark.or(now.committed());
            if begun.elapsed() > patience.time() {
                let queue = name(&queue.vhost, &queue.name);
                bail!(NotSo::NotCaughtUp { queue });
            }
            tokio::time::sleep(CATCH_UP_LOOK).await;
        }
    }
}

/// Whoever may declare a queue names it, `--help` or `-n` as well: nothing behind `--` is taken
/// for an option, and neither is what follows `=`.
fn change<'a>(
    command: &'a str,
    vhost: &'a str,
    queue: &'a Queue,
    node: &'a NodeName,
) -> [&'a str; 5] {
    [command, vhost, "--", &queue.name, node.as_str()]
}

/// What `rabbitmq-streams delete_replica` does since 3.12. Before, it refuses for a node that
/// does not run, and a stream would keep a replica on a node that is lost for ever. The
/// coordinator removes what is left there once the node is back.
fn stream_delete(queue: &Queue, node: &NodeName) -> String {
    let (vhost, name) = (terms::binary(&queue.vhost), terms::binary(&queue.name));
    let node = terms::atom(node.as_str());
    format!(
        "(fun() -> case rabbit_amqqueue:lookup(rabbit_misc:r({vhost}, queue, {name})) of \
         {{ok, Q}} -> #{{name := S}} = amqqueue:get_type_state(Q), \
         {{ok, ok, _}} = rabbit_stream_coordinator:delete_replica(S, {node}), ok; \
         {{error, not_found}} -> ok end end)()."
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_queue_that_is_named_as_an_option_is_none() {
        let queue = json!({ "name": "--help", "vhost": "-v", "type": "quorum" });
        let queue: Queue = serde_json::from_value(queue).unwrap();
        let node = NodeName::new("rabbit@a");
        let arguments = change("add_member", "--vhost=-v", &queue, &node);
        assert_eq!(arguments, ["add_member", "--vhost=-v", "--", "--help", "rabbit@a"]);
    }

    #[test]
    fn after_a_queue_that_was_waited_for_in_vain_the_others_are_only_looked_at() {
        let of = |why: NotSo| Patience::Waits.after(&anyhow::Error::msg(why));
        assert_eq!(of(NotSo::NotCaughtUp { queue: "q".into() }), Patience::Looks);
        let other = NotSo::StillReplica { queue: "q".into(), node: NodeName::new("rabbit@a") };
        assert_eq!(of(other), Patience::Waits);
        assert!(Patience::Looks.time() > CATCH_UP_LOOK && Patience::Looks.time() < SHOWN_TIME);
    }

    #[test]
    fn the_replica_of_a_stream_is_deleted_whether_its_node_runs_or_not() {
        let queue = json!({ "name": "s", "vhost": "/", "type": "stream" });
        let queue: Queue = serde_json::from_value(queue).unwrap();
        let text = stream_delete(&queue, &NodeName::new("rabbit@a"));
        assert!(text.contains("rabbit_misc:r(<<47>>, queue, <<115>>)"), "{text}");
        let node = "binary_to_atom(<<114,97,98,98,105,116,64,97>>, utf8)";
        assert!(text.contains(&format!("delete_replica(S, {node})")), "{text}");
        assert!(text.ends_with(").") && !text.contains('\n'), "{text}");
    }
}
