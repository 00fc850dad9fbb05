//! Looks at the node: taken beside the loop, so that a node that hangs keeps the agent from
//! nothing. Two requests of the management API each; the command line, which costs a second
//! of a processor, is called only while replicas catch up after a start, and for feature
//! flags once.

use super::state::{Agent, Done, Looked};
use crate::decide::health::Seen;
use crate::decide::{Doors, Process};
use crate::read::{QueueReplicas, Sign};
use crate::volume::ledger::{Entered, Membership};
use palladion_agent_core::init::protocol::LogTail;
use palladion_agent_core::look;
use palladion_api::service_member::FeatureFlags;
use palladion_api::words::Names;
use std::time::{Duration, Instant};

/// A look that takes longer than this is counted.
const SLOW: Duration = Duration::from_secs(1);
/// Between two looks at replicas that catch up. The indexes that a node tells of are some
/// seconds old.
const MEASURE_AGAIN: Duration = Duration::from_secs(6);
/// Queues that have lost their leader for good may get one back by a hand.
const UNLED_AGAIN: Duration = Duration::from_secs(600);
/// Feature flags that could not be read are asked for again. Once they are known only a
/// question, or an operation that enables some, has them read anew.
const FLAGS_AGAIN: Duration = Duration::from_secs(30);

impl Agent {
    /// Begin a look, if it is time for one.
    pub(super) fn look_if_due(&mut self) {
        let is_due = self.looks.begun.is_none_or(|at| at.elapsed() >= self.look_pause());
        let (Process::Running, true, false) = (&self.process, is_due, self.looks.is_under_way)
        else {
            return;
        };
        // A blank node has no user of ours; what is done with it looks for itself. One that was
        // taken into its cluster, and started by itself, may not be noted to be in it yet.
        let entered = self.ledger().is_some_and(|ledger| ledger.entered == Entered::Yes);
        let starts_open = self.launch.as_ref().is_some_and(|record| record.doors == Doors::Open);
        let has_user = entered || starts_open;
        let (Some(tag), true, Ok(hands)) = (self.tag.clone(), has_user, self.hands()) else {
            return;
        };
        let begun = Instant::now();
        (self.looks.begun, self.looks.is_under_way) = (Some(begun), true);
        let done = self.done.clone();
        tokio::spawn(async move {
            let reading = hands.look().await;
            let looked = Looked { tag, begun, reading };
            let _ = done.send(Done::Looked(Box::new(looked))).await;
        });
    }

    /// Note what a look has shown.
    pub(super) fn note_look(&mut self, looked: Looked) {
        if self.tag.as_ref() != Some(&looked.tag) {
            return;
        }
        self.looks.is_under_way = false;
        if looked.begun.elapsed() > SLOW {
            self.metrics.common.slow_reads.inc();
        }
        let mut reading = looked.reading;
        if !reading.answers() {
            self.metrics.common.read_failures.inc();
        }
        reading.flags.clone_from(&self.looks.flags);
        self.watch.saw(Seen::of(&reading));
        self.metrics.note(Some(&reading));
        if reading.answers() {
            self.looks.sign = Sign::None;
            self.looks.last = Some((looked.begun, reading));
        }
        self.measure_if_due();
        self.read_flags_if_due();
    }

    /// Look at the replicas of a node that serves, until they have caught up since its start.
    pub(super) fn measure_if_due(&mut self) {
        // What is left, where all others have caught up, is without a leader.
        let pause = if self.looks.catch_up.is_done() { UNLED_AGAIN } else { MEASURE_AGAIN };
        let is_due = self.looks.measured.is_none_or(|at| at.elapsed() >= pause);
        let is_wanted = self.serves() && !self.looks.catch_up.is_over();
        // A question comes first: on a slow node both together would be too late for it.
        if !is_due || !is_wanted || self.looks.is_calling || self.question.is_some() {
            return;
        }
        let (Some(tag), Ok(hands)) = (self.tag.clone(), self.hands()) else {
            return;
        };
        (self.looks.measured, self.looks.is_calling) = (Some(Instant::now()), true);
        let done = self.done.clone();
        tokio::spawn(async move {
            let replicas = hands.all_replicas().await.map_err(|error| format!("{error:#}"));
            let _ = done.send(Done::Measured { tag, replicas }).await;
        });
    }

    /// Note how far they are.
    pub(super) fn note_replicas(
        &mut self,
        tag: &str,
        replicas: Result<Vec<QueueReplicas>, String>,
    ) {
        if self.tag.as_deref() != Some(tag) {
            return;
        }
        self.looks.is_calling = false;
        match (replicas, self.node()) {
            (Ok(replicas), Some(own)) => {
                let before = self.looks.catch_up.unled();
                self.looks.catch_up.look(&own, &replicas);
                let now = self.looks.catch_up.unled();
                if now != before && !now.is_empty() {
                    let queues = Names::of(&now.names).to_string();
                    tracing::warn!(count = now.count, queues, "queues have no leader");
                }
            }
            (Ok(_), None) => {}
            (Err(why), _) => tracing::debug!(why, "the replicas of the node cannot be read"),
        }
    }

    /// Read the feature flags of a node that serves, once it has nothing else to do.
    fn read_flags_if_due(&mut self) {
        let is_unknown = self.looks.flags.is_none();
        let is_due =
            self.looks.flags_asked.is_none_or(|at| is_unknown && at.elapsed() >= FLAGS_AGAIN);
        if !is_due || !self.serves() || self.looks.is_calling {
            return;
        }
        let (Some(tag), Ok(hands)) = (self.tag.clone(), self.hands()) else {
            return;
        };
        (self.looks.flags_asked, self.looks.is_calling) = (Some(Instant::now()), true);
        let done = self.done.clone();
        tokio::spawn(async move {
            let flags = hands.feature_flags().await.map_err(|error| format!("{error:#}"));
            let _ = done.send(Done::Flags { tag, flags }).await;
        });
    }

    /// Note which they are.
    pub(super) fn note_flags(&mut self, tag: &str, flags: Result<FeatureFlags, String>) {
        if self.tag.as_deref() != Some(tag) {
            return;
        }
        self.looks.is_calling = false;
        match flags {
            Ok(flags) => self.looks.flags = Some(flags),
            Err(why) => tracing::debug!(why, "the feature flags cannot be read"),
        }
    }

    /// What the log of a silent node says.
    pub(super) async fn read_signs(&mut self) {
        let is_silent = self.process == Process::Running && self.reading().is_none();
        let (true, Some(own)) = (is_silent, self.node()) else {
            return;
        };
        if let Ok(report) = self.supervisor.query(LogTail::Kept).await {
            self.looks.sign = Sign::of(&report.log, &own);
        }
    }

    /// At rest: a member that serves, and nothing under way.
    fn is_at_rest(&self) -> bool {
        let joined = self.ledger().is_some_and(|l| l.membership == Membership::Joined);
        let is_busy = self.job.is_some()
            || self.question.is_some()
            || self.stopping.is_some()
            || self.labour.under_way.is_some();
        joined && self.serves() && !is_busy && self.trouble.is_none() && self.watch.is_settled()
    }

    fn look_pause(&self) -> Duration {
        look::pause(self.is_at_rest(), self.serves())
    }

    /// Time until the next turn, if nothing happens before.
    pub(super) fn pause(&self) -> Duration {
        look::turn(&self.process, self.look_pause())
    }
}
