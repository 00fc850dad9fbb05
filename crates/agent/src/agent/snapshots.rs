//! Snapshots of backups that nobody needs any more are cleared: at the start, hourly,
//! and when another one takes their place. Only with a live spec, and never while it is
//! not known what is needed.

use super::state::{Agent, Done};
use crate::admin::Reading;
use crate::decide::{Process, Source};
use crate::transfer::{snapshot, stale};
use palladion_agent_transfer::decide::{Noted, Repository};
use palladion_agent_transfer::settings::Tag;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// So often they are looked for.
const EVERY: Duration = Duration::from_secs(3600);

impl Agent {
    /// Look for them, if it is time to.
    pub(super) fn look_for_snapshots(&mut self) {
        let is_due = self.transfers.swept.is_none_or(|at| at.elapsed() >= EVERY);
        let (Some(volume), true, false) = (&self.volume, is_due, self.transfers.is_sweeping) else {
            return;
        };
        if self.source() != Source::Live || !self.knows_what_is_kept() || self.is_starting() {
            return;
        }
        let (data, done) = (volume.data_directories(), self.done.clone());
        (self.transfers.swept, self.transfers.is_sweeping) = (Some(Instant::now()), true);
        tokio::spawn(async move {
            let found = snapshot::on_disk(data).await.unwrap_or_else(|error| {
                tracing::warn!(error = error.to_string(), "snapshots cannot be listed");
                BTreeSet::new()
            });
            let _ = done.send(Done::Snapshots(found)).await;
        });
    }

    /// A server that starts reads its snapshots, and cannot be asked to clear one yet.
    fn is_starting(&self) -> bool {
        match self.process {
            Process::Absent => false,
            Process::Running | Process::Unknown(_) => !self.serves(),
        }
    }

    fn serves(&self) -> bool {
        self.reading().is_some_and(Reading::serves)
    }

    fn knows_what_is_kept(&self) -> bool {
        // On a volume of which no backup was ever prepared no snapshot is of one.
        self.transfers.notes.as_ref().is_some_and(|notes| {
            notes.record != Noted::Unread && matches!(notes.repository, Repository::Noted(_))
        })
    }

    /// Clear those that nobody needs now: an order may have come since they were listed.
    pub(super) fn clear_snapshots(&mut self, found: BTreeSet<Tag>) {
        let order = self.saved.as_ref().and_then(|saved| saved.spec.transfer.as_ref());
        let record = match self.transfers.notes.as_ref().map(|notes| &notes.record) {
            Some(Noted::Record(record)) => Some(&**record),
            Some(Noted::Nothing) => None,
            Some(Noted::Unread) | None => return self.transfers.is_sweeping = false,
        };
        let go = stale::stale(found, record, order);
        let (Some(volume), Source::Live, false) = (&self.volume, self.source(), go.is_empty())
        else {
            return self.transfers.is_sweeping = false;
        };
        let admin = self.admin.clone().filter(|_| self.serves());
        let (data, done) = (volume.data_directories(), self.done.clone());
        tokio::spawn(async move {
            for tag in go {
                tracing::info!(tag = tag.as_str(), "clearing a snapshot that no backup needs");
                if let Some(admin) = &admin {
                    snapshot::clear(admin.as_ref(), &tag).await;
                }
                snapshot::remove(data.clone(), tag).await;
            }
            let _ = done.send(Done::Cleared).await;
        });
    }
}
