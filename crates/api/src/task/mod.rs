//! `CassandraTask`: one job that a user wants done once on a ring. The operator
//! starts it, reports its progress, and keeps it as history.

use crate::ids::{MemberName, RackName};
use crate::rules::task as rules;
use kube_derive::{CustomResource, KubeSchema};
use serde::{Deserialize, Serialize};

mod bodies;
mod choices;
mod kind;
mod status;
mod work;
pub use bodies::{
    CleanupTask, ClearSnapshotTask, CompactTask, DEFAULT_OVERLAP, DEFAULT_SEGMENT_BYTES, DrainTask,
    FlushTask, GarbageCollectTask, RemoveDatacenterTask, RepairTask, ReplaceTask, ReplicationTask,
    RestartTask, RotateAuthorityTask, ScrubTask, Selection, SetLogLevelTask, SnapshotTask,
    UpgradeSstablesTask,
};
pub use choices::{
    BeforeScrub, BeforeSnapshot, CompactOutput, Corrupted, FewerCopies, Granularity, OverflowedTtl,
    RepairScope, ScrubValues, SimpleReplication, WhichSstables,
};
pub use kind::{Means, TaskKind};
pub use status::{
    CassandraTaskStatus, KeyspaceResult, KeyspaceState, MemberTaskState, TaskCurrent, TaskMember,
    TaskPhase,
};
pub use work::{Body, Work};

/// One job to run once on a ring. When it has ended, exactly one of the conditions `Complete` and `Failed` is True. A finished task is history and is deleted after `ttlSecondsAfterFinished`; to try again, create a new task.
#[derive(CustomResource, KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[kube(
    group = "palladion.dev",
    version = "v1alpha1",
    kind = "CassandraTask",
    namespaced,
    status = "CassandraTaskStatus",
    shortname = "ctask",
    category = "palladion",
    derive = "PartialEq",
    derive = "Default",
    crates(kube_core = "::kube_core")
)]
#[kube(
    printcolumn(name = "Cluster", type_ = "string", json_path = ".spec.cluster"),
    printcolumn(name = "Kind", type_ = "string", json_path = ".status.kind"),
    printcolumn(name = "Phase", type_ = "string", json_path = ".status.phase"),
    printcolumn(name = "Position", type_ = "integer", json_path = ".status.position"),
    printcolumn(name = "Progress", type_ = "string", json_path = ".status.progress"),
    printcolumn(
        name = "Message",
        type_ = "string",
        json_path = ".status.conditions[?(@.type==\"Complete\")].message"
    ),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
