//! The kinds that this mind sees and writes, and what it keeps of each.

use palladion_api::labels;
pub use palladion_plan::kinds::{
    CLAIM, CONFIG_MAP, DISRUPTION_BUDGET, NETWORK_POLICY, NODE, OPERATOR_CONFIG, POD, ROLE_BINDING,
    SECRET, SERVICE, SERVICE_ACCOUNT, STATEFUL_SET, STORAGE_CLASS, VOLUME,
};
use palladion_plan::workload::{claims, home, pod};
use palladion_plan::{Keep, Resource, Route, Watch};

/// `CassandraCluster`.
pub const CLUSTER: Resource = Resource::ours("CassandraCluster", "cassandraclusters");
/// `CassandraMember`.
pub const MEMBER: Resource = Resource::ours("CassandraMember", "cassandramembers");
/// `CassandraTask`.
pub const TASK: Resource = Resource::ours("CassandraTask", "cassandratasks");

/// `CassandraTaskSchedule`.
pub const SCHEDULE: Resource = Resource::ours("CassandraTaskSchedule", "cassandrataskschedules");

/// `CassandraBackup`.
pub const BACKUP: Resource = Resource::ours("CassandraBackup", "cassandrabackups");

/// `CassandraBackupSchedule`.
pub const BACKUP_SCHEDULE: Resource =
    Resource::ours("CassandraBackupSchedule", "cassandrabackupschedules");

/// `CassandraRestore`.
pub const RESTORE: Resource = Resource::ours("CassandraRestore", "cassandrarestores");

/// Selects what Palladion made, by the label that every builder sets.
const OURS: &str = "app.kubernetes.io/managed-by=palladion";

/// One watch per kind for the whole process.
pub fn watches() -> Vec<Watch> {
    let by_cluster = Route::Label(labels::CLUSTER);
    let watch = |resource, selector, keep, route| Watch { resource, selector, keep, route };
    vec![
        watch(CLUSTER, "", Keep::Everything, Route::Owner),
        watch(MEMBER, OURS, Keep::Everything, by_cluster),
        watch(TASK, "", Keep::Everything, Route::Namespace),
        watch(SCHEDULE, "", Keep::Everything, Route::Namespace),
        watch(BACKUP, "", Keep::Everything, Route::Namespace),
        watch(BACKUP_SCHEDULE, "", Keep::Everything, Route::Namespace),
        watch(RESTORE, "", Keep::Everything, Route::Namespace),
        watch(OPERATOR_CONFIG, "", Keep::Only(&["/spec"]), Route::Every),
        watch(STATEFUL_SET, OURS, Keep::Everything, by_cluster),
        watch(POD, OURS, Keep::Projection(pod::project), by_cluster),
        watch(SERVICE, OURS, Keep::Everything, by_cluster),
        watch(CONFIG_MAP, OURS, Keep::Everything, by_cluster),
        watch(CLAIM, OURS, Keep::Projection(claims::project), by_cluster),
        watch(SERVICE_ACCOUNT, OURS, Keep::Everything, by_cluster),
        watch(ROLE_BINDING, OURS, Keep::Everything, by_cluster),
        watch(DISRUPTION_BUDGET, OURS, Keep::Only(&["/spec"]), by_cluster),
        watch(NETWORK_POLICY, OURS, Keep::Only(&["/spec"]), by_cluster),
        watch(
            STORAGE_CLASS,
            "",
            Keep::Only(&["/provisioner", "/allowVolumeExpansion"]),
            Route::Every,
        ),
        watch(
            VOLUME,
            "",
            Keep::Projection(home::project),
            Route::Named { by: CLAIM, at: "/volume" },
        ),
        watch(NODE, "", Keep::Projection(home::project_node), Route::Every),
    ]
}
