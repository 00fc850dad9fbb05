//! Joining a cluster (R2): the blank node's application is stopped, it joins, and its
//! application is started. Whatever ends in between, a second try finds it as it is.

use super::Hands;
use super::node::{Application, NodeState};
use crate::wire::ctl::{Input, Program, QUICK};
use crate::words::job::{Doing, NotSo};
use anyhow::{Context, Result, bail};
use palladion_api::rabbitmq::NodeName;
use palladion_api::words::Names;
use std::time::Duration;

/// Stopping and starting an application takes seconds; loading tables takes longer.
pub(super) const APPLICATION_TIME: Duration = Duration::from_secs(300);

impl Hands {
    /// Join the cluster through the first of these that answers.
    pub(super) async fn join(&self, nodes: &[NodeName]) -> Result<()> {
        let mut state = self.booted().await?;
        if !self.has_joined(&state, nodes)? {
            self.application("stop_app").await.context(Doing::StopApp)?;
            let joined = self.join_first(nodes).await;
            state = self.state().await?;
            if !self.has_joined(&state, nodes)? {
                // As it was, so that the next try begins with a node that has booted.
                let _ = self.application("start_app").await;
                self.is_named_by_none(nodes).await?;
                joined?;
                let node = nodes.first().cloned().unwrap_or_default();
                bail!(NotSo::NotJoined { node });
            }
        }
        if state.app != Application::Running {
            self.application("start_app").await.context(Doing::StartApp)?;
        }
        let state = self.state().await?;
        match (state.app, self.has_joined(&state, nodes)?) {
            (Application::Running, true) => Ok(()),
            (Application::Running, false) => {
                bail!(NotSo::NotJoined { node: nodes.first().cloned().unwrap_or_default() })
            }
            (Application::Booting | Application::Stopped, _) => bail!(NotSo::NotStarted),
        }
    }

    /// Is it in the cluster of these? One that is in another was given to nobody.
    fn has_joined(&self, state: &NodeState, nodes: &[NodeName]) -> Result<bool> {
        let others: Vec<&NodeName> =
            state.members.iter().filter(|node| *node != self.own()).collect();
        if others.is_empty() {
            return Ok(false);
        }
        if !others.iter().any(|node| nodes.contains(node)) {
            bail!(NotSo::OtherCluster { members: Names::of(others) });
        }
        Ok(true)
    }

    async fn join_first(&self, nodes: &[NodeName]) -> Result<()> {
        let mut last = Ok(());
        for node in nodes {
            let arguments = ["join_cluster", node.as_str()];
            let asked =
                self.ctl.call(Program::Ctl, &arguments, Input::None, APPLICATION_TIME).await;
            match asked {
                Ok(_) => return Ok(()),
                Err(error) => {
                    let doing = Doing::Join { node: node.clone() };
                    last = Err(error).context(doing);
                }
            }
        }
        last
    }

    /// `stop_app`, `start_app`.
    pub(super) async fn application(&self, command: &str) -> Result<()> {
        self.ctl.call(Program::Ctl, &[command], Input::None, APPLICATION_TIME).await?;
        Ok(())
    }

    /// A quick call of `rabbitmqctl`, of whose answer nothing is needed.
    pub(super) async fn tell(&self, arguments: &[&str], input: Input<'_>) -> Result<()> {
        self.ctl.call(Program::Ctl, arguments, input, QUICK).await?;
        Ok(())
    }
}
