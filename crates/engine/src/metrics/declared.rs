//! Every metric of the operator: the reference page is generated from here.

use super::labels;
use palladion_api::metrics::Metric;

pub(super) const API_REQUESTS: Metric = Metric::counter(
    "palladion_api_requests_total",
    labels::REQUEST,
    "Requests to the Kubernetes API server",
);
pub(super) const RECONCILES: Metric =
    Metric::counter("palladion_reconciles_total", labels::RECONCILE, "Reconciles by outcome");
pub(super) const STAGE_DURATION: Metric = Metric::histogram(
    "palladion_reconcile_stage_duration_seconds",
    labels::STAGE,
    "Time spent in each stage of a reconcile",
);
pub(super) const WATCH_RESTARTS: Metric = Metric::counter(
    "palladion_watch_restarts_total",
    labels::RESTART,
    "Watches that were reopened",
);
pub(super) const STORE_OBJECTS: Metric =
    Metric::gauge("palladion_store_objects", labels::BY_KIND, "Objects held in memory");
pub(super) const STORE_BYTES: Metric =
    Metric::gauge("palladion_store_bytes", labels::BY_KIND, "Bytes of the objects held in memory");
pub(super) const QUEUE_DEPTH: Metric =
    Metric::gauge("palladion_queue_depth", &[], "Objects waiting to be reconciled");
pub(super) const AT_ONCE: Metric = Metric::gauge(
    "palladion_reconciles_at_once",
    &[],
    "Objects that may be reconciled side by side: 64, and fewer while the API server does not keep up",
);
pub(super) const LEADER: Metric =
    Metric::gauge("palladion_leader", &[], "1 while this process is the leader, otherwise 0");
pub(super) const LEADER_EPOCH: Metric = Metric::gauge(
    "palladion_leader_epoch",
    &[],
    "Epoch of the current leadership; each new leader raises it",
);
pub(super) const LATE_EXPECTATIONS: Metric = Metric::counter(
    "palladion_late_expectations_total",
    &[],
    "Writes of the operator that its own watches did not show in time",
);
pub(super) const LOCKS_HELD: Metric =
    Metric::gauge("palladion_region_lock_held", &[], "Region locks that this operator holds");
pub(super) const LOCK_WAIT: Metric = Metric::histogram(
    "palladion_region_lock_wait_seconds",
    &[],
    "Time from when a region lock was wanted until it was held",
);
pub(super) const LOCKS_LOST: Metric = Metric::counter(
    "palladion_region_lock_lost_total",
    &[],
    "Region locks that were lost while they were held: not renewed in time, broken, or held by another after the store was restored",
);
pub(super) const RESIDENT_MEMORY: Metric = Metric::gauge(
    "palladion_resident_memory_bytes",
    &[],
    "Resident memory of the operator's process",
);

/// Every metric of the operator.
pub const DECLARED: &[Metric] = &[
    API_REQUESTS,
    RECONCILES,
    STAGE_DURATION,
    WATCH_RESTARTS,
    STORE_OBJECTS,
    STORE_BYTES,
    QUEUE_DEPTH,
    AT_ONCE,
    LEADER,
    LEADER_EPOCH,
    LATE_EXPECTATIONS,
    LOCKS_HELD,
    LOCK_WAIT,
    LOCKS_LOST,
    RESIDENT_MEMORY,
];
