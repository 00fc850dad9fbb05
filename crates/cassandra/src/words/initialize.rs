//! Initializing a new ring: what it waits for, and what stands against it.

use super::members::{Pod, Volume};
use palladion_api::ids::{MemberName, Nonce, VolumeId};
use palladion_plan::words::{Count, Several};

palladion_plan::sentences! {
    /// What is waited for before there is a ring.
    pub enum Waiting {
        Report { member: MemberName, pod: Pod } => WaitingForPod,
            "the ring cannot be initialized yet: waiting for member {member} to report its volume ({pod})";
        NotKnown { member: MemberName } => InitializationRefused,
            "the ring cannot be initialized: the volume of member {member} is in a state that this operator does not know; upgrade the operator to the version of the agent";
        NoMember { member: MemberName } => WaitingForPod,
            "waiting for member {member} to be created; it will initialize the ring";
        Created { member: MemberName } => CreatingObjects, "member {member} is being created";
        NoneRequested => UpToDate, "the spec requests no members";
        NoEmptyVolume => InitializationRefused,
            "a new ring is allowed, but no member has an empty volume to initialize it on; delete the PersistentVolumeClaim of a member whose data is no longer needed";
    }

    /// What needs a person.
    pub enum Problem {
        Doubtful { doubts: Several<Doubt>, namespace: String, cluster: String, annotation: &'static str, nonce: Nonce } =>
            InitializationRefused,
            "cannot initialize a new ring: {doubts}; if none of this data is needed, run: kubectl annotate -n {namespace} --overwrite cassandracluster {cluster} {annotation}={nonce}";
        NeverAsked { claim: String, member: MemberName, namespace: String } => InitializationRefused,
            "cannot initialize a new ring: PersistentVolumeClaim {claim} of member {member} cannot be inspected because its rack is not in the spec; add the rack or, if its data is not needed, run: kubectl delete -n {namespace} pvc {claim}";
    }

    /// What may be an older ring.
    pub enum Doubt {
        Volume { member: MemberName, found: Volume } => "the volume of member {member} {found}";
        FirstVolumeGone { member: MemberName, volume_id: VolumeId } =>
            "the ring was initialized on volume {volume_id} of member {member}; that volume is gone";
        More { volumes: Count } => "{volumes} not listed";
    }

    /// Events.
    pub enum Happened {
        Started { member: MemberName, ring: String } => Synced,
            "Member {member} is initializing ring {ring}";
    }

    /// Steps.
    pub enum Doing {
        Start { member: MemberName, ring: String } =>
            "start the initialization of ring {ring} on member {member}";
    }
}

impl Waiting {
    /// The member that is waited for, if it is one.
    pub fn member(&self) -> Option<&MemberName> {
        match self {
            Waiting::Report { member, .. }
            | Waiting::NotKnown { member }
            | Waiting::NoMember { member }
            | Waiting::Created { member } => Some(member),
            Waiting::NoneRequested | Waiting::NoEmptyVolume => None,
        }
    }
}
