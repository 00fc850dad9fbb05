//! Restarts, upgrades, and pods that do not become ready.

use super::evidence::{Idle, Objection};
use super::members::{Pod, Server};
use palladion_api::ids::{MemberName, RackName};

palladion_plan::sentences! {
    /// What a restart waits for.
    pub enum Waiting {
        ForRing { member: MemberName, why: Objection } => RollingOut,
            "member {member} waits for its restart: {why}";
        ForSet { rack: RackName } => RollingOut,
            "the StatefulSet of rack {rack} is being updated";
        ForPod { member: MemberName, pod: Pod } => RollingOut,
            "member {member} is being restarted: {pod}";
        ForServer { member: MemberName, server: Server } => RollingOut,
            "member {member} restarts: {server}";
        ClaimTerminating { member: MemberName } => ClaimTerminating,
            "member {member} keeps its pod: its PersistentVolumeClaim is being deleted";
        Broken { member: MemberName, why: Idle } => RollingOut,
            "member {member} gets a pod of the newest revision: {why}";
        ForProof { member: MemberName, canary: MemberName } => WaitingForRevision,
            "member {member} waits: its new revision is being proven by member {canary}";
        ForUpgrade { why: Mixed } => MixedVersions,
            "members are added, removed and replaced once the upgrade is complete: {why}";
    }

    /// What needs a person.
    pub enum Problem {
        Stuck { member: MemberName, pod: Pod, server: Server } => RolloutStuck,
            "the rollout stopped at member {member}: {pod}; {server}";
        HeldUp { namespace: String, member: MemberName, annotation: &'static str } => MixedVersions,
            "member {member} is to be replaced, which waits for the upgrade, and the upgrade waits for it; to go on without it: `kubectl annotate -n {namespace} cassandramember {member} {annotation}=`";
    }

    /// Events.
    pub enum Happened {
        Restarted { member: MemberName, revision: String } => Synced,
            "Member {member} restarted in revision {revision}";
        Requested { member: MemberName } => Synced,
            "Member {member} is being restarted as requested";
        NewPod { member: MemberName } => Synced,
            "Pod of member {member} is replaced to bring it to the newest revision";
    }

    /// Which servers run another release line than the spec asks for.
    pub enum Mixed {
        Member { member: MemberName, version: String, wanted: String } =>
            "member {member} runs {version} and the spec asks for {wanted}";
    }

    /// Why the turn of a restart ends early.
    pub enum Ended {
        NoMember => "the member is gone";
        Forbidden { why: Objection } => "{why}";
    }

    /// Steps.
    pub enum Doing {
        Begin { member: MemberName } => "give member {member} the turn to restart";
        AskAgain { member: MemberName, why: Objection } =>
            "ask again before the restart of member {member}: {why}";
        Allow { member: MemberName, revision: String } =>
            "allow member {member} to start in revision {revision}";
        Restart { member: MemberName } => "restart the server of member {member}";
        ReplacePod { member: MemberName } => "replace the pod of member {member}";
    }
}
