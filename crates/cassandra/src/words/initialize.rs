//! Initializing a new ring: what it waits for, and what stands against it.

use super::members::{Pod, Volume};
use palladion_api::ids::{MemberName, VolumeId};
use palladion_plan::words::{Count, Several};

palladion_plan::sentences! {
    /// What is waited for before there is a ring.
    pub enum Waiting {
        Report { member: MemberName, pod: Pod } => WaitingForPod,
            "initialization of the ring waits for member {member}: {pod}";
        NoMember { member: MemberName } => WaitingForPod,
            "member {member} initializes the ring and does not exist yet";
        Created { member: MemberName } => CreatingObjects, "member {member} is being created";
        NoneRequested => UpToDate, "the spec asks for no members";
        NoEmptyVolume => InitializationRefused,
            "a new ring is allowed, but no member has an empty volume to initialize it on";
    }

    /// What needs a person.
    pub enum Problem {
        Doubtful { doubts: Several<Doubt>, namespace: String, cluster: String, annotation: &'static str, nonce: String } =>
            InitializationRefused,
            "no new ring is initialized: {doubts}; if nothing of that is needed any more: kubectl annotate -n {namespace} --overwrite cassandracluster {cluster} {annotation}={nonce}";
        NeverAsked { claim: String, member: MemberName, namespace: String } => InitializationRefused,
            "no new ring is initialized: nobody can look at PersistentVolumeClaim {claim} of member {member}, whose rack is not in the spec; add the rack, or, if its data is not needed any more: kubectl delete -n {namespace} pvc {claim}";
    }

    /// What may be an older ring.
    pub enum Doubt {
        Volume { member: MemberName, found: Volume } => "the volume of member {member} {found}";
        FirstVolumeGone { member: MemberName, volume_id: VolumeId } =>
            "the ring was initialized on volume {volume_id} of member {member}, which is gone";
        More { volumes: Count } => "{volumes} more";
    }

    /// Events.
    pub enum Happened {
        Started { member: MemberName, ring: String } => Synced,
            "Member {member} initializes ring {ring}";
    }

    /// Steps.
    pub enum Doing {
        Start { member: MemberName, ring: String } =>
            "let member {member} initialize ring {ring}";
    }
}

impl Waiting {
    /// The member that is waited for, if it is one.
    pub fn member(&self) -> Option<&MemberName> {
        match self {
            Waiting::Report { member, .. }
            | Waiting::NoMember { member }
            | Waiting::Created { member } => Some(member),
            Waiting::NoneRequested | Waiting::NoEmptyVolume => None,
        }
    }
}
