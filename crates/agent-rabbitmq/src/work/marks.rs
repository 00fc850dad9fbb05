//! Queues and how far their replicas are: asked of the node in one call each.

use super::Hands;
use crate::read::{Queue, QueueReplicas, listing, replicas};
use crate::words::calls::NotKnown;
use crate::words::job::Doing;
use anyhow::{Context, Result};

impl Hands {
    /// All queues of all virtual hosts.
    ///
    /// # Errors
    /// The node does not say.
    pub(super) async fn queues_now(&self) -> Result<Vec<Queue>> {
        let text = self.eval_text(&listing::expression(None)).await.context(Doing::ReadQueues)?;
        listing::parse(&text).context(NotKnown::Queues)
    }

    /// One queue; `None` where there is none of that name, or it is down.
    ///
    /// # Errors
    /// The node does not say.
    pub(super) async fn queue_of(&self, vhost: &str, name: &str) -> Result<Option<Queue>> {
        let expression = listing::expression(Some((vhost, name)));
        let text = self.eval_text(&expression).await.context(Doing::ReadQueues)?;
        let all = listing::parse(&text).context(NotKnown::Queues)?;
        Ok(all.into_iter().next())
    }

    /// All replicas of this node, and those of the same queues elsewhere.
    ///
    /// # Errors
    /// The node does not say.
    pub async fn all_replicas(&self) -> Result<Vec<QueueReplicas>> {
        let text =
            self.eval_text(&replicas::expression(None)).await.context(Doing::ReadReplicas)?;
        replicas::parse(&text).context(NotKnown::Replicas)
    }

    /// The replicas of one queue, wherever they are; `None` where there is no such queue.
    ///
    /// # Errors
    /// The node does not say.
    pub async fn replicas_of(&self, vhost: &str, name: &str) -> Result<Option<QueueReplicas>> {
        let expression = replicas::expression(Some((vhost, name)));
        let text = self.eval_text(&expression).await.context(Doing::ReadReplicas)?;
        let all = replicas::parse(&text).context(NotKnown::Replicas)?;
        Ok(all.into_iter().next())
    }
}
