//! What of the servers of an ensemble needs a person.

use palladion_api::ids::{MemberName, VolumeId};
use palladion_api::zookeeper::ServerId;
use palladion_plan::words::Names;

palladion_plan::sentences! {
    /// The configuration is not as the members are.
    pub enum Trouble {
        UnknownServers { servers: Names } => UnknownServer,
            "the configuration of the ensemble contains servers that no member accounts for: {servers}";
        NotInConfiguration { member: MemberName, volume: VolumeId, namespace: String, annotation: &'static str } => NotInEnsemble,
            "the configuration of the ensemble does not contain the server of member {member}, although the operator did not remove it; if it should serve again, run `kubectl annotate -n {namespace} servicemember {member} --overwrite {annotation}={volume}`: its data is removed, and it joins as new";
        InConfiguration { member: MemberName, volume: VolumeId, id: ServerId } => VolumeForeign,
            "member {member} has on volume {volume} the data of server {id}, which is not on record and is still in the configuration of the ensemble, so it is not started, and its data is not removed; if nobody needs the data, allow the removal of that server first";
        NotOnRecord { member: MemberName, volume: VolumeId, namespace: String, annotation: &'static str } => VolumeForeign,
            "member {member} has on volume {volume} the data of a server that has joined before, and that is not on record, so it is not started; if nobody needs the data, run `kubectl annotate -n {namespace} servicemember {member} --overwrite {annotation}={volume}`: the data is removed, and the member joins as new";
    }
}