#[x_kube(crates(kube_core = "::kube_core"))]
#[x_kube(
    validation = rules::is_fixed("cluster"),
    validation = rules::asks_for_one_thing(),
    validation = rules::work_is_fixed(),
    validation = rules::scope_is_fixed(),
    validation = rules::members_or_racks(),
    validation = rules::replace_stands_alone(),
    validation = rules::rotation_stands_alone(),
    validation = rules::replication_stands_alone(),
    validation = rules::unless_aborted(rules::skip_has_a_use()),
    validation = rules::unless_aborted(rules::skip_is_not_for_restarts()),
    validation = rules::removal_stands_alone(),
    validation = rules::drain_names_one_member(),
    validation = rules::abort_is_final()
)]
#[serde(rename_all = "camelCase")]
pub struct CassandraTaskSpec {
    /// Name of the `CassandraCluster` in the namespace of the task. Where there is none, `status` says so after a minute (ClusterNotFound). Immutable.
    #[schemars(length(min = 1, max = 63))]
    pub cluster: String,
    /// What is done: exactly one of these fields, `restart`, `drain`, `replace` and `rotateAuthority`. Immutable.
    #[serde(flatten)]
    pub work: Work,
    /// Restart members, one after the other, each drained first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restart: Option<RestartTask>,
    /// Drain the server of one member, named in `members`: its memtables are written to disk, and it serves nobody until it is restarted. Only while all other members are up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drain: Option<DrainTask>,
    /// Replace a dead member. It names its member itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replace: Option<ReplaceTask>,
    /// Rotate the authority that signs certificates of the ring, without a restart: because a key is in wrong hands, or somebody has left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rotate_authority: Option<RotateAuthorityTask>,
    /// The members, by name. Not together with `racks`. Default: all members of the ring. Immutable.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(
        length(min = 1, max = 256),
        inner(length(min = 1, max = 63)),
        extend("x-kubernetes-list-type" = "set")
    )]
    pub members: Vec<MemberName>,
    /// The members of these racks. Not together with `members`. Default: all members of the ring. Immutable.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(
        length(min = 1, max = 32),
        inner(length(min = 1, max = 48)),
        extend("x-kubernetes-list-type" = "set")
    )]
    pub racks: Vec<RackName>,
    /// What happens when one member fails: `Stop` ends the task, `Continue` goes on with the other members. Default `Stop`. Immutable.
    #[serde(default)]
    pub on_failure: OnFailure,
    /// What happens when a member is down: `Wait` waits for it, `Skip` leaves it out. `Skip` is refused where each of several members begins only while all others are up: for `cleanup`, `removeDatacenter`, `replication`, `restart`, and a `repair` other than of what is due by several members at a time. Default `Wait`. Immutable.
    #[serde(default)]
    pub when_down: WhenDown,
    /// Seconds that one member may take; then it has failed. Default by kind: 604800 for `repair`; 86400 for `cleanup`, `compact`, `garbageCollect`, `scrub`, `upgradeSSTables` and `removeDatacenter`; 900 for `restart`; 600 for `flush`, `snapshot`, `clearSnapshot`, `replication` and `drain`; 60 for `setLogLevel`. Immutable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 315_360_000))]
    pub member_deadline_seconds: Option<u32>,
    /// Seconds that the whole task may take, from its creation on; then it has failed. Default: no limit. Immutable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 315_360_000))]
    pub active_deadline_seconds: Option<u32>,
    /// Abort the task. What runs is stopped where the server can stop it, else it ends first, and no further member is begun. A replacement can be aborted until the member has its turn, a drain until the server was asked to, and a rotation until the new authority signs; if it is too late, the condition says so. Cannot be set back to false. Default false.
    #[serde(default)]
    pub abort: bool,
    /// Seconds between the end of the task and its deletion; 0 deletes it at once. The last ended task of each kind is kept until another one of its kind has ended, and of all others of a cluster the operator keeps no more than the newest 50. Can be changed at any time. Default 604800, seven days.
    #[serde(default = "default_ttl")]
    #[schemars(range(max = 315_360_000))]
    pub ttl_seconds_after_finished: u32,
}

/// Seconds for which a task that has ended is kept, where it does not say so itself.
pub const DEFAULT_TTL: u32 = 604_800;

fn default_ttl() -> u32 {
    DEFAULT_TTL
}

impl CassandraTaskSpec {
    /// What kind of task it is; `None` where it asks for nothing that this
    /// build knows, or for more than one thing.
    pub fn kind(&self) -> Option<TaskKind> {
        let restart = self.restart.as_ref().map(|_| TaskKind::Restart);
        let drain = self.drain.as_ref().map(|_| TaskKind::Drain);
        let replace = self.replace.as_ref().map(|_| TaskKind::Replace);
        let rotate = self.rotate_authority.as_ref().map(|_| TaskKind::RotateAuthority);
        let mut others = [restart, drain, replace, rotate].into_iter().flatten();
        match (self.work == Work::default(), others.next(), others.next()) {
            (true, Some(kind), None) => Some(kind),
            (false, None, None) => self.work.body().map(Body::kind),
            (true, None, _) | (_, Some(_), Some(_)) | (false, _, _) => None,
        }
    }
}

/// What a task does when one member fails.
#[derive(
    Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq,
)]
pub enum OnFailure {
    /// It ends; no further member is begun.
    #[default]
    Stop,
    /// It goes on with the other members, and ends as `Partial`.
    Continue,
}

/// What a task does when a member is down.
#[derive(
    Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq,
)]
pub enum WhenDown {
    /// It waits for the member.
    #[default]
    Wait,
    /// It leaves the member out, and ends as `Partial`.
    Skip,
}
