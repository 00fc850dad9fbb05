//! Every metric of the agent: the reference page is generated from here.

use palladion_api::metrics::{Label, Metric};

/// Modes that a server can be in; one that is not listed counts as `OTHER`.
pub(super) const MODES: &[&str] = &[
    "STARTING",
    "NORMAL",
    "JOINING",
    "JOINING_FAILED",
    "LEAVING",
    "DECOMMISSIONED",
    "DECOMMISSION_FAILED",
    "MOVING",
    "DRAINING",
    "DRAINED",
    "OTHER",
];

/// Results of looking at a server.
pub(super) const RESULTS: &[&str] = &["Healthy", "Unhealthy", "NoAnswer"];

const HEALTH_RESULT: &[Label] = &[Label { name: "result", values: RESULTS, meaning: "" }];
const SERVER_MODE: &[Label] = &[Label { name: "mode", values: MODES, meaning: "" }];

pub(super) const JOB_PROGRESS: Metric = Metric::gauge(
    "palladion_agent_job_progress_ratio",
    &[],
    "How much of the running job of a task is done, from 0 to 1; 0 while none runs",
);
/// How segments of a repair end.
pub(super) const SEGMENTS: &[&str] = &["Done", "Failed", "TooLong", "Interrupted"];

const SEGMENT_RESULT: &[Label] = &[Label { name: "result", values: SEGMENTS, meaning: "" }];

pub(super) const REPAIR_OLDEST: Metric = Metric::gauge(
    "palladion_agent_repair_oldest_age_seconds",
    &[],
    "Seconds since the start of the oldest of the last repairs of the member's ranges; 0 while no schedule covers the ring",
);
pub(super) const REPAIR_BEHIND: Metric = Metric::gauge(
    "palladion_agent_repair_behind_seconds",
    &[],
    "Seconds for which the first of the member's ranges has been due for repair; 0 while none is",
);
pub(super) const REPAIR_DUE: Metric = Metric::gauge(
    "palladion_agent_repair_due_ranges",
    &[],
    "Ranges of the member, counted by keyspace, of which a part is due for repair",
);
pub(super) const REPAIR_SEGMENTS: Metric = Metric::counter(
    "palladion_agent_repair_segments_total",
    SEGMENT_RESULT,
    "Segments of repairs of what is due that have ended",
);
pub(super) const REPAIR_INTENSITY: Metric = Metric::gauge(
    "palladion_agent_repair_intensity_ratio",
    &[],
    "Share of the time in which the running repair of what is due repairs, from 0 to 1; 0 while none runs",
);
/// What becomes of the bytes of backups and restores.
pub(super) const MOVED: &[&str] = &["Sent", "Reused", "Fetched"];

const MOVED_HOW: &[Label] = &[Label { name: "kind", values: MOVED, meaning: "" }];

pub(super) const BACKUP_BYTES: Metric = Metric::counter(
    "palladion_backup_bytes_total",
    MOVED_HOW,
    "Bytes of backups and restores that the member has sent to a store, taken over from earlier backups, or fetched from a store; not those of the archive",
);
pub(super) const BACKUP_THROTTLED: Metric = Metric::counter(
    "palladion_backup_throttled_seconds_total",
    &[],
    "Seconds for which backups and restores of the member have waited so as not to be faster than they may",
);
pub(super) const BACKUP_RATE: Metric = Metric::gauge(
    "palladion_backup_rate_bytes_per_second",
    &[],
    "Rate that the running transfer of a backup or restore keeps to; 0 while none runs, or it has no limit",
);
pub(super) const BACKUP_SNAPSHOT: Metric = Metric::gauge(
    "palladion_backup_snapshot_bytes",
    &[],
    "Size of the files in the snapshot of the running upload that are not in the store yet; 0 while none runs",
);
pub(super) const ARCHIVE_LAG: Metric = Metric::gauge(
    "palladion_archive_lag_seconds",
    &[],
    "Seconds for which no acknowledged write is known to be in the archive of the commit log; 0 where there is none",
);
pub(super) const ARCHIVE_LOCAL: Metric = Metric::gauge(
    "palladion_archive_local_bytes",
    &[],
    "Size of the segments of the commit log that wait on the volume to be archived",
);
pub(super) const ARCHIVE_GAPS: Metric = Metric::counter(
    "palladion_archive_gaps_total",
    &[],
    "Times that the archive of the commit log could not go on where it was, and began again",
);
pub(super) const CDC_BYTES: Metric = Metric::gauge(
    "palladion_cdc_bytes",
    &[],
    "Size of what change data capture keeps on the volume; 0 where it is off",
);
pub(super) const CDC_SEGMENTS: Metric = Metric::gauge(
    "palladion_cdc_segments",
    &[],
    "Segments of the commit log with changes that no reader has deleted",
);
pub(super) const CDC_OLDEST: Metric = Metric::gauge(
    "palladion_cdc_oldest_age_seconds",
    &[],
    "Seconds since the oldest segment that no reader has deleted was complete; 0 while none waits",
);
pub(super) const MODE: Metric = Metric::gauge(
    "palladion_agent_server_mode",
    SERVER_MODE,
    "1 for the mode that the server is in, 0 for the others",
);
pub(super) const HEALTH: Metric = Metric::gauge(
    "palladion_agent_server_health",
    HEALTH_RESULT,
    "1 for the result that looks at the server have now, 0 for the others",
);
pub(super) const NATIVE_TRANSPORT: Metric = Metric::gauge(
    "palladion_agent_server_native_transport",
    &[],
    "1 while the server accepts CQL connections, otherwise 0",
);
pub(super) const LIVE: Metric = Metric::gauge(
    "palladion_agent_server_members_live",
    &[],
    "Members of the ring that the server sees up",
);
pub(super) const DOWN: Metric = Metric::gauge(
    "palladion_agent_server_members_down",
    &[],
    "Members of the ring that the server sees down",
);
pub(super) const LOAD: Metric = Metric::gauge(
    "palladion_agent_server_load_bytes",
    &[],
    "Size of the data on disk, as the server reports it",
);
pub(super) const PENDING_COMPACTIONS: Metric =
    Metric::gauge("palladion_agent_server_pending_compactions", &[], "Pending compactions");
pub(super) const HEAP: Metric =
    Metric::gauge("palladion_agent_server_heap_used_bytes", &[], "Java heap in use");
pub(super) const CLIENTS: Metric =
    Metric::gauge("palladion_agent_server_clients", &[], "Open CQL connections");

/// Every metric of the agent.
pub const DECLARED: &[Metric] = &[
    MODE,
    HEALTH,
    NATIVE_TRANSPORT,
    LIVE,
    DOWN,
    LOAD,
    PENDING_COMPACTIONS,
    HEAP,
    CLIENTS,
    JOB_PROGRESS,
    REPAIR_OLDEST,
    REPAIR_BEHIND,
    REPAIR_DUE,
    REPAIR_SEGMENTS,
    REPAIR_INTENSITY,
    BACKUP_BYTES,
    BACKUP_THROTTLED,
    BACKUP_RATE,
    BACKUP_SNAPSHOT,
    ARCHIVE_LAG,
    ARCHIVE_LOCAL,
    ARCHIVE_GAPS,
    CDC_BYTES,
    CDC_SEGMENTS,
    CDC_OLDEST,
];
