//! Questions to the members of a clustered service.

use super::Names;
use palladion_api::ids::MemberName;

palladion_api::sentences! {
    /// Waiting for the others.
    pub enum Waiting {
        ForAnswers { member: MemberName, from: Names } => WaitingForEvidence,
            "waiting for {from} to report their view of the cluster, on behalf of member {member}";
    }

    /// Steps.
    pub enum Doing {
        Ask { member: MemberName } => "ask member {member} for its view of the cluster";
        AskAgain { member: MemberName } => "ask all members again, on behalf of member {member}";
    }
}
