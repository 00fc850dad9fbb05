//! Work on the node that runs, beside the loop: one piece at a time, tried again after a
//! while if it fails, and noted when it is done.

use super::state::{Agent, Done, Failure};
use crate::decide::{Doors, JoinFact, Work};
use crate::volume::ledger::{App, Entered};
use crate::words::agent::Trouble;
use crate::words::job::{Doing, NotSo};
use anyhow::Result;
use jiff::Timestamp;
use palladion_agent_core::launch_record::LaunchRecord as _;
use palladion_api::member::IntentState;
use palladion_api::reasons::Reason;
use std::time::{Duration, Instant};

/// Work that is still to be done has been tried again by then.
const TOLD: Duration = Duration::from_secs(60);

impl Failure {
    fn of(error: &anyhow::Error) -> Self {
        let join = match error.downcast_ref::<NotSo>() {
            Some(NotSo::NamedWithoutData { .. }) => JoinFact::NamedWithoutData,
            Some(_) | None => JoinFact::Open,
        };
        // RabbitMQ goes on refusing them until somebody corrects the Secret.
        let of_definitions = matches!(error.downcast_ref(), Some(Doing::SetUpDefinitions));
        let reason = of_definitions.then_some(Reason::DefinitionsPending);
        Self { why: format!("{error:#}"), join, reason }
    }
}

impl Agent {
    pub(super) fn begin_work(&mut self, work: Work) -> Result<()> {
        let hands = self.hands()?;
        tracing::info!(work = ?work, "work on the node begun");
        self.labour.under_way = Some(work.clone());
        let done = self.done.clone();
        let task = tokio::spawn(async move {
            let result = hands.work(&work).await.map_err(|error| Failure::of(&error));
            let _ = done.send(Done::Worked { work, result }).await;
        });
        self.labour.task = Some(task);
        Ok(())
    }

    /// Note how a piece of work ended.
    pub(super) fn note_work(&mut self, work: Work, result: Result<(), Failure>) {
        (self.labour.under_way, self.labour.task) = (None, None);
        match result.and_then(|()| self.note_done(&work).map_err(|error| Failure::of(&error))) {
            Ok(()) => {
                tracing::info!(work = ?work, "work on the node done");
                self.labour.failed = None;
            }
            Err(failure) => {
                let why = failure.why.as_str();
                tracing::warn!(work = ?work, why, "work on the node failed; trying again");
                self.labour.failed = Some((work, failure, Instant::now()));
            }
        }
    }

    fn note_done(&mut self, work: &Work) -> Result<()> {
        match work {
            Work::SetUp | Work::Join { .. } => {
                self.change_ledger(|ledger| ledger.entered = Entered::Yes)?;
                // It was looked at before the node has written anything: together with the
                // ledger of a member that would be a volume that has lost its data.
                self.look_over();
                Ok(())
            }
            Work::Meet { .. } => self.change_ledger(|ledger| ledger.entered = Entered::Asked),
            Work::StopApp => self.change_ledger(|ledger| {
                if let Some(intent) = ledger.intent.clone() {
                    ledger.set_intent(&intent.nonce, IntentState::Done, None, Timestamp::now());
                }
            }),
            Work::StartApp => self.change_ledger(|ledger| ledger.app = App::Runs),
            Work::Open => self.note_open(),
            Work::MakeUser => Ok(()),
            Work::MakeVhost => {
                self.labour.vhost_seen.clone_from(&self.tag);
                Ok(())
            }
        }
    }

    /// It is open by now, as a later agent must know.
    fn note_open(&mut self) -> Result<()> {
        let Some(mut record) = self.launch.clone() else {
            return Ok(());
        };
        record.doors = Doors::Open;
        record.save(&self.settings.pod.launch_file())?;
        self.launch = Some(record);
        Ok(())
    }

    /// What the work that failed last has to say, while it is to be done or is done once more, and
    /// under which reason.
    pub(super) fn labour_trouble(&self) -> Option<(Trouble, Option<Reason>)> {
        let (work, failure, at) = self.labour.failed.as_ref()?;
        let is_to_be_done = at.elapsed() < TOLD || self.labour.under_way.as_ref() == Some(work);
        is_to_be_done.then(|| (Trouble::Step { why: failure.why.clone() }, failure.reason))
    }
}
