//! Leaves.

use super::evidence::Objection;
use super::members::Server;
use palladion_api::ids::MemberName;

palladion_plan::sentences! {
    /// Why a member has not left yet.
    pub enum Waiting {
        ForEnsemble { member: MemberName, why: Objection } => MemberLeaving,
            "member {member} waits to leave: {why}";
        Stopping { member: MemberName, server: Server } => MemberLeaving,
            "member {member} has left the ensemble: {server}";
    }

    /// Events.
    pub enum Happened {
        HasLeft { member: MemberName } => MemberLeaving, "member {member} has left the ensemble";
    }

    /// Steps.
    pub enum Doing {
        Start { member: MemberName } => "begin the leave of member {member}";
        RecordLeft { member: MemberName } => "record that member {member} has left the ensemble";
        ReleaseClaim { claim: String } => "record on PersistentVolumeClaim {claim} that its server has left";
        DeleteMember { member: MemberName } => "delete the record of member {member}";
        DeleteService { service: String } => "delete Service {service}";
    }
}
