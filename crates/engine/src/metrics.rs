//! The engine's metrics. Labels are bounded: minds, verbs, kinds, outcomes;
//! never the name of an object.

use crate::error::ApiError;
use palladion_plan::FailureClass;
use prometheus_client::encoding::{EncodeLabelSet, EncodeLabelValue};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;
use std::time::Duration;

/// What was asked of the API server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EncodeLabelValue)]
#[allow(missing_docs)]
pub enum Verb {
    Get,
    List,
    Watch,
    Create,
    Apply,
    Patch,
    Update,
    Delete,
}

/// How a request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EncodeLabelValue)]
#[allow(missing_docs)]
pub enum RequestOutcome {
    Ok,
    NotFound,
    Conflict,
    Transient,
    Refused,
}

/// How a decision ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EncodeLabelValue)]
pub enum ReconcileOutcome {
    /// Nothing had to be done.
    AtRest,
    /// Every step was carried out.
    Done,
    /// A step failed.
    Failed,
    /// The plan linter refused the plan.
    Vetoed,
    /// The mind panicked.
    Panicked,
    /// Not decided yet: a first list or an own write has not arrived.
    Deferred,
}

/// Why a watch was opened again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EncodeLabelValue)]
pub enum RestartCause {
    /// It came to its ordinary end.
    Ended,
    /// It failed.
    Failed,
    /// The server has forgotten the version: everything is listed again.
    Expired,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    verb: Verb,
    kind: &'static str,
    outcome: RequestOutcome,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ReconcileLabels {
    mind: &'static str,
    outcome: ReconcileOutcome,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RoomLabels {
    mind: &'static str,
    room: Room,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RestartLabels {
    kind: &'static str,
    cause: RestartCause,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct KindLabels {
    kind: &'static str,
}

/// A room of the reconcile whose time is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EncodeLabelValue)]
#[allow(missing_docs)]
pub enum Room {
    Gather,
    Decide,
    Apply,
    Report,
}

/// All metrics of the engine.
#[derive(Clone)]
pub struct Metrics {
    requests: Family<RequestLabels, Counter>,
    reconciles: Family<ReconcileLabels, Counter>,
    seconds: Family<RoomLabels, Histogram>,
    restarts: Family<RestartLabels, Counter>,
    objects: Family<KindLabels, Gauge>,
    bytes: Family<KindLabels, Gauge>,
    /// Keys that wait to be decided.
    pub queue_depth: Gauge,
    /// 1 while this process is the leader.
    pub leader: Gauge,
    /// Epoch of the leadership.
    pub epoch: Gauge,
    /// Own writes that did not come back through the watch in time.
    pub late_expectations: Counter,
    resident: Gauge,
}

impl Default for Metrics {
    fn default() -> Self {
        Self {
            requests: Family::default(),
            reconciles: Family::default(),
            seconds: Family::new_with_constructor(|| {
                Histogram::new([0.000_1, 0.001, 0.01, 0.1, 1.0, 10.0])
            }),
            restarts: Family::default(),
            objects: Family::default(),
            bytes: Family::default(),
            queue_depth: Gauge::default(),
            leader: Gauge::default(),
            epoch: Gauge::default(),
            late_expectations: Counter::default(),
            resident: Gauge::default(),
        }
    }
}

impl Metrics {
    /// Name everything in a registry.
    pub fn register(&self, registry: &mut Registry) {
        let registry = registry.sub_registry_with_prefix("palladion");
        registry.register("api_requests", "Requests to the API server", self.requests.clone());
        registry.register("reconciles", "Decisions by outcome", self.reconciles.clone());
        registry.register(
            "room_seconds",
            "Time spent in each room of a reconcile",
            self.seconds.clone(),
        );
        registry.register("watch_restarts", "Watches opened again", self.restarts.clone());
        registry.register("store_objects", "Objects held in memory", self.objects.clone());
        registry.register("store_bytes", "Bytes of the objects held in memory", self.bytes.clone());
        registry.register("queue_depth", "Keys that wait to be decided", self.queue_depth.clone());
        registry.register("leader", "1 while this process is the leader", self.leader.clone());
        registry.register("leader_epoch", "Epoch of the leadership", self.epoch.clone());
        registry.register(
            "late_expectations",
            "Own writes that the watch did not show in time",
            self.late_expectations.clone(),
        );
        registry.register(
            "resident_memory_bytes",
            "Resident memory of this process",
            self.resident.clone(),
        );
    }

    /// Count a request.
    pub fn request<T>(&self, verb: Verb, kind: &'static str, answer: &Result<T, ApiError>) {
        let outcome = match answer {
            Ok(_) => RequestOutcome::Ok,
            Err(error) if error.is_not_found() => RequestOutcome::NotFound,
            Err(error) => match error.class() {
                FailureClass::Conflict | FailureClass::Foreign => RequestOutcome::Conflict,
                FailureClass::Transient => RequestOutcome::Transient,
                FailureClass::Refused => RequestOutcome::Refused,
            },
        };
        self.requests.get_or_create(&RequestLabels { verb, kind, outcome }).inc();
    }

    /// Count a decision.
    pub fn reconcile(&self, mind: &'static str, outcome: ReconcileOutcome) {
        self.reconciles.get_or_create(&ReconcileLabels { mind, outcome }).inc();
    }

    /// Add time spent in a room.
    pub fn room(&self, mind: &'static str, room: Room, time: Duration) {
        self.seconds.get_or_create(&RoomLabels { mind, room }).observe(time.as_secs_f64());
    }

    /// Count a watch that was opened again.
    pub fn restart(&self, kind: &'static str, cause: RestartCause) {
        self.restarts.get_or_create(&RestartLabels { kind, cause }).inc();
    }

    /// State what the store holds of a kind.
    pub fn store(&self, kind: &'static str, objects: usize, bytes: usize) {
        let labels = KindLabels { kind };
        self.objects.get_or_create(&labels).set(i64::try_from(objects).unwrap_or(i64::MAX));
        self.bytes.get_or_create(&labels).set(i64::try_from(bytes).unwrap_or(i64::MAX));
    }

    /// Read this process' resident memory, where the system tells it.
    pub fn measure_memory(&self) {
        if let Some(bytes) = resident_bytes() {
            self.resident.set(bytes);
        }
    }
}

/// `VmRSS` of `/proc/self/status`, in bytes.
fn resident_bytes() -> Option<i64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|l| l.starts_with("VmRSS:"))?;
    let kib: i64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib * 1024)
}
