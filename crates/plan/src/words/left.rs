//! What members that have left leave behind.

use super::members::Server;
use palladion_api::ids::MemberName;

palladion_api::sentences! {
    /// Why nobody has come in the place of one yet.
    pub enum Waiting {
        ForEnd { member: MemberName, server: Server } => WaitingForPod,
            "member {member} has left, and joins as new once its server has stopped: {server}";
    }

    /// Steps.
    pub enum Doing {
        ReleaseClaim { claim: String } => "record on PersistentVolumeClaim {claim} that its server has left";
        DeletePod { member: MemberName } => "delete the pod of member {member}, which has left, so that another joins in its place";
        DeleteMember { member: MemberName } => "delete the record of member {member}";
        DeleteService { service: String } => "delete Service {service}";
    }
}
