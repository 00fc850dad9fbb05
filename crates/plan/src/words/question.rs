//! Questions to the members of a clustered service.

use super::Names;
use jiff::Timestamp;
use palladion_api::ids::MemberName;

palladion_api::sentences! {
    /// Waiting for the others.
    pub enum Waiting {
        ForAnswers { member: MemberName, from: Names } => WaitingForEvidence,
            "waiting for {from} to report their view of the cluster, on behalf of member {member}";
    }

    /// What needs a person.
    pub enum Problem {
        NotAnswered { member: MemberName, from: MemberName, since: Timestamp, namespace: String } => NotAnswered,
            "member {from} serves and has not answered in full since {since}, so nothing is changed, and member {member} waits; look at `kubectl logs -n {namespace} {from}`; if all other members serve, run `kubectl delete pod -n {namespace} {from}`: its server starts again with its data";
    }

    /// Steps.
    pub enum Doing {
        Ask { member: MemberName } => "ask member {member} for its view of the cluster";
        AskAgain { member: MemberName } => "ask all members again, on behalf of member {member}";
    }
}
