//! Stopping the node: drained where that is due, told to end, and killed only if that leads
//! to nothing.

use super::state::{Agent, Done, Stopping};
use crate::decide::{Process, StopWhy};
use crate::volume::ledger::{App, Entered};
use crate::words::agent::Drained;
use crate::work::Hands;
use palladion_agent_core::drain;
use palladion_agent_core::init::protocol::{Phase, Signal};
use std::time::{Duration, Instant};

/// Time from the end of a drain to a kill. A node ends within ten seconds, and within a
/// minute or two where it has much to write.
const STOP_TIME: Duration = Duration::from_secs(180);

impl Agent {
    /// Begin to stop the node.
    pub(super) fn stop(&mut self, why: StopWhy) {
        if self.stopping.is_some() {
            return;
        }
        tracing::info!(why = ?why, "stopping the node");
        self.stopping = Some(Stopping { why, since: Instant::now() });
        match (self.tag.clone(), is_drained_first(why) && self.serves(), self.hands()) {
            (Some(tag), true, Ok(hands)) => self.drain_first(tag, hands),
            (Some(_) | None, _, _) => self.signal(Signal::Terminate),
        }
    }

    fn drain_first(&self, tag: String, hands: Hands) {
        let done = self.done.clone();
        tokio::spawn(async move {
            if let Err(error) = hands.drain().await {
                let error = format!("{error:#}");
                tracing::warn!(error, "the node could not be drained; it is stopped without that");
            }
            let _ = done.send(Done::Drained { tag }).await;
        });
    }

    /// It was drained for a stop: now it may end.
    pub(super) fn end_of_drain(&mut self, tag: &str) {
        if self.tag.as_deref() == Some(tag)
            && let Some(stopping) = &mut self.stopping
        {
            stopping.since = Instant::now();
            self.signal(Signal::Terminate);
        }
    }

    /// Kill a node that does not end.
    pub(super) fn kill_if_overdue(&mut self) {
        let Some(stopping) = self.stopping.as_mut().filter(|s| s.since.elapsed() > STOP_TIME)
        else {
            return;
        };
        stopping.since = Instant::now();
        if self.process == Process::Running {
            tracing::error!("the node has not ended in time; killing it");
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
                tracing::warn!(error, signal = ?signal, "the node could not be signalled");
            }
        });
    }

    /// The container is about to end (preStop): start nothing more, hand the queues over and
    /// drain the node. Whoever asks waits for that, and no longer than it wants to.
    pub(super) fn prepare_for_the_end(&mut self, request: drain::Request) {
        let is_first = self.container == Phase::Serving;
        self.container = Phase::Ending;
        let is_up = self
            .ledger()
            .is_some_and(|ledger| ledger.app == App::Runs && ledger.entered == Entered::Yes);
        let answer = match (is_first, self.process == Process::Running && is_up, self.hands()) {
            (false, _, _) => Drained::Again,
            (true, true, Ok(hands)) => {
                tokio::spawn(hand_over(hands, request));
                return;
            }
            (true, _, _) => Drained::NotRunning,
        };
        // Whoever asked may have left.
        let _ = request.send(answer.to_string());
    }
}

async fn hand_over(hands: Hands, request: drain::Request) {
    let limit = Duration::from_secs(u64::from(hands.mounted.config.hand_over_seconds));
    let waited = hands.hand_over(limit).await;
    let answer = match (waited, hands.drain().await) {
        (Ok(()), Ok(())) => Drained::Done,
        (Err(error), Ok(())) => Drained::NotHandedOver { why: format!("{error:#}") },
        (_, Err(error)) => Drained::Failed { why: format!("{error:#}") },
    };
    let answer = answer.to_string();
    tracing::info!(answer, "the container ends");
    let _ = request.send(answer);
}

/// A node that comes back hands its leaders over first; one that is given up has nothing
/// that anybody waits for.
fn is_drained_first(why: StopWhy) -> bool {
    match why {
        StopWhy::Restart | StopWhy::SpecSaysSo => true,
        StopWhy::StaleTwin
        | StopWhy::PermitWithdrawn
        | StopWhy::Left
        | StopWhy::MarkedAsLost
        | StopWhy::Opening => false,
    }
}
