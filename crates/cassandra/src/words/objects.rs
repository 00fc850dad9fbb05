//! Objects, claims and volumes: what is created, recreated, grown or deleted.

use palladion_api::ids::{MemberName, RackName};
use palladion_plan::words::Count;
use palladion_plan::workload::words::TemplateChange;

palladion_plan::sentences! {
    /// What is waited for while objects are created, grown and deleted.
    pub enum Waiting {
        Address { member: MemberName } => CreatingObjects,
            "CassandraMember {member} will be created once its Service has an address and the StatefulSet of its rack has an update revision";
        Resizing { claim: String, member: MemberName, from: String, to: String } => VolumeGrowing,
            "PersistentVolumeClaim {claim} of member {member} is being expanded from {from} to {to}";
        MembersStop => Deleting, "the members are being stopped";
        SetOfAnother { set: String, label: &'static str } => Deleting,
            "StatefulSet {set} carries the label {label} of this cluster, but belongs to something else; delete it, or take the label off, and the claims are deleted";
        ClaimDeleted { claim: String } => Deleting,
            "PersistentVolumeClaim {claim} is being deleted";
    }

    /// Events.
    pub enum Happened {
        RackCreated { rack: RackName } => Synced, "Rack {rack} was created";
        RackStopped { rack: RackName, members: Count } => Synced,
            "Rack {rack} is being stopped ({members}); all volumes are kept";
        RackStarts { rack: RackName, members: Count } => Synced,
            "Rack {rack} is starting with {members}";
        RackScaledUp { rack: RackName, members: Count } => Synced,
            "Rack {rack} is scaling up to {members}";
        RackRemoved { rack: RackName } => Synced, "Rack {rack} was removed";
        SetRecreated { rack: RackName } => Synced,
            "The StatefulSet of rack {rack} is being recreated with the new volume claim template; its pods keep running";
        SetReplaced { rack: RackName } => Synced,
            "The StatefulSet of rack {rack} is being recreated with the new pod template; its pods keep running until their turn in the rollout";
        PolicyDeleted { policy: String } => Synced,
            "NetworkPolicy {policy} was deleted: `network.policy` is None";
        ClaimGrows { claim: String, size: String } => Synced,
            "PersistentVolumeClaim {claim} is being expanded to {size}";
        ClaimDeleted { claim: String } => Synced,
            "PersistentVolumeClaim {claim} was deleted: the cluster is being deleted, and `deletionPolicy` is Delete";
    }

    /// What needs a person.
    pub enum Problem {
        ClaimTerminating { claim: String, member: MemberName } => ClaimTerminating,
            "PersistentVolumeClaim {claim} of member {member} is being deleted and will be gone once the pod of the member terminates, along with its data unless the reclaim policy of the volume is Retain; copy the data or replace the member before then";
        CannotGrow { claim: String, size: String, class: String } => VolumeCannotGrow,
            "PersistentVolumeClaim {claim} cannot be expanded to {size}: storage class `{class}` does not allow volume expansion; if its driver supports expansion, set its `allowVolumeExpansion` to true";
        NoClass { claim: String, size: String } => VolumeCannotGrow,
            "PersistentVolumeClaim {claim} cannot be expanded to {size}: it has no storage class; for larger volumes, add a rack with a storage class that allows volume expansion";
        RackUnknown { member: MemberName, rack: RackName } => RackNotInSpec,
            "member {member} holds data, but its rack {rack} is not in the spec and has no StatefulSet; add the rack to the spec again, with `members: 0` if its members are to leave the ring";
        ClaimTemplate { rack: RackName, change: TemplateChange } => ClaimTemplateKept,
            "rack {rack}: {change}, but this cannot be applied to an existing StatefulSet; revert the change";
    }

    /// An object of a cluster.
    pub enum What {
        ClientService => "the client Service";
        ClientCa => "the ConfigMap with the certificate authorities for clients";
        RoleBinding => "the RoleBinding of the members";
        ServiceAccount => "the ServiceAccount of the members";
        DisruptionBudget => "the PodDisruptionBudget";
        NetworkPolicy => "the NetworkPolicy";
        MemberService { member: MemberName } => "the Service of member {member}";
        LoadBalancer { member: MemberName } => "the load balancer of member {member}";
        Configuration { rack: RackName } => "the ConfigMap of rack {rack}";
        StatefulSet { rack: RackName } => "the StatefulSet of rack {rack}";
        Member { member: MemberName } => "CassandraMember {member}";
    }

    /// Steps.
    pub enum Doing {
        SetFloor { member: MemberName } => "record at member {member} what its servers are not started without";
        RecordOnClaim { claim: String } =>
            "record on PersistentVolumeClaim {claim} which member it belongs to";
        RecordPendingOnClaim { claim: String } =>
            "record on PersistentVolumeClaim {claim} which maintenance of its member is pending";
        ScaleDropped { rack: RackName } => "scale the StatefulSet of rack {rack}, which is no longer in the spec";
        DeleteEmptySet { rack: RackName } =>
            "delete the StatefulSet of rack {rack}, which has no members";
        DeletePolicy { policy: String } => "delete NetworkPolicy {policy}";
        DeleteConfiguration { config_map: String } => "delete unused ConfigMap {config_map}";
        SetFinalizer => "add the finalizer `palladion.dev/teardown`";
        RemoveFinalizer => "remove the finalizer `palladion.dev/teardown`";
        DeleteSet { set: String } => "delete StatefulSet {set}";
        DeleteClaim { claim: String } => "delete PersistentVolumeClaim {claim}";
    }
}
