//! In which pod revisions members start.

use super::grounds::Idle;
use palladion_api::ids::MemberName;

palladion_api::sentences! {
    /// Why a server does not start in a pod.
    pub enum Waiting {
        ForProof { member: MemberName, canary: MemberName } => WaitingForRevision,
            "member {member} waits until member {canary} has proven the newer revision";
        Broken { member: MemberName, why: Idle } => RollingOut,
            "the pod of member {member} is replaced, because no server serves in it: {why}";
    }

    /// Events.
    pub enum Happened {
        NewPod { member: MemberName } => RollingOut, "the pod of member {member} is replaced";
    }

    /// Steps.
    pub enum Doing {
        Allow { member: MemberName, revision: String } => "allow member {member} to start in revision {revision}";
        ReplacePod { member: MemberName } => "replace the pod of member {member}";
    }
}
