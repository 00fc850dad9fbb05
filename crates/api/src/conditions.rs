//! Condition types, and how a condition changes without losing its time.

pub use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;

/// The spec is valid; False with the reason if it was refused.
pub const ACCEPTED: &str = "Accepted";
/// Enough members serve: a quorum of the members in the spec is ready.
pub const AVAILABLE: &str = "Available";
/// The object is being changed; False with reason `UpToDate` when it is as its spec says.
pub const PROGRESSING: &str = "Progressing";
/// Something needs a user, or is not as the spec says.
pub const DEGRADED: &str = "Degraded";
/// Every check of the ring passes; False with the first one that fails, Unknown with the first one of which nothing is known.
pub const HEALTHY: &str = "Healthy";
/// Only status is written.
pub const PAUSED: &str = "Paused";

/// Of a ring with other datacenters: all their members are up and normal, as the members of this one see them; Unknown where no member reports them, or members differ.
pub const ALL_REGIONS_NORMAL: &str = "AllRegionsNormal";

/// Of a datacenter that leaves its ring: all its members have left; False with what it waits for.
pub const DATACENTER_LEFT: &str = "DatacenterLeft";

/// Of a staged service: every service that it depends on is ready.
pub const DEPENDENCIES_READY: &str = "DependenciesReady";
/// Of a staged service: all its pods have passed their gates.
pub const GATES_PASSED: &str = "GatesPassed";

/// Of a task: it is done; False with the progress, or with the reason why it ended.
pub const COMPLETE: &str = "Complete";
/// Of a task: it has ended and is not done; the reason says whether it was refused, aborted or failed.
pub const FAILED: &str = "Failed";

/// Of a backup that is to expire: it is deleted in the store; False with what it waits for.
pub const EXPIRED: &str = "Expired";
/// Of a schedule of backups: those that expire cannot be condemned or deleted for now.
pub const RETENTION_DELAYED: &str = "RetentionDelayed";

/// Of a schedule that covers a ring: ranges are repaired later than they should be.
pub const BEHIND: &str = "Behind";

/// Of a cluster of RabbitMQ: every node that serves sees every other one run.
pub const ALL_NODES_SEEN: &str = "AllNodesSeen";
/// Of a cluster of RabbitMQ: nodes report a partition.
pub const PARTITIONED: &str = "Partitioned";

/// Of a rack: a member of it is leaving the ring, or is being removed from it.
pub const MEMBER_LEAVING: &str = "MemberLeaving";
/// Of a rack: a member of it is being replaced.
pub const MEMBER_REPLACING: &str = "MemberReplacing";

/// Put `new` among `conditions`, keeping the transition time where the status did not change.
pub fn set(conditions: &mut Vec<Condition>, mut new: Condition) {
    match conditions.iter_mut().find(|c| c.type_ == new.type_) {
        Some(old) => {
            if old.status == new.status {
                new.last_transition_time = old.last_transition_time.clone();
            }
            *old = new;
        }
        None => conditions.push(new),
    }
}

/// A condition as of `now`.
pub fn condition(
    type_: &str,
    status: bool,
    reason: &str,
    message: &str,
    generation: Option<i64>,
    now: jiff::Timestamp,
) -> Condition {
    Condition {
        type_: type_.to_string(),
        status: if status { "True" } else { "False" }.to_string(),
        reason: reason.to_string(),
        message: message.to_string(),
        observed_generation: generation,
        last_transition_time: Time(now),
    }
}
