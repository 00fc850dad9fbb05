//! The archive of the commit log: when it is looked for what is new, and what is told of it. It is
//! a work of its own, beside transfers, jobs and repairs.

use super::state::{Agent, Done};
use crate::archive::{self, Bench, Outcome};
use crate::decide::Process;
use crate::launch_record::LaunchRecord;
use crate::report::hash_sorted;
use crate::volume::seconds;
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_agent_transfer::archive::{Cursor, Ends, note};
use palladion_agent_transfer::words::stopped::Stopped;
use palladion_api::backup::{ArchiveGap, ArchiveOrder, ArchiveState, ArchiveStatus};
use std::time::{Duration, Instant};

/// Looks for each span of what may be lost: one may fail.
const LOOKS: u32 = 3;
/// What is behind goes on after this time.
const SOON: Duration = Duration::from_secs(1);
/// What moves all the time is told this often.
const TOLD: Duration = Duration::from_secs(60);
/// Characters of a message.
const MESSAGE: usize = 500;
/// What waits is told in whole mebibytes.
const MIB: u64 = 1024 * 1024;

impl Agent {
    /// Look for what is new, if it is time to.
    pub(super) fn archive(&mut self) {
        let Some(order) = self.archived() else { return };
        self.follow_archive(&order);
        let every = Duration::from_secs(u64::from(order.max_loss_seconds)) / LOOKS;
        let pause = if self.archive.last.is_more { SOON } else { every };
        let is_due = self.archive.begun.is_none_or(|at| at.elapsed() >= pause);
        if self.archive.is_under_way || !is_due {
            return;
        }
        // Without the server nobody says of which schema the bytes are: they wait for it.
        let Some(bench) = self.archive_bench(order.clone()) else {
            return self.miss_look(&order);
        };
        (self.archive.begun, self.archive.is_under_way) = (Some(Instant::now()), true);
        self.archive.trying_since.get_or_insert(Instant::now());
        let done = self.done.clone();
        tokio::spawn(async move {
            let outcome = archive::attempt(bench).await;
            let _ = done.send(Done::Archived(outcome)).await;
        });
    }

    /// A server that runs takes writes, though nobody looks at them: they are not archived.
    fn miss_look(&mut self, order: &ArchiveOrder) {
        let is_open = self.cursor().is_some_and(|cursor| cursor.since.is_some());
        if !is_open || self.process != Process::Running {
            return;
        }
        self.archive.trying_since.get_or_insert(Instant::now());
        if self.is_late(order) {
            self.archive.last.failed = Some(Stopped::NotLooked.to_string());
        }
    }

    fn is_late(&self, order: &ArchiveOrder) -> bool {
        let most = Duration::from_secs(2 * u64::from(order.max_loss_seconds));
        self.archive.trying_since.is_some_and(|since| since.elapsed() > most)
    }

    fn cursor(&self) -> Option<&Cursor> {
        let note = self.archive.note.iter().flatten().next();
        note.map(|note| &note.cursor)
    }

    /// The order, if the server was started for it and the repository is this ring's.
    fn archived(&self) -> Option<ArchiveOrder> {
        self.mounted.as_ref().ok()?.config.archive?;
        let order = self.saved.as_ref()?.spec.archive.clone()?;
        (self.repository()? == order.repository.id).then_some(order)
    }

    /// What is on the volume is read once, and its limit follows the order.
    fn follow_archive(&mut self, order: &ArchiveOrder) {
        let (Some(volume), Some(host)) =
            (&self.volume, self.ledger().and_then(|ledger| ledger.host_id.clone()))
        else {
            return;
        };
        let places = volume.archive();
        if self.archive.note.is_none() {
            match note::read(&places, &order.repository.id, host.as_str()) {
                Ok(note) => self.archive.note = Some(note),
                Err(error) => self.archive.last.failed = Some(error.to_string()),
            }
        }
        let limit = Some(order.max_local_bytes);
        if self.archive.limit != limit {
            match note::limit(&places, order.max_local_bytes) {
                Ok(()) => self.archive.limit = limit,
                Err(error) => {
                    tracing::warn!(%error, "the limit of the archive cannot be written");
                }
            }
        }
    }

    fn archive_bench(&self, order: ArchiveOrder) -> Option<Bench> {
        let reading = self.reading().filter(|reading| reading.is_full_member())?;
        let tokens = reading.tokens.as_ref()?;
        let config = &self.mounted.as_ref().ok()?.config;
        Some(Bench {
            order,
            own: self.own(None).ok()?,
            places: self.volume.as_ref()?.archive(),
            host: self.ledger()?.host_id.as_ref()?.to_string(),
            cql: self.sealed_endpoint().unwrap_or_else(|| self.endpoint(config)),
            tokens_hash: hash_sorted(tokens.iter().map(String::as_str)),
            admin: self.admin.clone()?,
            caught_up: self.archive.last.caught_up,
        })
    }

