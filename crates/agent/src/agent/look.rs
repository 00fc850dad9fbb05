//! Looks at the server: how often, and what a look has to be read together with.

use super::state::{Agent, Look};
use crate::admin::{self, Error, Felt, Figures, Reading};
use crate::capabilities::{self, FailedJoin};
use crate::decide::operation::Worker;
use crate::decide::progress::Progress;
use crate::init::protocol::LogTail;
use crate::volume::ledger::Membership;
use jiff::Timestamp;
use palladion_agent_core::look;
use palladion_agent_transfer::pace::Said;
use palladion_api::member::{Liveness, MemberState};
use std::time::{Duration, Instant};

/// A look that takes longer than this is counted: calls that last may be in its way.
const SLOW: Duration = Duration::from_secs(1);
/// What a 4.x server logs when streaming to a joining member has failed.
const JOIN_FAILED: &str = "Some data streaming failed";

impl Agent {
    /// Look at the server.
    pub(super) async fn look(&mut self) {
        let Some(admin) = self.admin.clone() else {
            return;
        };
        let begun = Instant::now();
        self.looked = Some(begun);
        let answer = admin.read().await;
        if begun.elapsed() > SLOW {
            self.metrics.common.slow_reads.inc();
        }
        match answer {
            Ok(mut reading) => {
                self.hear_failed_join(&mut reading).await;
                if self.launch.as_ref().is_some_and(|launch| launch.sealed) {
                    // It takes its agent alone: for everybody else it is down.
                    reading.native_transport = Some(false);
                }
                let known = self.progress.take();
                self.progress = Progress::after(known, Some(&reading), Timestamp::now());
                self.watch.look(Some(&reading));
                self.load.send_replace(self.watched.note(&reading.figures));
                self.transfers.pace.hear(said(&reading.figures), Instant::now());
                self.look = Some(Look { begun, reading });
            }
            Err(error) => {
                self.progress = Progress::after(self.progress.take(), None, Timestamp::now());
                self.watch.look(None);
                self.transfers.pace.hear(Said::default(), Instant::now());
                self.metrics.common.read_failures.inc();
                if let Error::Status { .. } = error {
                    // Not a server that is still starting, but one that refuses us.
                    tracing::warn!(error = error.to_string(), "the server refuses to be looked at");
                }
                tracing::debug!(
                    error = format!("{:#}", anyhow::Error::from(error)),
                    "the server does not answer"
                );
            }
        }
    }

    /// A 4.x server whose join has failed says JOINING for ever, and the truth
    /// in its log only.
    async fn hear_failed_join(&self, reading: &mut Reading) {
        let Ok(mounted) = &self.mounted else { return };
        let row = capabilities::of(&mounted.config.version);
        let silent = row.is_some_and(|r| r.failed_join == FailedJoin::InLog);
        if !(silent && reading.is(admin::JOINING)) {
            return;
        }
        if let Ok(report) = self.supervisor.query(LogTail::Kept).await
            && report.log.iter().any(|line| line.contains(JOIN_FAILED))
        {
            reading.mode = Some(admin::JOINING_FAILED.into());
        }
    }

    /// At rest: a full member, a ring that is well, nothing under way.
    fn at_rest(&self) -> bool {
        let well = |r: &Reading| {
            r.serves()
                && r.members
                    .iter()
                    .flatten()
                    .all(|m| m.liveness == Liveness::Up && m.state == MemberState::Normal)
        };
        self.reading().is_some_and(well)
            && self.worker() == Worker::Idle
            && self.stopping.is_none()
            && self.question.is_none()
            && self.trouble.is_none()
            && self.watch.is_settled()
            && self.ledger().is_some_and(|l| l.membership == Membership::Joined)
    }

    pub(super) fn look_pause(&self) -> Duration {
        let normal = self.reading().is_some_and(Reading::serves);
        look::pause(self.at_rest(), normal)
    }

    /// Time until the next turn, if nothing happens before.
    pub(super) fn pause(&self) -> Duration {
        look::turn(&self.process, self.look_pause())
    }
}

/// What a transfer goes by.
fn said(figures: &Figures) -> Said {
    let Felt { reads: read, writes: write } = figures.felt;
    Said { read, write, compactions: figures.pending_compactions.map(admin::whole) }
}
