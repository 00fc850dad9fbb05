//! Stopping the application of a node whose virtual machine lives, and starting it again.

use super::Hands;
use super::node::Application;
use crate::wire::ctl::{Input, Program};
use crate::words::job::{Doing, NotSo};
use anyhow::{Context, Result, bail};
use std::time::Duration;

/// A drain moves the leaders of all queues; what it has not moved by then, others elect. With
/// the time to hand over it fits into that of the preStop hook.
const DRAIN_TIME: Duration = Duration::from_secs(50);

impl Hands {
    /// Drain it, and stop its application. A node that was stopped in another way would take
    /// the leaders of its queues with it, and clients would wait for an election.
    pub(super) async fn stop_app(&self) -> Result<()> {
        if self.state().await?.app != Application::Stopped {
            if let Err(error) = self.drain().await {
                // Not to drain costs time, and nothing else.
                let error = format!("{error:#}");
                tracing::warn!(error, "the node could not be drained");
            }
            // A drain does so from 3.12 on, and only tries.
            self.hand_coordinator_over().await?;
            self.application("stop_app").await.context(Doing::StopApp)?;
        }
        match self.state().await?.app {
            Application::Stopped => Ok(()),
            Application::Running | Application::Booting => bail!(NotSo::NotStopped),
        }
    }

    /// Start its application again, and end the drain.
    pub(super) async fn start_app(&self) -> Result<()> {
        if self.state().await?.app != Application::Running {
            self.application("start_app").await.context(Doing::StartApp)?;
        }
        let revive = self.ctl.call(Program::Upgrade, &["revive"], Input::None, DRAIN_TIME);
        revive.await.context(Doing::EndDrain)?;
        match self.state().await?.app {
            Application::Running => Ok(()),
            Application::Stopped | Application::Booting => bail!(NotSo::NotStarted),
        }
    }

    /// Close it for clients, and move the leaders of its queues to others.
    ///
    /// # Errors
    /// The node did not do it, or not in time.
    pub async fn drain(&self) -> Result<()> {
        let drain = self.ctl.call(Program::Upgrade, &["drain"], Input::None, DRAIN_TIME);
        drain.await.map(drop).context(Doing::Drain)
    }

    /// Wait until no queue would lose its quorum, and no mirrored one its last copy in step,
    /// with this node.
    ///
    /// # Errors
    /// Not in time.
    pub async fn hand_over(&self, limit: Duration) -> Result<()> {
        let begun = std::time::Instant::now();
        for command in ["await_online_quorum_plus_one", "await_online_synchronized_mirror"] {
            let left = limit.saturating_sub(begun.elapsed());
            let seconds = left.as_secs().max(1).to_string();
            let arguments = [command, "--timeout", &seconds];
            // A call takes a second by itself.
            let at_most = left + Duration::from_secs(10);
            self.ctl.call(Program::Upgrade, &arguments, Input::None, at_most).await?;
        }
        Ok(())
    }
}
