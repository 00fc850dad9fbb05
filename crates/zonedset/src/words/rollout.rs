//! Rolling out a template: canary, the other pods, the other zones.

use jiff::Timestamp;
use palladion_plan::workload::words::PodState;

palladion_plan::sentences! {
    /// What a rollout waits for.
    pub enum Waiting {
        Written { set: String, version: i64 } => RollingOut,
            "StatefulSet {set} is being updated to version {version}";
        OtherZone { set: String, other: String } => RollingOut,
            "StatefulSet {set} is waiting for StatefulSet {other}: zones are updated one at a time";
        Canary { set: String, version: i64 } => RollingOut,
            "the canary of StatefulSet {set} is being updated to version {version}";
        NextPod { set: String, ordinal: i32, version: i64 } => RollingOut,
            "pod {set}-{ordinal} is being updated to version {version}";
        Unproven { set: String, version: i64, started: Timestamp, unproven: Unproven } => RollingOut,
            "StatefulSet {set} has been rolling out version {version} since {started}: {unproven}";
        OldPods { pod: PodState } => RollingOut, "waiting for all old pods to terminate: {pod}";
        Stopped { set: String } => RollingOut,
            "StatefulSet {set}: all old pods are being terminated before any new pod starts";
        PodNotReady { pod: Unready } => PodsNotReady, "{pod}";
    }

    /// Events.
    pub enum Happened {
        Written { set: String, version: i64 } => RollingOut,
            "StatefulSet {set}: the template was updated to version {version}";
        Canary { set: String, ordinal: i32, version: i64 } => RollingOut,
            "Pod {set}-{ordinal} is the canary for version {version}";
        Done { set: String, version: i64 } => Synced,
            "StatefulSet {set}: all pods run version {version}";
        Recovered { set: String } => Synced,
            "StatefulSet {set}: all pods are ready; the rollout that failed earlier is complete";
        TimedOut { set: String, version: i64, unproven: Unproven } => RolloutFailed,
            "StatefulSet {set}: version {version} was not ready in time: {unproven}";
        Stopped { set: String } => RollingOut, "StatefulSet {set}: the old pods are being terminated";
        Starts { set: String, version: i64 } => RollingOut,
            "StatefulSet {set}: the old pods have terminated; version {version} is starting";
    }

    /// What needs a person.
    pub enum Problem {
        TimedOut { set: String, unproven: Unproven } => RolloutFailed,
            "the rollout of StatefulSet {set} failed: {unproven}";
        Failed { set: String, culprit: Culprit } => RolloutFailed,
            "the rollout of StatefulSet {set} failed: {culprit}";
    }

    /// Why a template is not proven yet.
    pub enum Unproven {
        Missing { set: String, ordinal: i32 } => "pod {set}-{ordinal} does not exist yet";
        OldTemplate { pod: String } => "pod {pod} does not have the new template yet";
        NotReady { pod: PodState } => "{pod}";
        NotLongEnough { pod: String } => "pod {pod} has been ready for less than minReadySeconds";
    }

    /// A pod that a set without a rollout lacks.
    pub enum Unready {
        Missing { set: String, ordinal: i32 } => "pod {set}-{ordinal} does not exist yet";
        State { pod: PodState } => "{pod}";
    }

    /// Which pod made a rollout fail.
    pub enum Culprit {
        Pod { pod: PodState } => "{pod}";
        Unknown => "a pod was not ready in time";
    }

    /// Why a pod is deleted to let a rollout go on.
    pub enum Obstacle {
        OldTemplate { pod: PodState } => "{pod}; it will be recreated from the newest template";
        Unproven { pod: PodState } => "{pod}; it will be recreated from the template of the last complete rollout";
    }

    /// Steps.
    pub enum Doing {
        UpdatePod { pod: String } => "delete pod {pod} to recreate it from the newest template";
        RevertPod { pod: String } =>
            "delete pod {pod} to recreate it from the template of the last complete rollout";
        StopOldPods { set: String } => "scale StatefulSet {set} to zero to terminate its old pods";
    }
}
