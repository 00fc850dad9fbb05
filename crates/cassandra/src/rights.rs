//! What the operator may do for this mind, and why. `get` is there where the
//! engine reads an object live before it writes it; what our objects own is
//! deleted by Kubernetes' garbage collector and needs no right of ours.

use crate::resources::{
    BACKUP, BACKUP_SCHEDULE, CLAIM, CLUSTER, CONFIG_MAP, DISRUPTION_BUDGET, MEMBER, NETWORK_POLICY,
    NODE, OPERATOR_CONFIG, POD, RESTORE, ROLE_BINDING, SCHEDULE, SECRET, SERVICE, SERVICE_ACCOUNT,
    STATEFUL_SET, STORAGE_CLASS, TASK, VOLUME,
};
use palladion_api::rights::Verb::{Bind, Create, Delete, Get, List, Patch, Update, Watch};
use palladion_api::rights::{MEMBER_ROLE, Place, Right, Verb};

/// Of an object that is created, kept as it should be and deleted in the end.
const ALL: &[Verb] = &[Get, List, Watch, Create, Patch, Delete];
/// Of an object that goes with its owner.
const KEPT: &[Verb] = &[Get, List, Watch, Create, Patch];
const SEEN: &[Verb] = &[List, Watch];

/// What [`crate::orphans`] needs.
pub const OF_ORPHANS: &[Right] = &[
    CLUSTER.right(
        &[Get, List, Watch],
        "Whether the cluster of a task exists; read live before the task is ended because it does not",
    ),
    TASK.right(&[List, Watch], "Tasks whose cluster may be gone"),
    TASK.right(&[Patch], "That the cluster of a task is gone, or does not exist").on("status"),
];

/// What [`crate::orphans::ScheduleOrphanMind`] needs.
pub const OF_ORPHAN_SCHEDULES: &[Right] = &[
    CLUSTER.right(
        &[Get, List, Watch],
        "Whether the cluster of a schedule exists; read live before it is said that it does not",
    ),
    SCHEDULE.right(&[List, Watch], "Schedules whose cluster may not exist"),
    SCHEDULE.right(&[Patch], "That the cluster of a schedule does not exist").on("status"),
];

/// What [`crate::orphans::BackupOrphanMind`] needs.
pub const OF_ORPHAN_BACKUPS: &[Right] = &[
    CLUSTER.right(
        &[Get, List, Watch],
        "Whether the cluster of a backup exists; read live before the backup is ended because it does not",
    ),
    BACKUP.right(&[List, Watch], "Backups whose cluster may be gone"),
    BACKUP.right(&[Patch], "That the cluster of a backup is gone, or does not exist").on("status"),
];

/// What [`crate::orphans::RestoreOrphanMind`] needs.
pub const OF_ORPHAN_RESTORES: &[Right] = &[
    CLUSTER.right(
        &[Get, List, Watch],
        "Whether the cluster of a restore exists; read live before the restore is ended because it does not",
    ),
    RESTORE.right(&[List, Watch], "Restores whose cluster may be gone"),
    RESTORE.right(&[Patch], "That the cluster of a restore is gone, or does not exist").on("status"),
];

/// Everything that this mind's plans and watches need.
pub const RIGHTS: &[Right] = &[
    CLUSTER
        .right(&[Get, List, Watch, Patch], "The clusters; the turn is read live before it is taken"),
    CLUSTER.right(&[Patch], "Observed state, and whose turn it is").on("status"),
    CLUSTER.right(&[Update], "Owner references that block the owner's deletion").on("finalizers"),
    MEMBER.right(ALL, "One object per member: what it should do, and what its agent reports"),
    TASK.right(
        &[List, Watch, Create, Patch, Delete],
        "Operations that users request or schedules create; aborted where a schedule says so, deleted when they have ended and are no longer kept",
    ),
    TASK.right(&[Patch], "The progress of those operations").on("status"),
    SCHEDULE.right(
        &[Get, List, Watch],
        "When which tasks are created; read live before a task is created",
    ),
    SCHEDULE.right(&[Patch], "When the last task was created and the next one is due").on("status"),
    BACKUP.right(
        &[List, Watch, Create, Delete],
        "Backups that users ask for or schedules create; those of schedules are deleted when they are no longer kept, and stay in the store",
    ),
    BACKUP_SCHEDULE.right(
        &[Get, List, Watch],
        "When backups are created; read live before one is created",
    ),
    BACKUP_SCHEDULE
        .right(&[Patch], "When the last backup was created and the next one is due")
        .on("status"),
    BACKUP.right(&[Patch], "The progress of those backups").on("status"),
    RESTORE.right(&[List, Watch], "Restores that users ask for"),
    RESTORE.right(&[Patch], "The progress of those restores").on("status"),
    STATEFUL_SET.right(ALL, "Each rack is one StatefulSet"),
    SERVICE.right(ALL, "Services of the members and of the drivers"),
    CONFIG_MAP.right(ALL, "Configuration of the servers"),
    SERVICE_ACCOUNT.right(KEPT, "The service account of the member pods"),
    ROLE_BINDING.right(KEPT, "Binds that account to the role palladion-member in its namespace"),
    SECRET.right(
        &[Create],
        "The users of a new ring that asks for passwords: created once with random passwords, and never read",
    ),
    POD.right(
        &[List, Watch, Delete],
        "Pods are created by the StatefulSet controller; one that does not serve is deleted",
    ),
    POD.right(&[Create], "A restart evicts the pod, so that PodDisruptionBudgets have a say")
        .on("eviction"),
    CLAIM.right(
        &[List, Watch, Patch, Delete],
        "Volume claims carry the identity of the member whose data they hold; deleted for a replacement, or with deletionPolicy Delete",
    ),
    DISRUPTION_BUDGET.right(KEPT, "One member down at a time, also when nodes are drained"),
    NETWORK_POLICY.right(
        ALL,
        "Who may connect to the members, where `network.policy` is Managed; deleted where it is not any more",
    ),
    OPERATOR_CONFIG.right(SEEN, "Pausing every cluster, and the default image of the agent"),
    STORAGE_CLASS
        .right(SEEN, "Whether the storage class exists, and whether its volumes can be expanded"),
    NODE.right(
        &[Get, List, Watch],
        "Whether a member's node exists and is ready; read live before a volume is marked for replacement because of it",
    ),
    VOLUME.right(SEEN, "Which node holds a member's local volume"),
    Right::new(
        Place::Cluster,
        "rbac.authorization.k8s.io",
        "clusterroles",
        &[Bind],
        "May bind this one role and no other",
    )
    .only(&[MEMBER_ROLE]),
];
