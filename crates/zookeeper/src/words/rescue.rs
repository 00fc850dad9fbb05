//! Rescues, when a majority is lost.

use super::members::Server;
use palladion_api::ids::{MemberName, Nonce};
use palladion_plan::words::Names;

palladion_plan::sentences! {
    /// Why a rescue does not go on.
    pub enum Waiting {
        ForReport { member: MemberName } => WaitingForEvidence,
            "waiting for member {member} to report the last transaction on its volume";
        NothingLeft => MajorityLost, "no volume of the ensemble is left";
        ForEnd { member: MemberName, others: Names } => WaitingForEvidence,
            "member {member} goes on alone once no server of {others} runs any more";
        Leading { member: MemberName, server: Server } => Initializing,
            "member {member} goes on alone: {server}";
    }

    /// What needs a person.
    pub enum Problem {
        MajorityLost { members: Names } => MajorityLost,
            "the volumes of {members} are lost, and the other servers are no majority, so they accept no change";
        Ask {
            lost: Names,
            volumes: Names,
            best: MemberName,
            rest: Names,
            namespace: String,
            cluster: String,
            annotation: &'static str,
            nonce: Nonce,
        } => MajorityLost,
            "the volumes of {lost} ({volumes}) are lost, and the other servers are no majority, so they accept no change; what only the lost volumes had is gone unless you bring them back; to let member {best}, which has the newest data that is left, go on alone, with new volumes for all others (left: {rest}), run `kubectl annotate -n {namespace} zookeepercluster {cluster} --overwrite {annotation}={nonce}`";
    }

    /// Events.
    pub enum Happened {
        Rescued { member: MemberName } => MajorityLost,
            "member {member} goes on alone, as a user allowed; the other members join it on new volumes";
    }

    /// Steps.
    pub enum Doing {
        Start { member: MemberName } => "begin to let member {member} go on alone";
        Again { member: MemberName } => "let member {member} try again to go on alone";
    }
}
