//! Operations: each is noted before it begins, runs beside the loop, and is noted when it
//! has ended.

use super::state::{Agent, Done};
use crate::decide::Source;
use crate::decide::operation::{self, Job, Next, Server, Worker};
use crate::words::agent::Trouble;
use crate::words::job::Failed;
use anyhow::Result;
use jiff::Timestamp;
use palladion_agent_core::service::changes::Outcome;
use palladion_api::service_member::OperationAnswer;

impl Agent {
    /// Begin, or note, what the spec asks for.
    pub(super) fn operate(&mut self) {
        let (Some(saved), Some(ledger)) = (&self.saved, self.ledger()) else {
            return;
        };
        let is_busy = self.job.is_some() || self.labour.under_way.is_some();
        let worker = if is_busy { Worker::Busy } else { Worker::Idle };
        let server = if self.serves() { Server::Serves } else { Server::DoesNotServe };
        let next = operation::next(&saved.spec, ledger, worker, server);
        let done = match (next, self.source()) {
            (Next::Nothing, _) => Ok(()),
            (Next::NoteInterrupted, _) => {
                self.change_ledger(|ledger| ledger.interrupt_operations(Timestamp::now()))
            }
            // A spec of earlier tells of nothing that is new.
            (Next::Begin { .. } | Next::NoteRefused { .. }, Source::Saved) => Ok(()),
            (Next::NoteRefused { id, why }, Source::Live) => self.refuse(&id, &why),
            (Next::Begin { id, job }, Source::Live) => self.begin(id, job),
        };
        if let Err(error) = done {
            self.trouble = Some(Trouble::Operation { why: format!("{error:#}") }.into());
        }
    }

    fn refuse(&mut self, id: &str, why: &Failed) -> Result<()> {
        let message = why.to_string();
        tracing::warn!(id, message, "operation refused");
        let outcome = Outcome { answer: OperationAnswer::Other, queues: None, message };
        self.change_ledger(|ledger| ledger.end_operation(id, &outcome, Timestamp::now()))
    }

    fn begin(&mut self, id: String, job: Job) -> Result<()> {
        let hands = self.hands()?;
        self.change_ledger(|ledger| ledger.begin_operation(&id))?;
        tracing::info!(id, job = ?job, "operation begun");
        self.job = Some(id.clone());
        let done = self.done.clone();
        tokio::spawn(async move {
            let outcome = hands.operate(&job).await;
            let _ = done.send(Done::Operation { id, outcome }).await;
        });
        Ok(())
    }

    /// Note how an operation ended.
    pub(super) fn end_operation(&mut self, id: &str, outcome: &Outcome) {
        self.job = None;
        tracing::info!(id, answer = ?outcome.answer, message = outcome.message, "operation ended");
        let now = Timestamp::now();
        if let Err(error) = self.change_ledger(|ledger| ledger.end_operation(id, outcome, now)) {
            // The next turn finds it open, and nobody at it: it is noted as interrupted then.
            self.trouble = Some(Trouble::Operation { why: format!("{error:#}") }.into());
        }
        // What was enabled is told soon.
        self.looks.flags_asked = None;
    }
}
