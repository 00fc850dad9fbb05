//! The start of a new clustered service.

use super::Several;
use super::members::{Server, Volume};
use crate::workload::words::MemberPod;
use jiff::Timestamp;
use palladion_api::ids::{MemberName, Nonce, VolumeId};

palladion_api::sentences! {
    /// Why the service does not begin yet.
    pub enum Waiting {
        Created { member: MemberName } => CreatingObjects, "member {member} is being created";
        Report { member: MemberName, pod: MemberPod } => WaitingForPod,
            "waiting for member {member} to report its volume: {pod}";
        Address { member: MemberName } => CreatingObjects,
            "member {member} waits to initialize the cluster until its Service has an address";
        NotKnown { member: MemberName } => FactUnknown,
            "the volume of member {member} is in a state that this operator does not know: upgrade the operator";
        Serving { member: MemberName, server: Server } => Initializing,
            "member {member} initializes the cluster: {server}";
    }

    /// What may be an older service.
    pub enum Doubt {
        Volume { member: MemberName, found: Volume } => "the volume of member {member} {found}";
        FirstVolumeGone { member: MemberName, volume: VolumeId } =>
            "member {member} began to initialize the cluster on volume {volume}, which it does not have any more";
    }

    /// What needs a person.
    pub enum Problem {
        NeverAsked { claim: String, member: MemberName, namespace: String } => InitializationRefused,
            "PersistentVolumeClaim {claim} may hold an older cluster, and member {member}, which could look at it, gets no pod; if nobody needs the data, run `kubectl delete pvc -n {namespace} {claim}`";
        Doubtful { doubts: Several<Doubt>, namespace: String, kind: String, cluster: String, annotation: &'static str, nonce: Nonce } =>
            InitializationRefused,
            "{doubts}; to initialize a new cluster all the same, run `kubectl annotate -n {namespace} {kind} {cluster} --overwrite {annotation}={nonce}`";
        Failed { member: MemberName, server: Server, at: Timestamp, namespace: String } => InitializationFailed,
            "member {member} could not initialize the cluster: {server}; correct the cause; the start is tried again at {at}, or at once after `kubectl delete pod -n {namespace} {member}`";
        TriedAgain { member: MemberName, tries: u32, server: Server } => InitializationFailed,
            "member {member} could not initialize the cluster in {tries} tries, and is trying again: {server}";
        Refused { member: MemberName, why: String, at: Timestamp, namespace: String } => InitializationFailed,
            "the agent of member {member} refuses to initialize the cluster: {why}; correct the cause; the start is tried again at {at}, or at once after `kubectl delete pod -n {namespace} {member}`";
    }

    /// Events.
    pub enum Happened {
        Initialized { member: MemberName } => Initializing,
            "member {member} has initialized the cluster";
    }

    /// Steps.
    pub enum Doing {
        Start { member: MemberName } => "record that member {member} initializes the cluster";
        Again { member: MemberName } => "let member {member} try again to initialize the cluster";
    }
}
