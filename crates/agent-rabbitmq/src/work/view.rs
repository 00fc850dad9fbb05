//! The cluster and its queues as the node sees them now: the answer to a question of the
//! operator. Whole or absent: what could not be read in part is not known.

use super::Hands;
use crate::read::reading::Access;
use crate::read::{Reading, feature_flags, queues_view};
use crate::wire::Error;
use anyhow::Result;
use palladion_api::service_member::{BrokerView, FeatureFlags, QueueNames, QueuesView};

/// What a node shows to a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    /// The cluster.
    pub broker: Option<BrokerView>,
    /// Its queues.
    pub queues: Option<QueuesView>,
}

impl Hands {
    /// Look at the node, without its flags: two requests of its management API.
    pub async fn look(&self) -> Reading {
        match self.see().await {
            Ok(seen) => Reading { seen: Some(seen), ..Reading::default() },
            Err(Error::Unauthorized) => Reading { access: Access::Denied, ..Reading::default() },
            Err(error) => {
                let error = format!("{:#}", anyhow::Error::from(error));
                tracing::debug!(error, "the node does not say how it is");
                Reading::default()
            }
        }
    }

    async fn see(&self) -> Result<(crate::read::Overview, Vec<crate::read::Node>), Error> {
        let overview = self.management.overview().await?;
        let nodes = self.management.nodes().await?;
        Ok((overview, nodes))
    }

    /// The feature flags, as they are reported.
    ///
    /// # Errors
    /// They cannot be read.
    pub async fn feature_flags(&self) -> Result<FeatureFlags> {
        Ok(feature_flags(&self.flags().await?))
    }

    /// All of it, read now. `behind` is what is known of replicas that have not caught up.
    pub async fn view(&self, behind: Option<QueueNames>) -> View {
        let mut reading = self.look().await;
        if reading.seen.is_some() {
            reading.flags = logged(self.feature_flags().await);
        }
        let broker = reading.broker().filter(|_| reading.is_whole());
        let queues = match &broker {
            Some(broker) => logged(self.queues(broker, behind).await),
            None => None,
        };
        View { broker, queues }
    }

    async fn queues(&self, broker: &BrokerView, behind: Option<QueueNames>) -> Result<QueuesView> {
        let queues = self.queues_now().await?;
        let critical = self.management.critical().await?;
        Ok(queues_view((&broker.node, &broker.members), &queues, critical, behind))
    }
}

fn logged<T>(read: Result<T>) -> Option<T> {
    read.inspect_err(|error| {
        let error = format!("{error:#}");
        tracing::warn!(error, "a part of the node's view could not be read");
    })
    .ok()
}
