//! Operations: a change of the configuration, made by our server's superuser.

use super::state::{Agent, Done};
use crate::decide::Source;
use crate::decide::operation::{self, Next, Server, Worker};
use crate::ensemble::Ensemble;
use crate::wire::session::Limits;
use crate::words::agent::Trouble;
use crate::words::calls::Failed;
use anyhow::Result;
use jiff::Timestamp;
use palladion_agent_core::service::changes::Outcome;
use palladion_api::service_member::{OperationAnswer, Reconfig};
use std::time::Duration;

/// A change waits for a quorum of the old and of the new configuration.
const CHANGE: Limits = Limits { open: Duration::from_secs(10), answer: Duration::from_secs(30) };

impl Agent {
    /// Begin, or note, what the spec asks for.
    pub(super) fn operate(&mut self) {
        let (Some(saved), Some(ledger)) = (&self.saved, self.ledger()) else {
            return;
        };
        let spec = saved.spec.clone();
        let worker = if self.job.is_some() { Worker::Busy } else { Worker::Idle };
        let server = if self.serves() { Server::Serves } else { Server::DoesNotServe };
        let done = match (operation::next(&spec, &ledger.clone(), worker, server), self.source()) {
            (Next::Nothing, _) => Ok(()),
            (Next::NoteInterrupted, _) => {
                self.change_ledger(|ledger| ledger.interrupt_operations(Timestamp::now()))
            }
            // A spec of earlier tells of nothing that is new.
            (Next::Begin { .. } | Next::NoteRefused { .. }, Source::Saved) => Ok(()),
            (Next::NoteRefused { id, why }, Source::Live) => self.refuse(id, &why),
            (Next::Begin { id, change }, Source::Live) => self.begin(id, change),
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

    fn begin(&mut self, id: &str, change: &Reconfig) -> Result<()> {
        let (Some(address), Ok(mounted)) = (self.server(), &self.mounted) else {
            return Ok(());
        };
        let ports = mounted.config.ports;
        let Some(password) = self.launch.as_ref().map(|launch| launch.password.clone()) else {
            return self.refuse(id, &Failed::NoPassword);
        };
        self.change_ledger(|ledger| ledger.begin_operation(id))?;
        tracing::info!(id, change = ?change, "changing the configuration of the ensemble");
        self.job = Some(id.to_string());
        let (id, change, done) = (id.to_string(), change.clone(), self.done.clone());
        tokio::spawn(async move {
            let ensemble = Ensemble::new(address, CHANGE);
            let outcome = ensemble.reconfigure(&change, &ports, &password).await;
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
    }
}
