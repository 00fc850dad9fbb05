//! The member's part of a backup: its orders are followed, as
//! `palladion-agent-transfer` decides. A spec that is not live begins nothing and ends
//! nothing: what runs goes on.

use super::state::{Agent, Done};
use crate::decide::Source;
use crate::metrics::Since;
use crate::transfer::attempt::{self, Attempt, Talk};
use crate::transfer::{Notes, Running};
use crate::volume::transfer::Of;
use crate::words::calls::NotKnown;
use crate::words::work::Trouble;
use anyhow::{Context, Result};
use jiff::Timestamp;
use palladion_agent_transfer::decide::{
    self, Backups, Child, Facts, Kept, Next, Noted, Order, Record, Repository, unwritten,
};
use palladion_agent_transfer::pace::Limits;
use palladion_agent_transfer::tell::Progress;
use palladion_api::backup::{Transfer, TransferTask};
use std::time::Instant;
use tokio::sync::watch;

/// Steps in one turn; each is one that the decider names, and no chain of them is longer.
const STEPS: usize = 6;

impl Agent {
    /// Take up, follow and end the transfer that the spec names.
    pub(super) fn transfer(&mut self) {
        self.open_transfers();
        self.pace_transfer();
        self.count_transfer();
        let Source::Live = self.source() else {
            return self.tell_last_transfer();
        };
        for _ in 0..STEPS {
            let Some(facts) = self.transfer_facts() else { return };
            let next = decide::next(&facts);
            self.clear_restores(&facts);
            let went_on = match &next {
                Next::Note(record) => self.note_transfer((**record).clone()),
                Next::Start => self.start_transfer(),
                Next::End => {
                    self.stop_transfer();
                    Ok(false)
                }
                Next::Rest | Next::Refuse(_) | Next::Wait { .. } | Next::Answer(_) => Ok(false),
            };
            let unwritten_order = match went_on {
                Ok(true) => continue,
                Ok(false) => None,
                Err(error) => facts.order.as_ref().map(|order| (order.id.clone(), error)),
            };
            return self.tell_transfer(&facts, &next, unwritten_order);
        }
    }

    /// What is on the volume is read once; what cannot be read, each turn: a person may
    /// put it right.
    fn open_transfers(&mut self) {
        let (Some(volume), true) = (&self.volume, self.ledger().is_some()) else { return };
        let is_read = self.transfers.notes.as_ref().is_some_and(|notes| {
            notes.record != Noted::Unread && notes.repository != Repository::Unread
        });
        if is_read {
            return;
        }
        let record = match volume.transfer() {
            Ok(None) => Noted::Nothing,
            Ok(Some(record)) => Noted::Record(Box::new(record)),
            Err(error) => {
                tracing::debug!(error = format!("{error:#}"), "the record cannot be read");
                Noted::Unread
            }
        };
        let repository = match volume.repository() {
            Ok(None) => Repository::None,
            Ok(Some(id)) => Repository::Noted(id),
            Err(error) => {
                tracing::debug!(error = format!("{error:#}"), "the repository cannot be read");
                Repository::Unread
            }
        };
        self.transfers.notes = Some(Notes { record, repository });
    }

    fn ordered(&self) -> Option<&Transfer> {
        self.saved.as_ref()?.spec.transfer.as_ref()
    }

    fn transfer_facts(&self) -> Option<Facts> {
        let (notes, ledger) = (self.transfers.notes.as_ref()?, self.ledger()?);
        let child = match (&self.transfers.running, &self.transfers.ended) {
            (Some(running), _) => Child::Runs { id: running.id.clone() },
            (None, Some((id, attempt))) => {
                Child::Ended { id: id.clone(), last: attempt.last.clone() }
            }
            (None, None) => self.opening().or_else(|| self.rewinding()).unwrap_or(Child::Absent),
        };
        Some(Facts {
            order: self.ordered().map(Order::of),
            noted: notes.record.clone(),
            child,
            host: ledger.host_id.clone(),
            volume: ledger.volume_id.clone(),
            repository: notes.repository.clone(),
            now: Timestamp::now().as_second(),
        })
    }

