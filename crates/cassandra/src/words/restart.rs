//! Restarts, upgrades, and pods that do not become ready.

use super::access::Problem as Locked;
use super::evidence::{Idle, Objection};
use super::members::Server;
use palladion_api::ids::{MemberName, RackName};
use palladion_plan::workload::words::MemberPod;

palladion_plan::sentences! {
    /// What a restart waits for.
    pub enum Waiting {
        ForRing { member: MemberName, why: Objection } => RollingOut,
            "member {member} cannot restart yet: {why}";
        ForSet { rack: RackName } => RollingOut,
            "waiting for the StatefulSet of rack {rack} to report its newest revision";
        ForPod { member: MemberName, pod: MemberPod } => RollingOut,
            "member {member} is being restarted: {pod}";
        ForBudget { member: MemberName, answer: String } => RollingOut,
            "member {member} cannot restart yet: the API server refuses to evict its pod: {answer}";
        ForServer { member: MemberName, server: Server } => RollingOut,
            "member {member} is restarting: {server}";
        ForLogIn { member: MemberName } => RollingOut,
            "waiting for the agent of member {member} to log in to its server";
        ClaimTerminating { member: MemberName } => ClaimTerminating,
            "the pod of member {member} is not replaced: its PersistentVolumeClaim is being deleted, and the data would be lost with the pod";
        Broken { member: MemberName, why: Idle } => RollingOut,
            "the pod of member {member} is not serving ({why}) and is being replaced with a pod of the newest revision";
        ForProof { member: MemberName, canary: MemberName } => WaitingForRevision,
            "member {member} is waiting for member {canary} to prove that the new revision works";
        ForUpgrade { why: Mixed } => MixedVersions,
            "members cannot be added, removed or replaced until the upgrade is complete: {why}";
    }

    /// What needs a person.
    pub enum Problem {
        Stuck { member: MemberName, pod: MemberPod, server: Server } => RolloutStuck,
            "the rollout is stuck at member {member}: {pod}; {server}. Correct the spec; the new spec replaces the broken pod at once. If the cause is on its volume, run `kubectl palladion terminate {member}`, then `kubectl palladion replace {member}`";
        LockedOut { member: MemberName, why: Locked } => RolloutStuck,
            "the rollout stopped at member {member} because continuing could lock clients out of the remaining members: {why}";
        Waits { namespace: String, lost: MemberName, waiting: MemberName, annotation: &'static str } => RolloutStuck,
            "member {waiting} cannot restart until member {lost} is replaced, which cannot begin yet; bring member {lost} back or, to continue the rollout without it (a second replica of some data is then down during each restart), run `kubectl annotate -n {namespace} cassandramember {lost} {annotation}=`";
        HeldUp { namespace: String, member: MemberName, annotation: &'static str } => MixedVersions,
            "member {member} cannot be replaced until the upgrade is complete, and the upgrade is waiting for this member; bring the member back or, to continue the upgrade without it (a second replica of some data is then down during each restart), run `kubectl annotate -n {namespace} cassandramember {member} {annotation}=`";
    }

    /// Events.
    pub enum Happened {
        Restarted { member: MemberName, revision: String } => Synced,
            "Member {member} restarted with revision {revision}";
        Requested { member: MemberName } => Synced,
            "Member {member} is being restarted as requested";
        NewPod { member: MemberName } => Synced,
            "Replacing the pod of member {member} to update it to the newest revision";
    }

    /// Which servers run another release line than the spec asks for.
    pub enum Mixed {
        Member { member: MemberName, version: String, wanted: String } =>
            "member {member} runs {version}, but the spec requests {wanted}";
        Elsewhere { datacenter: String, version: String, wanted: String } =>
            "a member of datacenter {datacenter} runs {version}, but the spec requests {wanted}";
    }

    /// Why the turn of a restart ends early.
    pub enum Ended {
        NoMember => "the member no longer exists or its rack is no longer in the spec";
        Lost => "the volume of the member is lost, and its replacement goes first";
        Forbidden { why: Objection } => "{why}";
    }

    /// Steps.
    pub enum Doing {
        Begin { member: MemberName } => "begin the restart of member {member}";
        AskAgain { member: MemberName, why: Objection } =>
            "check the ring again before restarting member {member}: {why}";
        Allow { member: MemberName, revision: String } =>
            "allow member {member} to start with revision {revision}";
        Restart { member: MemberName } => "restart the server of member {member}";
        ReplacePod { member: MemberName } => "replace the pod of member {member}";
    }
}
