//! What is asked of the servers, what they prove, and what forbids a step.

use palladion_api::ids::{MemberName, Nonce};
use palladion_api::zookeeper::Zxid;
use palladion_plan::words::Names;

palladion_plan::sentences! {
    /// What forbids a step.
    pub enum Objection {
        Silent { member: MemberName } => "the agent of member {member} does not report";
        NoQuorum { member: MemberName } => "the server of member {member} is not in touch with a quorum";
        NotInConfiguration { member: MemberName } =>
            "the configuration of the ensemble does not contain the server of member {member}";
        Disagree { first: MemberName, other: MemberName } =>
            "members {first} and {other} have different configurations of the ensemble";
        UnknownServer { servers: Names } =>
            "the configuration of the ensemble contains servers that no member accounts for: {servers}";
        NoMajority { rest: usize } => "only {rest} of the other servers vote, which is no majority";
        Nobody => "no server can be asked";
    }

    /// Waiting for the others.
    pub enum Waiting {
        Refused { member: MemberName, why: Objection } => WaitingForEnsemble,
            "member {member} waits for the ensemble: {why}";
    }

    /// Why a step that could hurt may be taken.
    pub enum Proven {
        Agreed { nonce: Nonce, version: Zxid, servers: Names } =>
            "nonce {nonce}: every server that this step requires serves and has configuration {version}, in which {servers} vote";
    }
}
