//! The operator's metrics. Labels are bounded: controllers, verbs, kinds,
//! outcomes; never the name of an object.

mod declared;
mod labels;
mod minds;

pub use declared::DECLARED;
pub use labels::{ReconcileOutcome, RequestOutcome, RestartCause, Stage, Verb};

use crate::error::ApiError;
use labels::{Values, values};
use minds::OfMinds;
use palladion_api::metrics::Metric;
use palladion_plan::{FailureClass, Mind};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{self, Registry};
use std::sync::Arc;
use std::time::Duration;

/// All metrics of the engine.
#[derive(Clone)]
pub struct Metrics {
    requests: Family<Values<3>, Counter>,
    reconciles: Family<Values<2>, Counter>,
    seconds: Family<Values<2>, Histogram>,
    restarts: Family<Values<2>, Counter>,
    objects: Family<Values<1>, Gauge>,
    bytes: Family<Values<1>, Gauge>,
    /// Objects waiting to be reconciled.
    pub queue_depth: Gauge,
    /// Owners that may be decided side by side.
    pub at_once: Gauge,
    /// 1 while this process is the leader.
    pub leader: Gauge,
    /// Epoch of the leadership.
    pub epoch: Gauge,
    /// Own writes that did not come back through the watch in time.
    pub late_expectations: Counter,
    /// Region locks that are held.
    pub locks_held: Gauge,
    /// Region locks that were lost.
    pub locks_lost: Counter,
    lock_wait: Histogram,
    resident: Gauge,
    /// Those of the minds.
    pub minds: OfMinds,
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
            at_once: Gauge::default(),
            leader: Gauge::default(),
            epoch: Gauge::default(),
            late_expectations: Counter::default(),
            locks_held: Gauge::default(),
            locks_lost: Counter::default(),
            lock_wait: Histogram::new([1.0, 10.0, 60.0, 600.0, 3600.0, 86400.0]),
            resident: Gauge::default(),
            minds: OfMinds::default(),
        }
    }
}

impl Metrics {
    /// With those that these minds declare.
    pub fn of(minds: &[Arc<dyn Mind>]) -> Self {
        Self { minds: OfMinds::new(minds), ..Self::default() }
    }

    /// Register everything under its declared name.
    pub fn register(&self, all: &mut Registry) {
        add(all, &declared::API_REQUESTS, self.requests.clone());
        add(all, &declared::RECONCILES, self.reconciles.clone());
        add(all, &declared::STAGE_DURATION, self.seconds.clone());
        add(all, &declared::WATCH_RESTARTS, self.restarts.clone());
        add(all, &declared::STORE_OBJECTS, self.objects.clone());
        add(all, &declared::STORE_BYTES, self.bytes.clone());
        add(all, &declared::QUEUE_DEPTH, self.queue_depth.clone());
        add(all, &declared::AT_ONCE, self.at_once.clone());
        add(all, &declared::LEADER, self.leader.clone());
        add(all, &declared::LEADER_EPOCH, self.epoch.clone());
        add(all, &declared::LATE_EXPECTATIONS, self.late_expectations.clone());
        add(all, &declared::LOCKS_HELD, self.locks_held.clone());
        add(all, &declared::LOCK_WAIT, self.lock_wait.clone());
        add(all, &declared::LOCKS_LOST, self.locks_lost.clone());
        add(all, &declared::RESIDENT_MEMORY, self.resident.clone());
        self.minds.register(all);
    }

    /// Count a request.
    pub fn request<T>(&self, verb: Verb, kind: &'static str, answer: &Result<T, ApiError>) {
        let outcome = match answer {
            Ok(_) => RequestOutcome::Ok,
            Err(error) if error.is_not_found() => RequestOutcome::NotFound,
            Err(error) => match error.class() {
                FailureClass::Conflict | FailureClass::Foreign => RequestOutcome::Conflict,
                FailureClass::Transient | FailureClass::Held => RequestOutcome::Transient,
                FailureClass::Refused => RequestOutcome::Refused,
            },
        };
        let labels = [verb.as_str(), kind, outcome.as_str()];
        self.requests.get_or_create(&values(&declared::API_REQUESTS, labels)).inc();
    }

    /// Count a reconcile.
    pub fn reconcile(&self, controller: &'static str, outcome: ReconcileOutcome) {
        let labels = values(&declared::RECONCILES, [controller, outcome.as_str()]);
        self.reconciles.get_or_create(&labels).inc();
    }

    /// Add time spent in a stage.
    pub fn stage(&self, controller: &'static str, stage: Stage, time: Duration) {
        let labels = values(&declared::STAGE_DURATION, [controller, stage.as_str()]);
        self.seconds.get_or_create(&labels).observe(time.as_secs_f64());
    }

    /// A region lock is held that was waited for so long.
    pub fn lock_waited(&self, waited: Duration) {
        self.lock_wait.observe(waited.as_secs_f64());
    }

    /// Count a watch that was opened again.
    pub fn restart(&self, kind: &'static str, cause: RestartCause) {
        let labels = values(&declared::WATCH_RESTARTS, [kind, cause.as_str()]);
        self.restarts.get_or_create(&labels).inc();
    }

    /// State what the store holds of a kind.
    pub fn store(&self, kind: &'static str, objects: usize, bytes: usize) {
        let labels = values(&declared::STORE_OBJECTS, [kind]);
        self.objects.get_or_create(&labels).set(i64::try_from(objects).unwrap_or(i64::MAX));
        self.bytes.get_or_create(&labels).set(i64::try_from(bytes).unwrap_or(i64::MAX));
    }

    /// Read this process' resident memory, where the system offers it.
    pub fn measure_memory(&self) {
        if let Some(bytes) = resident_bytes() {
            self.resident.set(bytes);
        }
    }
}

fn add(all: &mut Registry, declared: &Metric, metric: impl registry::Metric) {
    all.register(declared.registered_name(), declared.help, metric);
}

/// `VmRSS` of `/proc/self/status`, in bytes.
fn resident_bytes() -> Option<i64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|l| l.starts_with("VmRSS:"))?;
    let kib: i64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_served_is_what_is_declared() {
        let metrics = Metrics::default();
        let mut registry = Registry::default();
        metrics.register(&mut registry);
        metrics.request(Verb::Get, "StatefulSet", &Ok(()));
        metrics.reconcile("cassandra", ReconcileOutcome::AtRest);
        metrics.stage("cassandra", Stage::Decide, Duration::from_millis(1));
        metrics.restart("StatefulSet", RestartCause::Ended);
        metrics.store("StatefulSet", 1, 1);
        let mut text = String::new();
        prometheus_client::encoding::text::encode(&mut text, &registry).unwrap();
        assert_eq!(palladion_api::metrics::differences(DECLARED, &text), Vec::<String>::new());
        let stage = "stage_duration_seconds_count{controller=\"cassandra\",stage=\"decide\"} 1";
        assert!(text.contains(stage), "{text}");
    }
}
