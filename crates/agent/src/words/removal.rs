//! A datacenter that is removed from the ring: why none of its members is removed now.

use palladion_api::ids::{HostId, StaticAddress};
use palladion_api::words::Names;

palladion_api::sentences! {
    /// What forbids the next removal.
    pub enum Refused {
        NotRead => "the server does not report the members of its ring";
        NotAgreed => "the servers that are up do not agree on the schema, so a keyspace may have copies there that this server does not know yet";
        Own { datacenter: String } => "{datacenter} is the datacenter of this member";
        NotPlaced { address: StaticAddress } => "the datacenter of {address} is not known, so it may be one of those that are to be removed";
        NotDown { address: StaticAddress, datacenter: String } => "{address} of datacenter {datacenter} is not down, so the datacenter is not lost; nobody else of it is removed";
        NotNamed { host_id: HostId, datacenter: String } => "host ID {host_id} is in datacenter {datacenter} too, and the task does not name it";
        Elsewhere { host_id: HostId, datacenter: String, own: String } => "host ID {host_id} is in datacenter {own}, not in {datacenter}";
        Keyspaces { keyspaces: Names, datacenter: String } => "{keyspaces} have copies in datacenter {datacenter}; drop the datacenter from their replication first";
    }
}