    /// Bring it to the disk, with what the last try has asked.
    fn note_transfer(&mut self, mut record: Record) -> Result<bool> {
        let volume = self.volume.as_ref().context(NotKnown::Volume)?;
        if let Some((id, attempt)) = &self.transfers.ended
            && *id == record.id
        {
            record.ring = attempt.ring.clone().or(record.ring);
            if !attempt.tokens.is_empty() {
                record.tokens.clone_from(&attempt.tokens);
            }
            if let (Some(kept), Some(captured)) = (&mut record.kept, attempt.kept.clone()) {
                kept.tables = Some(captured.tables);
                kept.keyspaces = Some(captured.keyspaces);
                kept.tokens = captured.tokens;
            }
        }
        let of = match self.ordered().map(|order| Order::of(order).backups) {
            Some(Backups::OfAny) => Of::Restore,
            Some(Backups::OfRing) | None => Of::Backup,
        };
        let volume = volume.clone();
        self.note_tokens(&mut record)?;
        volume.save_transfer(&record, of)?;
        if let (Some(ended), failures) = (&record.ended, record.failures) {
            tracing::info!(id = record.id, ended = ?ended, failures, "transfer ended");
        } else {
            tracing::info!(id = record.id, why = ?record.why, "transfer noted");
        }
        if let Some(notes) = &mut self.transfers.notes {
            let had = match &notes.record {
                Noted::Record(before) => before.kept.clone(),
                Noted::Nothing | Noted::Unread => None,
            };
            if had != record.kept {
                // Whatever it was that nobody needs now.
                self.transfers.swept = None;
            }
            if is_over(had.as_ref(), record.kept.as_ref())
                && let Err(error) = volume.remove_journals()
            {
                let error = format!("{error:#}");
                tracing::warn!(error, "the journals of an earlier backup cannot be removed");
            }
            notes.record = Noted::Record(Box::new(record));
        }
        self.transfers.ended = None;
        self.transfers.opening = None;
        self.transfers.rewinds = None;
        Ok(true)
    }

    fn start_transfer(&mut self) -> Result<bool> {
        let Some(order) = self.ordered().cloned() else { return Ok(false) };
        if let Some(TransferTask::Prepare(_)) = order.work.task() {
            self.note_repository(&order)?;
        }
        if let Some(TransferTask::Open(_)) = order.work.task() {
            self.transfers.ended = None;
            self.open_to_clients(order.id)?;
            return Ok(true);
        }
        if self.rewinds_first(&order) {
            return Ok(true);
        }
        let mut bench = self.transfer_bench(order)?;
        bench.order.bytes_per_second = self.rate_of(&bench.order, 0);
        let (stop, ends) = watch::channel(false);
        let (rate, rates) = watch::channel(bench.order.bytes_per_second);
        let (far, progress) = watch::channel(Progress::default());
        let id = bench.order.id.clone();
        tracing::info!(id, backup = bench.order.backup, "transfer begun, or gone on with");
        self.transfers.running = Some(Running { id: id.clone(), stop, rate, progress });
        self.transfers.ended = None;
        let done = self.done.clone();
        let talk = Talk { stop: ends, rate: rates, progress: far };
        tokio::spawn(async move {
            let attempt = attempt::attempt(&bench, talk).await;
            let _ = done.send(Done::Transfer { id, attempt: attempt.map(Box::new) }).await;
        });
        Ok(true)
    }

    /// Whose backups are taken of this ring: once, and before anything is sent there.
    fn note_repository(&mut self, order: &Transfer) -> Result<()> {
        let (Some(volume), Some(notes)) = (&self.volume, &mut self.transfers.notes) else {
            return Ok(());
        };
        if notes.repository == Repository::None {
            volume.save_repository(&order.repository.id)?;
            notes.repository = Repository::Noted(order.repository.id.clone());
            tracing::info!(repository = order.repository.id, "repository noted");
        }
        Ok(())
    }

