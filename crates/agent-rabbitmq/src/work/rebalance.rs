//! Spreading the leaders of queues: after a rollout they are on the nodes that were
//! restarted first.

use super::{Done, Hands};
use crate::wire::ctl::{Input, Program};
use crate::words::job::{Doing, Done as Words};
use anyhow::{Context, Result};
use palladion_api::rabbitmq::NodeName;
use std::collections::BTreeMap;
use std::time::Duration;

/// A leader is moved in a moment, and thousands of them in minutes.
const REBALANCE_TIME: Duration = Duration::from_secs(600);

impl Hands {
    /// Spread them; how many each node has then.
    pub(super) async fn rebalance(&self) -> Result<Done> {
        let arguments = ["rebalance", "all"];
        let spread = self.ctl.call(Program::Queues, &arguments, Input::None, REBALANCE_TIME);
        spread.await.context(Doing::Rebalance)?;
        let queues = self.queues_now().await?;
        let mut leaders: BTreeMap<&NodeName, usize> = BTreeMap::new();
        for node in queues.iter().filter(|q| q.is_replicated()).filter_map(|q| q.node.as_ref()) {
            *leaders.entry(node).or_default() += 1;
        }
        let shown: Vec<String> =
            leaders.iter().map(|(node, count)| format!("{node} {count}")).collect();
        Ok(Done::of(Words::Rebalanced { leaders: shown.join(", ") }))
    }
}
