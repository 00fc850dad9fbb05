//! Metrics of the agent: its own, and the main ones of its server.

mod declared;

use crate::admin::Reading;
use declared::{MODES, MOVED, RESULTS, SEGMENTS};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_agent_core::metrics::{Common, add};
use palladion_agent_transfer::tell::Progress;
use palladion_api::member::{HealthRecord, HealthResult, JobStatus, Liveness};
use palladion_api::metrics::Metric;
use palladion_api::repair::RepairStatus;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

type Number = Gauge<f64, AtomicU64>;

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Mode {
    mode: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Moved {
    kind: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Outcome {
    result: &'static str,
}

/// Every metric of the agent.
pub fn declared() -> Vec<Metric> {
    [palladion_agent_core::metrics::DECLARED, declared::DECLARED].concat()
}

/// How a segment of a repair ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SegmentResult {
    /// It was repaired, and counts.
    Done,
    /// It was not, or does not count.
    Failed,
    /// It was stopped and cut in halves.
    TooLong,
    /// The job was stopped, or the server ended.
    Interrupted,
}

/// What a transfer has done in some time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Since {
    /// Bytes that went to a store.
    pub sent: u64,
    /// Bytes that an earlier backup had sent.
    pub reused: u64,
    /// Bytes that came from a store.
    pub fetched: u64,
    /// For so long it has waited by itself.
    pub throttled: Duration,
}

impl Since {
    /// Between what a process has told now and before; another process counts anew.
    pub fn between(before: &Progress, now: &Progress) -> Self {
        let done = |of: fn(&Progress) -> u64| {
            let (before, now) = (of(before), of(now));
            now.checked_sub(before).unwrap_or(now)
        };
        Self {
            sent: done(|p| p.sent_bytes),
            reused: done(|p| p.reused_bytes),
            fetched: done(|p| p.read_bytes),
            throttled: Duration::from_millis(done(|p| p.throttled_milliseconds)),
        }
    }
}

/// All metrics.
#[derive(Debug, Default)]
pub struct Metrics {
    /// What every agent counts.
    pub common: Common,
    mode: Family<Mode, Gauge>,
    health: Family<Outcome, Gauge>,
    native: Gauge,
    live: Gauge,
    down: Gauge,
    load: Number,
    pending: Number,
    heap: Number,
    clients: Number,
    job: Number,
    repair_oldest: Number,
    repair_behind: Number,
    repair_due: Gauge,
    segments: Family<Outcome, Counter>,
    intensity: Number,
    backup_bytes: Family<Moved, Counter>,
    backup_throttled: Counter<f64, AtomicU64>,
    backup_rate: Gauge,
    backup_snapshot: Gauge,
    archive_lag: Gauge,
    archive_local: Gauge,
    archive_gaps: Counter,
    cdc_bytes: Gauge,
    cdc_segments: Gauge,
    cdc_oldest: Gauge,
    registry: Mutex<Option<Registry>>,
}

impl Metrics {
    /// Registered.
    pub fn new() -> Self {
        let metrics = Self::default();
        let mut all = Registry::default();
        metrics.register(&mut all);
        *metrics.registry.lock().unwrap_or_else(PoisonError::into_inner) = Some(all);
        metrics
    }

    fn register(&self, all: &mut Registry) {
        self.common.register(all);
        add(all, &declared::MODE, self.mode.clone());
        add(all, &declared::HEALTH, self.health.clone());
        add(all, &declared::NATIVE_TRANSPORT, self.native.clone());
        add(all, &declared::LIVE, self.live.clone());
        add(all, &declared::DOWN, self.down.clone());
        add(all, &declared::LOAD, self.load.clone());
        add(all, &declared::PENDING_COMPACTIONS, self.pending.clone());
        add(all, &declared::HEAP, self.heap.clone());
        add(all, &declared::CLIENTS, self.clients.clone());
        add(all, &declared::JOB_PROGRESS, self.job.clone());
        add(all, &declared::REPAIR_OLDEST, self.repair_oldest.clone());
        add(all, &declared::REPAIR_BEHIND, self.repair_behind.clone());
        add(all, &declared::REPAIR_DUE, self.repair_due.clone());
        add(all, &declared::REPAIR_SEGMENTS, self.segments.clone());
        add(all, &declared::REPAIR_INTENSITY, self.intensity.clone());
        add(all, &declared::BACKUP_BYTES, self.backup_bytes.clone());
        add(all, &declared::BACKUP_THROTTLED, self.backup_throttled.clone());
        add(all, &declared::BACKUP_RATE, self.backup_rate.clone());
        add(all, &declared::BACKUP_SNAPSHOT, self.backup_snapshot.clone());
        for kind in MOVED.iter().copied() {
            drop(self.backup_bytes.get_or_create(&Moved { kind }));
        }
        add(all, &declared::ARCHIVE_LAG, self.archive_lag.clone());
        add(all, &declared::ARCHIVE_LOCAL, self.archive_local.clone());
        add(all, &declared::ARCHIVE_GAPS, self.archive_gaps.clone());
        add(all, &declared::CDC_BYTES, self.cdc_bytes.clone());
        add(all, &declared::CDC_SEGMENTS, self.cdc_segments.clone());
        add(all, &declared::CDC_OLDEST, self.cdc_oldest.clone());
        for result in SEGMENTS.iter().copied() {
            drop(self.segments.get_or_create(&Outcome { result }));
        }
    }

