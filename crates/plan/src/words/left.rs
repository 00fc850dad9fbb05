//! What members that have left leave behind.

use palladion_api::ids::MemberName;

palladion_api::sentences! {
    /// Steps.
    pub enum Doing {
        ReleaseClaim { claim: String } => "record on PersistentVolumeClaim {claim} that its server has left";
        DeleteMember { member: MemberName } => "delete the record of member {member}";
        DeleteService { service: String } => "delete Service {service}";
    }
}
