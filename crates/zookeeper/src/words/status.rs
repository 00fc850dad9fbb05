//! What of the servers of an ensemble needs a person.

use palladion_api::ids::MemberName;
use palladion_plan::words::Names;

palladion_plan::sentences! {
    /// The configuration is not as the members are.
    pub enum Trouble {
        UnknownServers { servers: Names } => UnknownServer,
            "the configuration of the ensemble contains servers that no member accounts for: {servers}";
        NotInConfiguration { member: MemberName } => NotInEnsemble,
            "the configuration of the ensemble does not contain the server of member {member}, although the operator did not remove it";
    }
}
