//! Restarts: rollouts, and those that a user requests.

use super::evidence::Objection;
use super::queues::Queues;
use palladion_api::ids::MemberName;
use palladion_plan::words::Names;
use palladion_plan::words::members::Server;
use palladion_plan::workload::words::MemberPod;

palladion_plan::sentences! {
    /// Why a member was not restarted yet.
    pub enum Waiting {
        ForCluster { member: MemberName, why: Objection } => RollingOut,
            "member {member} waits to be restarted: {why}";
        ForQueues { member: MemberName, queues: Queues } => WaitingForQueues,
            "member {member} waits to be restarted: {queues} need its node";
        ForFlags { member: MemberName, flags: Names } => FeatureFlagsDisabled,
            "member {member} waits to be upgraded until these feature flags are enabled: {flags}";
        ForPod { member: MemberName, pod: MemberPod } => RollingOut,
            "member {member} is being restarted: {pod}";
        ForServer { member: MemberName, server: Server } => RollingOut,
            "member {member} is being restarted: {server}";
        CatchingUp { member: MemberName, queues: Queues } => WaitingForQueues,
            "member {member} was restarted, and its replicas of {queues} are catching up";
        NotKnown { member: MemberName } => WaitingForQueues,
            "member {member} was restarted, and does not report yet whether its replicas have caught up";
        ForBudget { member: MemberName, answer: String } => RollingOut,
            "the pod of member {member} cannot be evicted now: {answer}";
        ClaimTerminating { member: MemberName } => ClaimTerminating,
            "the PersistentVolumeClaim of member {member} is being deleted, so its pod is kept";
    }

    /// What needs a person.
    pub enum Problem {
        Stuck { member: MemberName, pod: MemberPod, server: Server } => RolloutStuck,
            "the rollout stopped at member {member}: {pod}; {server}; correct the cause, or set the spec back: the next spec replaces this pod at once";
    }

    /// The same of a restart that a user requests: no new revision replaces its pod.
    pub enum NotBack {
        Stuck { member: MemberName, pod: MemberPod, server: Server, namespace: String } => RolloutStuck,
            "member {member} does not come back from the restart that was requested: {pod}; {server}; correct the cause, or run `kubectl delete pod -n {namespace} {member}`";
    }

    /// Events.
    pub enum Happened {
        Restarted { member: MemberName } => RollingOut, "member {member} was restarted";
    }

    /// Steps.
    pub enum Doing {
        Begin { member: MemberName } => "begin the restart of member {member}";
        Restart { member: MemberName } => "restart the node of member {member}";
    }
}
