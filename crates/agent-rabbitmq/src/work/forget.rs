//! Forgetting a node that does not run. Queues that name it must be seen to first: those
//! with a replica there keep it for ever, and those that are there alone are deleted (R10).

use super::{Done, Hands};
use crate::decide::operation::Naming;
use crate::read::on_node;
use crate::wire::ctl::{Input, Program};
use crate::words::job::{Doing, Done as Words, Failed, NotSo};
use anyhow::{Context, Result, bail};
use palladion_api::rabbitmq::NodeName;
use palladion_api::words::Names;
use std::time::Duration;

/// It takes the node out of the tables of all others.
const FORGET_TIME: Duration = Duration::from_secs(120);

impl Hands {
    /// Forget it.
    pub(super) async fn forget(&self, node: &NodeName, naming: Naming) -> Result<Done> {
        let nodes = self.management.nodes().await.context(Doing::ReadCluster)?;
        let Some(known) = nodes.iter().find(|known| known.name == *node) else {
            // An earlier try may have ended between the two.
            self.remove_from_coordinator(node, naming).await?;
            return Ok(Done::of(Words::Forgotten { node: node.clone() }));
        };
        if known.running {
            bail!(Failed::Runs { node: node.clone() });
        }
        if naming == Naming::Forbidden {
            self.is_named_by_no_queue(node).await?;
        }
        let arguments = ["forget_cluster_node", node.as_str()];
        let forgotten = self.ctl.call(Program::Ctl, &arguments, Input::None, FORGET_TIME).await;
        forgotten.with_context(|| Doing::Forget { node: node.clone() })?;
        let nodes = self.management.nodes().await.context(Doing::ReadCluster)?;
        if nodes.iter().any(|known| known.name == *node) {
            bail!(NotSo::StillMember { node: node.clone() });
        }
        self.remove_from_coordinator(node, naming).await?;
        Ok(Done::of(Words::Forgotten { node: node.clone() }))
    }

    /// Looked at right before the node is forgotten: a queue may have come since anybody has
    /// asked last.
    async fn is_named_by_no_queue(&self, node: &NodeName) -> Result<()> {
        let queues = self.queues_now().await?;
        let on = on_node(node, &queues);
        if on.is_empty() {
            return Ok(());
        }
        let names = [on.replicas.names, on.streams.names, on.classic.names].concat();
        bail!(Failed::Named { node: node.clone(), queues: Names::of(names) })
    }
}
