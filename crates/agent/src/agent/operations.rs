//! Operations that the spec asks for: begun, waited for and noted, as
//! [`crate::decide::operation`] says.

use super::state::{Agent, Done, Job};
use super::work::BREATH;
use crate::decide::operation::{self, Left, Next, Server};
use crate::decide::{Process, Source};
use crate::jobs::{self, Outcome, Pace, Tools};
use crate::volume::ledger::Ledger;
use crate::words::job::{Failed, Trouble};
use jiff::Timestamp;
use palladion_api::member::{Operation, OperationState};
use tokio::sync::watch;

impl Agent {
    /// Begin the operation that the spec names, or note what became of an old one.
    pub(super) fn operate(&mut self) {
        let (Some(saved), Some(ledger), Source::Live) = (&self.saved, self.ledger(), self.source())
        else {
            return;
        };
        let server = match (&self.process, self.reading()) {
            (Process::Running, Some(reading)) if self.is_at_work(reading) => Server::Serves,
            (Process::Running, Some(_) | None) => Server::Runs,
            (Process::Absent, _) => Server::Absent,
            (Process::Unknown(_), _) => Server::Unknown,
        };
        let done = match operation::next(&saved.spec, ledger, self.worker(), server) {
            Next::Nothing => Ok(()),
            Next::Settle(left) => {
                self.settle_operation(left);
                Ok(())
            }
            Next::NoteInterrupted => self.note_over(),
            Next::NoteRefused(why) => self.note_refused(&why),
            Next::Begin => match saved.spec.operation.clone() {
                Some(operation) => self.begin_operation(operation),
                None => Ok(()),
            },
        };
        if let Err(error) = done {
            self.trouble = Some(Trouble::Operation { why: format!("{error:#}") }.into());
        }
    }

    /// The operation in the spec is for another volume or member, or not known.
    fn note_refused(&mut self, why: &Failed) -> anyhow::Result<()> {
        let Some(id) =
            self.saved.as_ref().and_then(|s| Some(s.spec.operation.as_ref()?.id.clone()))
        else {
            return Ok(());
        };
        tracing::warn!(id, why = %why, "operation not begun");
        self.change_ledger(|ledger| {
            ledger.end_operation(&id, Err(why.to_string()), Timestamp::now());
        })
    }

    fn begin_operation(&mut self, operation: Operation) -> anyhow::Result<()> {
        let (Some(admin), Some(launch)) = (self.admin.clone(), &self.launch) else {
            return Ok(());
        };
        let (tag, book) = (launch.tag.clone(), self.book.clone());
        let mounted = self.mounted.as_ref().map_err(|why| anyhow::anyhow!(why.clone()))?;
        let cql = self.endpoint(&mounted.config);
        let datacenter = mounted.config.datacenter.clone();
        let Some(volume) = self.volume.clone() else { return Ok(()) };
        let id = operation.id.clone();
        self.change_ledger(|ledger| ledger.begin_operation(&id, Timestamp::now()))?;
        tracing::info!(id, kind = ?operation.kind, "operation begun");
        let tools = Tools { admin, cql, tag, datacenter, book, volume, pace: Pace::default() };
        let (progress, seen) = watch::channel(0);
        self.job = Some(Job { progress: seen });
        let done = self.done.clone();
        tokio::spawn(async move {
            let outcome = jobs::run(&operation, &tools, &progress).await;
            let _ = done.send(Done::Operation { id, outcome }).await;
        });
        Ok(())
    }

    /// Wait for the end of what the server goes on with.
    fn settle_operation(&mut self, left: Left) {
        let open = self.ledger().and_then(|ledger| {
            ledger.operations.iter().find(|o| o.state == OperationState::Running)
        });
        let Some((admin, id)) = self.admin.clone().zip(open.map(|o| o.id.clone())) else {
            return;
        };
        tracing::info!(id, left = ?left, "waiting for the end of an operation that was left");
        if let Err(error) = self.open_book() {
            let error = format!("{error:#}");
            tracing::warn!(error, "how far the server has counted its repairs is not known");
        }
        let tag = self.launch.as_ref().map(|launch| launch.tag.as_str());
        let last = self.book.as_ref().map(|book| book.read(|notes| notes.last_of(tag)));
        let (_, seen) = watch::channel(0);
        self.job = Some(Job { progress: seen });
        let done = self.done.clone();
        tokio::spawn(async move {
            let over = jobs::over(admin.as_ref(), left, last.unwrap_or(0), Pace::default()).await;
            if over.is_none() {
                tokio::time::sleep(BREATH).await;
            }
            let outcome = over.map_or(Outcome::Unclear, |()| Outcome::Over);
            let _ = done.send(Done::Operation { id, outcome }).await;
        });
    }

    /// The operation that was left is over. Whether it has failed, who was to carry it out
    /// knows only if it was this agent.
    fn note_over(&mut self) -> anyhow::Result<()> {
        let now = Timestamp::now();
        let lost = self.lost_operation.take();
        let is_open = |ledger: &Ledger, id: &str| {
            ledger.operation(id).is_some_and(|o| o.state == OperationState::Running)
        };
        self.change_ledger(|ledger| match lost.filter(|(id, _)| is_open(ledger, id)) {
            Some((id, why)) => ledger.end_operation(&id, Err(why), now),
            None => ledger.interrupt_operations(now),
        })
    }

    /// Note how an operation ended.
    pub(super) fn end_operation(&mut self, id: &str, outcome: Outcome) {
        tracing::info!(id, outcome = ?outcome, "operation ended");
        self.job = None;
        self.read_rebuilt();
        let noted = match outcome {
            Outcome::Ended(how) => {
                self.change_ledger(|ledger| ledger.end_operation(id, how, Timestamp::now()))
            }
            Outcome::Over => self.note_over(),
            Outcome::Lost(why) => {
                self.lost_operation = Some((id.to_string(), why));
                Ok(())
            }
            Outcome::Unclear => Ok(()),
        };
        if let Err(error) = noted {
            tracing::error!(
                error = format!("{error:#}"),
                "the end of an operation could not be noted"
            );
        }
    }
}
