//! Leaves.

use super::evidence::Objection;
use palladion_api::ids::MemberName;
use palladion_plan::words::members::Server;

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
    }
}