    /// Note how far the job is.
    pub fn note_job(&self, job: Option<&JobStatus>) {
        let running = job.filter(|job| !job.state.is_final());
        self.job.set(running.and_then(|job| job.progress).map_or(0.0, |p| f64::from(p) / 100.0));
    }

    /// Note how far the repair of the member's ranges is, at this second; `None` where
    /// no schedule covers the ring.
    pub fn note_repair(&self, status: Option<&RepairStatus>, due_ranges: u32, now: i64) {
        let since = |time: Option<&Time>| {
            let seconds = time.map_or(0, |time| now.saturating_sub(time.0.as_second()).max(0));
            // Seconds of centuries fit.
            seconds as f64
        };
        self.repair_oldest.set(since(status.and_then(|s| s.oldest_at.as_ref())));
        self.repair_behind.set(since(status.and_then(|s| s.due_at.as_ref())));
        self.repair_due.set(i64::from(due_ranges));
    }

    /// A segment has ended.
    pub fn count_segment(&self, result: SegmentResult) {
        let result = match result {
            SegmentResult::Done => "Done",
            SegmentResult::Failed => "Failed",
            SegmentResult::TooLong => "TooLong",
            SegmentResult::Interrupted => "Interrupted",
        };
        self.segments.get_or_create(&Outcome { result }).inc();
    }

    /// Note for which share of the time it repairs.
    pub fn note_intensity(&self, share: f64) {
        self.intensity.set(share);
    }

    /// Count what a transfer has done since it was counted last.
    pub fn count_transfer(&self, since: &Since) {
        let moved = [("Sent", since.sent), ("Reused", since.reused), ("Fetched", since.fetched)];
        for (kind, bytes) in moved {
            self.backup_bytes.get_or_create(&Moved { kind }).inc_by(bytes);
        }
        self.backup_throttled.inc_by(since.throttled.as_secs_f64());
    }

    /// Note what runs: how fast it may be, and what is left of its snapshot.
    pub fn note_transfer(&self, rate: Option<u64>, left_bytes: u64) {
        let number = |of: u64| i64::try_from(of).unwrap_or(i64::MAX);
        self.backup_rate.set(number(rate.unwrap_or_default()));
        self.backup_snapshot.set(number(left_bytes));
    }

    /// Note how far the archive of the commit log is behind, and what waits for it.
    pub fn note_archive(&self, lag_seconds: i64, local_bytes: u64) {
        self.archive_lag.set(lag_seconds);
        self.archive_local.set(i64::try_from(local_bytes).unwrap_or(i64::MAX));
    }

    /// Note what waits for readers of changes, and for how long.
    pub fn note_cdc(&self, bytes: u64, segments: u32, oldest: Duration) {
        self.cdc_bytes.set(i64::try_from(bytes).unwrap_or(i64::MAX));
        self.cdc_segments.set(i64::from(segments));
        self.cdc_oldest.set(i64::try_from(oldest.as_secs()).unwrap_or(i64::MAX));
    }

    /// So many windows of it have ended.
    pub fn count_gaps(&self, gaps: u64) {
        self.archive_gaps.inc_by(gaps);
    }

    /// Note the health that holds now; none while nobody has looked for long enough.
    pub fn note_health(&self, records: &[HealthRecord]) {
        let open = records.first().filter(|record| record.until.is_none());
        let now = open.and_then(|open| match open.result {
            HealthResult::Healthy => Some("Healthy"),
            HealthResult::Unhealthy => Some("Unhealthy"),
            HealthResult::NoAnswer => Some("NoAnswer"),
            HealthResult::Unknown => None,
        });
        for result in RESULTS.iter().copied() {
            let is_now = i64::from(now == Some(result));
            self.health.get_or_create(&Outcome { result }).set(is_now);
        }
    }

