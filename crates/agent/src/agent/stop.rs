//! Stopping the server: drained where it serves, told to end, and killed only
//! if that leads to nothing.

use super::state::{Agent, Done, Stopping};
use crate::admin::{DRAINED, Reading, ServerAdmin};
use crate::decide::{DrainCall, Process, StopWhy};
use crate::drain;
use crate::init::protocol::{Phase, Signal};
use crate::supervisor::Supervisor;
use crate::words::calls::{Drained, NotKnown};
use anyhow::{Context, Result};
use palladion_api::ids::Nonce;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// A drain flushes memtables and waits for the batch log; beyond this the
/// server is told to end, which drains once more.
const DRAIN_TIME: Duration = Duration::from_secs(90);
/// Time from the beginning of a stop to a kill.
const STOP_TIME: Duration = Duration::from_secs(300);

impl Agent {
    /// Begin to stop the server.
    pub(super) fn stop(&mut self, why: StopWhy) {
        let Some(tag) = self.launch.as_ref().map(|l| l.tag.clone()) else {
            tracing::error!(
                "the server was launched by an agent that left no record; it is not stopped"
            );
            return;
        };
        tracing::info!(why = ?why, "stopping the server");
        self.stopping = Some(Stopping { why, since: Instant::now() });
        let serves = self.reading().is_some_and(Reading::serves);
        let drained = self.admin.clone().filter(|_| serves);
        let supervisor = self.supervisor.clone();
        let rewinds = if why == StopWhy::Rewinds { self.stops_to_rewind() } else { None };
        tokio::spawn(async move {
            if let Some(admin) = drained {
                let answer = drain_in_time(admin.clone()).await;
                if let (Drained::Done, Some(rewinds)) = (answer, rewinds)
                    && is_drained(admin).await
                {
                    rewinds.store(true, Ordering::SeqCst);
                }
            }
            if let Err(error) = supervisor.signal(&tag, Signal::Terminate).await {
                tracing::warn!(error = error.to_string(), "the server could not be told to end");
            }
        });
    }

    /// Kill a server that does not end.
    pub(super) fn kill_if_overdue(&mut self) {
        let overdue = self.stopping.as_ref().is_some_and(|s| s.since.elapsed() > STOP_TIME);
        let (true, Process::Running, Some(launch)) = (overdue, &self.process, &self.launch) else {
            return;
        };
        tracing::error!("the server has not ended in time; killing it");
        let (supervisor, tag): (Supervisor, String) = (self.supervisor.clone(), launch.tag.clone());
        if let Some(stopping) = &mut self.stopping {
            stopping.since = Instant::now();
        }
        tokio::spawn(async move {
            if let Err(error) = supervisor.signal(&tag, Signal::Kill).await {
                tracing::warn!(error = error.to_string(), "the server could not be killed");
            }
        });
    }

    /// Drain the server and leave it running: it serves again after a restart.
    pub(super) fn drain(&mut self, nonce: Nonce) -> Result<()> {
        let admin = self.admin.clone().context(NotKnown::Server)?;
        tracing::info!(nonce = nonce.as_str(), "draining the server, as a task requests");
        self.drain_call = Some(DrainCall { nonce: nonce.clone(), answer: None });
        let done = self.done.clone();
        tokio::spawn(async move {
            let answer = admin.drain().await.map_err(|e| format!("{:#}", anyhow::Error::from(e)));
            let _ = done.send(Done::Drained { nonce, answer }).await;
        });
        Ok(())
    }

    /// What came of it is told with the next look.
    pub(super) fn note_drain(&mut self, nonce: Nonce, answer: Result<(), String>) {
        if let Err(why) = &answer {
            tracing::warn!(why, "the server could not be drained");
        }
        self.drain_call = Some(DrainCall { nonce, answer: Some(answer) });
        (self.look, self.looked) = (None, None);
    }

    /// The container is about to end (preStop): drain, and start nothing more.
    pub(super) fn drain_for_the_end(&mut self, request: drain::Request) {
        self.container = Phase::Ending;
        let Some(admin) = self.admin.clone().filter(|_| self.process == Process::Running) else {
            let _ = request.send(Drained::NoServer.to_string());
            return;
        };
        tracing::info!("draining the server: the container is about to end");
        tokio::spawn(async move {
            let _ = request.send(drain_in_time(admin).await.to_string());
        });
    }
}

async fn drain_in_time(admin: Arc<dyn ServerAdmin>) -> Drained {
    let answer = match tokio::time::timeout(DRAIN_TIME, admin.drain()).await {
        Ok(Ok(())) => Drained::Done,
        Ok(Err(error)) => Drained::Failed { why: format!("{:#}", anyhow::Error::from(error)) },
        Err(_) => Drained::Late { seconds: DRAIN_TIME.as_secs() },
    };
    tracing::info!(%answer, "drain");
    answer
}

/// A server answers a drain that has failed as one that went well, and says in its mode alone how
/// far it has come (`StorageService.drain`).
async fn is_drained(admin: Arc<dyn ServerAdmin>) -> bool {
    let read = tokio::time::timeout(DRAIN_TIME, admin.read()).await;
    let is_drained = matches!(&read, Ok(Ok(reading)) if reading.is(DRAINED));
    if !is_drained {
        tracing::warn!("the server does not say that it is drained");
    }
    is_drained
}
