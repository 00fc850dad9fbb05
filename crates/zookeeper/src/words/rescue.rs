//! Rescues, when a majority is lost.

use palladion_api::ids::{MemberName, Nonce};
use palladion_plan::words::members::Server;
use palladion_plan::words::{Names, Several};

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

    /// Whose votes are missing.
    pub enum Gone {
        Volumes { members: Names, volumes: Names } => "the volumes of {members} ({volumes}) are lost";
        Strangers { servers: Names } => "no member accounts for servers {servers} of the configuration";
    }

    /// What needs a person.
    pub enum Problem {
        MajorityLost { gone: Several<Gone> } => MajorityLost,
            "{gone}, and the other servers are no majority, so they accept no change; bring back the servers that are not lost: once all have reported, this message says who may go on alone";
        Ask {
            gone: Several<Gone>,
            best: MemberName,
            rest: Names,
            namespace: String,
            cluster: String,
            annotation: &'static str,
            nonce: Nonce,
        } => MajorityLost,
            "{gone}, and the other servers are no majority, so they accept no change; what only those had is gone unless their machines are only away and you bring these back; to let member {best}, which has the newest data of the voting servers that are left, go on alone, with new volumes for all others (left: {rest}), make sure that none of those runs, and run `kubectl annotate -n {namespace} zookeepercluster {cluster} --overwrite {annotation}={nonce}`";
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