    fn stop_transfer(&mut self) {
        // What is noted stays: a member that was opened is not closed again.
        self.transfers.opening = None;
        self.transfers.rewinds = None;
        if let Some(running) = &self.transfers.running
            && !running.stop.send_replace(true)
        {
            tracing::info!(id = running.id, "ending the transfer");
        }
    }

    /// What runs follows the server, and a limit that was changed reaches it.
    fn pace_transfer(&mut self) {
        let running = self.transfers.running.as_ref();
        let Some(waited) = running.map(|r| r.progress.borrow().throttled_milliseconds) else {
            let is_part_of_one = self.ordered().is_some();
            return self.transfers.pace.rest(is_part_of_one);
        };
        let is_it = |order: &&Transfer| running.is_some_and(|running| running.id == order.id);
        let Some(order) = self.ordered().filter(is_it).cloned() else { return };
        let next = self.rate_of(&order, waited);
        if let Some(running) = &self.transfers.running {
            running.rate.send_if_modified(|rate| std::mem::replace(rate, next) != next);
        }
    }

    /// What the running one has done, for metrics.
    fn count_transfer(&mut self) {
        let Some(running) = &self.transfers.running else {
            return self.metrics.note_transfer(None, 0);
        };
        let now = *running.progress.borrow();
        let since = Since::between(&self.transfers.counted, &now);
        self.metrics.count_transfer(&since);
        self.metrics.note_transfer(*running.rate.borrow(), now.left_bytes);
        self.transfers.counted = now;
    }

    /// How fast it may be now, where it has waited for so many milliseconds by itself.
    fn rate_of(&mut self, order: &Transfer, waited: u64) -> Option<u64> {
        let Some(least) = order.minimum_bytes_per_second else {
            self.transfers.pace.rest(true);
            return order.bytes_per_second;
        };
        let limits = Limits { most: order.bytes_per_second, least };
        Some(self.transfers.pace.rate(&limits, waited, Instant::now()))
    }

    /// Note in memory how a try ended; the next turn brings it to the disk.
    pub(super) fn end_transfer(&mut self, id: String, attempt: Option<Attempt>) {
        // What it has told since the last turn.
        self.count_transfer();
        self.transfers.counted = Progress::default();
        self.transfers.running = None;
        // One that was ended by us has not failed.
        self.transfers.ended = attempt.map(|attempt| (id, attempt));
    }

    fn tell_transfer(
        &mut self,
        facts: &Facts,
        next: &Next,
        failed: Option<(String, anyhow::Error)>,
    ) {
        if let Some((id, error)) = failed {
            // In the status of the transfer alone: nothing of it is a trouble of the server.
            let why = Trouble::Transfer { why: format!("{error:#}") };
            self.transfers.status = Some(unwritten(&id, why.to_string()));
            return;
        }
        let progress = self.transfers.running.as_ref().map(|running| *running.progress.borrow());
        self.transfers.status = decide::status(facts, next, progress);
    }

    /// What an agent tells that has not read its order yet: how the last one ended.
    fn tell_last_transfer(&mut self) {
        if let (None, Some(facts)) = (&self.transfers.status, self.transfer_facts()) {
            let facts = Facts { order: None, ..facts };
            self.transfers.status = decide::status(&facts, &Next::Rest, None);
        }
    }

    /// The repository that is noted.
    pub(super) fn repository(&self) -> Option<&str> {
        match &self.transfers.notes.as_ref()?.repository {
            Repository::Noted(id) => Some(id),
            Repository::None | Repository::Unread => None,
        }
    }
}

/// Does another backup take the place of the one that was kept?
fn is_over(had: Option<&Kept>, keeps: Option<&Kept>) -> bool {
    had.zip(keeps).is_some_and(|(had, keeps)| had.backup != keeps.backup)
}
