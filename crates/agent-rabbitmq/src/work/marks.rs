//! How far replicas are: asked of the node in one call.

use super::Hands;
use crate::read::{QueueReplicas, replicas};
use crate::words::calls::NotKnown;
use crate::words::job::Doing;
use anyhow::{Context, Result};

impl Hands {
    /// All replicas of this node, and those of the same queues elsewhere.
    ///
    /// # Errors
    /// The node does not say.
    pub async fn all_replicas(&self) -> Result<Vec<QueueReplicas>> {
        let text = self.eval(&replicas::expression(None)).await.context(Doing::ReadReplicas)?;
        replicas::parse(&text).context(NotKnown::Replicas)
    }

    /// The replicas of one queue, wherever they are; `None` where there is no such queue.
    ///
    /// # Errors
    /// The node does not say.
    pub async fn replicas_of(&self, vhost: &str, name: &str) -> Result<Option<QueueReplicas>> {
        let expression = replicas::expression(Some((vhost, name)));
        let text = self.eval(&expression).await.context(Doing::ReadReplicas)?;
        let all = replicas::parse(&text).context(NotKnown::Replicas)?;
        Ok(all.into_iter().next())
    }
}
