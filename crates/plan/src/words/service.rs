//! The objects of a clustered service, and what keeps anything from being decided.

use super::{Count, Names};
use crate::workload::words::TemplateChange;
use palladion_api::ids::MemberName;

palladion_api::sentences! {
    /// What an object is, in a sentence.
    pub enum What {
        ClientService => "the Service of the clients";
        NodesService => "the Service of the members";
        MemberService { member: MemberName } => "the Service of member {member}";
        ServiceAccount => "the ServiceAccount of the members";
        RoleBinding => "the RoleBinding of the members";
        DisruptionBudget => "the PodDisruptionBudget";
        Configuration => "the configuration of the servers";
        StatefulSet => "the StatefulSet";
        Member { member: MemberName } => "the record of member {member}";
    }

    /// Waiting for objects.
    pub enum Waiting {
        Address { member: MemberName } => CreatingObjects,
            "member {member} waits for its address and for the revision of its StatefulSet";
        SetEnds { set: String } => Deleting, "waiting for the end of StatefulSet {set}";
        PodsEnd { pods: Names } => Deleting, "waiting for the end of the pods {pods}";
        PodAway { pod: MemberName, node: String } => Deleting,
            "waiting for the end of pod {pod}, which nobody confirms, because its Node {node} is not ready; bring the Node back or, if its machine is gone for good, run `kubectl delete node {node}`";
        ClaimDeleted { claim: String } => Deleting, "PersistentVolumeClaim {claim} is being deleted";
    }

    /// What needs a person.
    pub enum Problem {
        ClaimTerminating { claim: String, member: MemberName } => ClaimTerminating,
            "PersistentVolumeClaim {claim} of member {member} is being deleted; Kubernetes deletes the data when the pod ends";
        CannotGrow { claim: String, size: String, class: String } => VolumeCannotGrow,
            "PersistentVolumeClaim {claim} should be expanded to {size}, but storage class {class} does not allow it";
        ClaimTemplate { change: TemplateChange } => ClaimTemplateKept,
            "{change}, which a StatefulSet does not allow; it stays as it was created";
    }

    /// Events.
    pub enum Happened {
        SetCreated { members: Count } => Synced, "the StatefulSet is created for {members}";
        SetRecreated => Synced, "the StatefulSet is recreated around its pods, because volumes grow";
        ClaimGrows { claim: String, size: String } => VolumeGrowing,
            "PersistentVolumeClaim {claim} is expanded to {size}";
        ClaimDeleted { claim: String } => Deleting, "PersistentVolumeClaim {claim} is deleted with the cluster";
    }

    /// Steps.
    pub enum Doing {
        RecordOnClaim { claim: String } => "record the server on PersistentVolumeClaim {claim}";
        RecordVolume { member: MemberName } => "record the volume of member {member}";
        WithdrawPermit { member: MemberName } => "withdraw the permit of member {member}, which has joined";
        DeleteConfiguration { config_map: String } => "delete ConfigMap {config_map}, which no pod uses";
        SetFinalizer { kind: &'static str } => "hold the {kind} until its volumes are deleted";
        RemoveFinalizer { kind: &'static str } => "release the {kind}";
        DeleteSet { set: String } => "delete StatefulSet {set}";
        DeleteClaim { claim: String } => "delete PersistentVolumeClaim {claim}";
    }

    /// Why nothing is decided.
    pub enum Unknown {
        Kind { kind: &'static str, why: String } => FactUnknown, "cannot read {kind}: {why}";
        Fact { why: String } => FactUnknown, "{why}";
        NoSpec { kind: &'static str } => FactUnknown, "the {kind} has no spec";
    }
}

impl From<String> for Unknown {
    /// As whoever could not read it says.
    fn from(why: String) -> Self {
        Unknown::Fact { why }
    }
}
