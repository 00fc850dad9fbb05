//! Stopping the server: told to end, and killed only if that leads to nothing. There is
//! nothing to drain: what was acknowledged is on the disks of a majority.

use super::state::{Agent, Stopping};
use crate::decide::{Process, StopWhy};
use crate::words::agent::Drained;
use palladion_agent_core::drain;
use palladion_agent_core::init::protocol::{Phase, Signal};
use std::time::{Duration, Instant};

/// Time from the beginning of a stop to a kill. A server ends within seconds.
const STOP_TIME: Duration = Duration::from_secs(60);

impl Agent {
    /// Begin to stop the server.
    pub(super) fn stop(&mut self, why: StopWhy) {
        if self.stopping.is_some() {
            return;
        }
        tracing::info!(why = ?why, "stopping the server");
        self.stopping = Some(Stopping { why, since: Instant::now() });
        self.signal(Signal::Terminate);
    }

    /// Kill a server that does not end.
    pub(super) fn kill_if_overdue(&mut self) {
        let Some(stopping) = self.stopping.as_mut().filter(|s| s.since.elapsed() > STOP_TIME)
        else {
            return;
        };
        stopping.since = Instant::now();
        if self.process == Process::Running {
            tracing::error!("the server has not ended in time; killing it");
            self.signal(Signal::Kill);
        }
    }

    fn signal(&self, signal: Signal) {
        let (Some(tag), supervisor) = (self.tag.clone(), self.supervisor.clone()) else {
            return;
        };
        tokio::spawn(async move {
            if let Err(error) = supervisor.signal(&tag, signal).await {
                let error = error.to_string();
                tracing::warn!(error, signal = ?signal, "the server could not be signalled");
            }
        });
    }

    /// The container is about to end (preStop): start nothing more.
    pub(super) fn prepare_for_the_end(&mut self, request: drain::Request) {
        self.container = Phase::Ending;
        // Whoever asked may have left.
        let _ = request.send(Drained::NothingToDo.to_string());
    }
}
