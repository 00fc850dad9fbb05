//! Initializing a new ring: what it waits for, and what stands against it.

use super::members::Volume;
use palladion_api::ids::{MemberName, Nonce, Uid, VolumeId};
use palladion_plan::words::{Count, Several};
use palladion_plan::workload::words::MemberPod;

palladion_plan::sentences! {
    /// What is waited for before there is a ring.
    pub enum Waiting {
        Report { member: MemberName, pod: MemberPod } => WaitingForPod,
            "the ring cannot be initialized until member {member} has reported the state of its volume ({pod})";
        NotKnown { member: MemberName } => InitializationRefused,
            "the ring cannot be initialized: the volume of member {member} is in a state that this operator does not know; upgrade the operator to the version of the agent";
        NoMember { member: MemberName } => WaitingForPod,
            "the ring was being initialized on member {member}, which no longer exists; waiting for the member to be recreated";
        Created { member: MemberName } => CreatingObjects, "member {member} is being created";
        Credentials => CreatingObjects, "the Secrets with the users of the ring are being created";
        Restore { restore: String } => WaitingForRestore,
            "the ring begins with CassandraRestore {restore}: no member starts before that has begun";
        Restoring { restore: String } => RestoreStarting,
            "CassandraRestore {restore} is restoring the ring; no client is let in meanwhile";
        NoneRequested => UpToDate, "the spec requests no members";
        NoEmptyVolume => InitializationRefused,
            "a new ring is allowed, but no member has an empty volume to initialize it on; delete the PersistentVolumeClaim and the pod of a member whose data is no longer needed";
    }

    /// What needs a person.
    pub enum Problem {
        Doubtful { doubts: Several<Doubt>, namespace: String, cluster: String, annotation: &'static str, nonce: Nonce } =>
            InitializationRefused,
            "cannot initialize a new ring: {doubts}; if none of this data is needed, run `kubectl annotate -n {namespace} --overwrite cassandracluster {cluster} {annotation}={nonce}`";
        Elsewhere { region: String, uid: Uid, namespace: String, cluster: String, annotation: &'static str, nonce: Nonce } =>
            InitializedElsewhere,
            "cannot initialize a new ring: the record beside the region lock says that the CassandraCluster with uid {uid} in region {region} initializes the ring of this name; if it is to be one ring, create this cluster with `ring.origin: Existing`; if that ring no longer exists, run `kubectl annotate -n {namespace} --overwrite cassandracluster {cluster} {annotation}={nonce}`";
        AgentTooOld { member: MemberName } => AgentTooOld,
            "cannot initialize the ring: the agent of member {member} cannot start a server sealed, so anybody could log in for a moment; let `sidecarImage` name an agent of this release, or leave it out";
        AgentNamesNoSeeds { member: MemberName } => AgentTooOld,
            "the first member of this datacenter cannot join its ring: the agent of member {member} knows no `externalSeeds`; let `sidecarImage` name an agent of this release, or leave it out";
        NotEmpty { doubts: Several<Doubt> } => InitializationRefused,
            "the first member of this datacenter cannot join its ring, because there is data of an older one: {doubts}; delete the PersistentVolumeClaims if nobody needs it";
        NotRestored { restore: String, namespace: String, cluster: String } => RingNotRestored,
            "CassandraRestore {restore} has ended without restoring the ring, which therefore takes no clients; run `kubectl delete -n {namespace} cassandracluster {cluster}`, delete its PersistentVolumeClaims, and create the cluster and its restore again: the backup was only read";
        Forgotten { member: MemberName } => RingNotRestored,
            "member {member} takes no clients until its ring is restored, and the cluster has no record of a restore: its status was removed, perhaps; delete the CassandraCluster and its PersistentVolumeClaims, and create it and its CassandraRestore again";
        LeftClosed { member: MemberName } => RingNotRestored,
            "member {member} takes no clients, although its ring does: it missed the end of the restore, of which the cluster has no record any more; replace it (`kubectl palladion replace {member}`)";
        NeverAsked { claim: String, member: MemberName, namespace: String } => InitializationRefused,
            "cannot initialize a new ring: PersistentVolumeClaim {claim} of member {member} cannot be inspected because the rack of the member is not in the spec; add the rack to the spec or, if the data on the volume is not needed, run `kubectl delete -n {namespace} pvc {claim}`";
    }

    /// What may be an older ring.
    pub enum Doubt {
        Volume { member: MemberName, found: Volume } => "the volume of member {member} {found}";
        FirstVolumeGone { member: MemberName, volume_id: VolumeId } =>
            "the ring was being initialized on volume {volume_id} of member {member}, but that volume is gone";
        Elsewhere { region: String, uid: Uid } =>
            "the CassandraCluster with uid {uid} in region {region} initializes the ring of this name";
        SeedsElsewhere => "`externalSeeds` lists seeds of the ring, so it may exist elsewhere, and this cluster be meant to join it (`ring.origin: Existing`); to begin a ring here, add `externalSeeds` when the ring is initialized";
        More { volumes: Count } => "this list omits {volumes}";
    }

    /// Events.
    pub enum Happened {
        Started { member: MemberName, ring: String } => Synced,
            "Member {member} is initializing ring {ring}";
        CredentialsCreated { secret: String } => CreatingObjects,
            "Secret {secret} with a user of the ring was created";
    }

    /// Steps.
    pub enum Doing {
        Start { member: MemberName, ring: String } =>
            "begin the initialization of ring {ring} on member {member}";
        CreateCredentials { secret: String } => "create Secret {secret} with a user of the ring";
        RecordSecurity => "record the defaults of authentication and TLS of the ring";
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
            Waiting::Credentials
            | Waiting::Restore { .. }
            | Waiting::Restoring { .. }
            | Waiting::NoneRequested
            | Waiting::NoEmptyVolume => None,
        }
    }
}