    /// Note what a look has come to.
    pub(super) fn end_archive(&mut self, outcome: Outcome) {
        self.archive.is_under_way = false;
        let before = std::mem::take(&mut self.archive.last);
        // Where nothing can be sent yet, nothing is behind.
        if outcome.caught_up.is_some() || outcome.waits_for.is_some() {
            self.archive.trying_since = None;
        }
        let caught_up = outcome.caught_up.or(before.caught_up.filter(|_| !outcome.is_other));
        // What fails is tried three times a minute, and logged once: it says how long each took.
        if let (Some(why), None) = (&outcome.failed, &before.failed) {
            tracing::warn!(why, "the commit log could not be archived; trying again");
        }
        self.archive.last = Outcome { caught_up, ..outcome };
        // It is read again: the child has written it.
        let gaps = self.gaps();
        self.archive.note = None;
        if let Some(order) = self.archived() {
            self.follow_archive(&order);
        }
        if let (Some(before), Some(now)) = (gaps, self.gaps()) {
            self.metrics.count_gaps(now.saturating_sub(before));
        }
    }

    fn gaps(&self) -> Option<u64> {
        self.archive.note.as_ref().map(|note| note.as_ref().map_or(0, |note| note.cursor.gaps))
    }

    /// Before a start: what the server writes then follows what it wrote before, or it does not.
    pub(super) fn note_run(&self, record: &LaunchRecord) {
        let (Some(volume), Ok(mounted)) = (&self.volume, &self.mounted) else { return };
        let places = volume.archive();
        let noted = match mounted.config.archive {
            Some(_) if !record.closed => note::begin(&places, &record.tag),
            Some(_) => note::breaks(&places, &Ends::Off.to_string()),
            None => note::ends(&places, &Ends::Off.to_string()),
        };
        if let Err(error) = noted {
            // The database goes on: the archive has a gap.
            tracing::warn!(%error, "a start of the server cannot be noted for the archive");
        }
    }

    /// What is told of it: its state at once, and how far it is once a minute at the most.
    pub(super) fn told_archive(&mut self) -> Option<ArchiveStatus> {
        let order = self.saved.as_ref().and_then(|saved| saved.spec.archive.clone());
        let Some(order) = order else {
            self.archive.told = None;
            return None;
        };
        let mut now = self.archive_status(&order);
        if let Some((told, at)) = &self.archive.told {
            let key = |status: &ArchiveStatus| {
                let waits = status.state == ArchiveState::Waiting && status.message.is_some();
                (status.state, waits, status.since.clone(), status.window, status.gap.clone())
            };
            let is_same = key(told) == key(&now);
            if is_same && (*told == now || at.elapsed() < TOLD) {
                return Some(told.clone());
            }
            if is_same && now.message.is_some() {
                // In other words, as each try takes another time.
                now.message = told.message.clone().or(now.message);
            }
            if is_same && *told == now {
                return Some(told.clone());
            }
        }
        self.archive.told = Some((now.clone(), Instant::now()));
        Some(now)
    }

    fn archive_status(&self, order: &ArchiveOrder) -> ArchiveStatus {
        let note = self.archive.note.iter().flatten().next();
        let cursor = note.map(|note| &note.cursor);
        let since = cursor.and_then(|cursor| cursor.since);
        let until = cursor.filter(|_| since.is_some()).map(|cursor| cursor.until);
        let gap = cursor.and_then(|cursor| cursor.gap.clone());
        let last = &self.archive.last;
        let why = last.failed.as_ref().or(last.waits_for.as_ref());
        let message = why.map(|why| why.chars().take(MESSAGE).collect());
        ArchiveStatus {
            state: self.archive_state(order, since.is_some()),
            since: since.map(time),
            schema_since: cursor
                .filter(|cursor| cursor.schema_since > 0)
                .map(|c| time(c.schema_since)),
            until: until.map(time),
            window: note.map(|note| note.window).unwrap_or_default(),
            local_bytes: last.waits / MIB * MIB,
            gap: gap.map(|(at, why)| ArchiveGap { at: time(at), why }),
            message,
        }
    }

    /// What does not run acknowledges nothing, so it is behind by the time in which it was tried.
    fn archive_state(&self, order: &ArchiveOrder, is_open: bool) -> ArchiveState {
        match (self.archived(), self.is_late(order), is_open) {
            (None, _, _) | (Some(_), false, false) => ArchiveState::Waiting,
            (Some(_), true, _) => ArchiveState::Behind,
            (Some(_), false, true) => ArchiveState::Current,
        }
    }

    /// For so many seconds nothing that was acknowledged is known to be archived.
    pub(super) fn archive_lag(&self) -> Option<i64> {
        let noted = self.archive.note.iter().flatten().next().map(|note| note.cursor.until);
        let until = self.archive.last.caught_up.max(noted)?;
        Some(Timestamp::now().as_second().saturating_sub(until).max(0))
    }

    /// Figures of it.
    pub(super) fn measure_archive(&self) {
        let lag = self.archived().and_then(|_| self.archive_lag());
        self.metrics.note_archive(lag.unwrap_or_default(), self.archive.last.waits);
    }
}

fn time(at: i64) -> Time {
    seconds(Timestamp::from_second(at).unwrap_or_default())
}