    /// Note a look at the server; `None` where none runs.
    pub fn note(&self, reading: Option<&Reading>) {
        let mode = reading.and_then(|r| r.mode.as_deref());
        let known =
            mode.map(|m| MODES.iter().find(|known| **known == m).copied().unwrap_or("OTHER"));
        for name in MODES.iter().copied() {
            self.mode.get_or_create(&Mode { mode: name }).set(i64::from(Some(name) == known));
        }
        self.native.set(i64::from(reading.is_some_and(|r| r.native_transport == Some(true))));
        let count = |liveness| {
            let members = reading.and_then(|r| r.members.as_ref());
            let count =
                members.map_or(0, |all| all.iter().filter(|m| m.liveness == liveness).count());
            i64::try_from(count).unwrap_or(i64::MAX)
        };
        self.live.set(count(Liveness::Up));
        self.down.set(count(Liveness::Down));
        let figures = reading.map(|r| r.figures).unwrap_or_default();
        self.load.set(figures.load.unwrap_or_default());
        self.pending.set(figures.pending_compactions.unwrap_or_default());
        self.heap.set(figures.heap_used.unwrap_or_default());
        self.clients.set(figures.clients.unwrap_or_default());
    }

    /// In Prometheus' text format.
    pub fn text(&self) -> String {
        let registry = self.registry.lock().unwrap_or_else(PoisonError::into_inner);
        self.common.text(registry.as_ref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_served_is_what_is_declared() {
        let metrics = Metrics::new();
        metrics.note(None);
        metrics.note_health(&[]);
        let found = palladion_api::metrics::differences(&declared(), &metrics.text());
        assert_eq!(found, Vec::<String>::new());
    }

    #[test]
    fn what_processes_have_done_adds_up() {
        let metrics = Metrics::new();
        let told = |sent_bytes, throttled_milliseconds| Progress {
            sent_bytes,
            throttled_milliseconds,
            ..Progress::default()
        };
        let mut before = told(0, 0);
        for now in [told(100, 250), told(150, 500), told(150, 500), told(40, 0)] {
            metrics.count_transfer(&Since::between(&before, &now));
            before = now;
        }
        metrics.note_transfer(Some(4096), 7);
        let text = metrics.text();
        for line in [
            "palladion_backup_bytes_total{kind=\"Sent\"} 190",
            "palladion_backup_bytes_total{kind=\"Fetched\"} 0",
            "palladion_backup_throttled_seconds_total 0.5",
            "palladion_backup_rate_bytes_per_second 4096",
            "palladion_backup_snapshot_bytes 7",
        ] {
            assert!(text.lines().any(|l| l == line), "{line}\n{text}");
        }
    }

    #[test]
    fn of_the_results_of_health_one_holds_or_none() {
        let metrics = Metrics::new();
        let mut record = HealthRecord {
            result: HealthResult::NoAnswer,
            since: crate::volume::seconds(jiff::Timestamp::UNIX_EPOCH),
            until: None,
            mode: None,
            native_transport: None,
            gossip: None,
            message: None,
        };
        let says = |line: &str| metrics.text().lines().any(|l| l == line);
        metrics.note_health(std::slice::from_ref(&record));
        assert!(says("palladion_agent_server_health{result=\"NoAnswer\"} 1"));
        assert!(says("palladion_agent_server_health{result=\"Healthy\"} 0"));
        record.until = Some(record.since.clone());
        metrics.note_health(std::slice::from_ref(&record));
        assert!(says("palladion_agent_server_health{result=\"NoAnswer\"} 0"));
    }

    #[test]
    fn a_mode_is_one_of_a_known_set() {
        let metrics = Metrics::new();
        let mut reading = Reading {
            mode: Some("NORMAL".into()),
            native_transport: Some(true),
            ..Reading::default()
        };
        metrics.note(Some(&reading));
        let text = metrics.text();
        assert!(text.contains("palladion_agent_server_mode{mode=\"NORMAL\"} 1"), "{text}");
        assert!(text.contains("palladion_agent_server_native_transport 1"));
        reading.mode = Some("SOMETHING_NEW".into());
        metrics.note(Some(&reading));
        let text = metrics.text();
        assert!(text.contains("mode=\"OTHER\"} 1") && text.contains("mode=\"NORMAL\"} 0"));
    }
}
