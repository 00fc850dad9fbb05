//! Objects, claims and volumes: what is created, recreated, grown or deleted.

use palladion_api::ids::{MemberName, RackName};
use palladion_plan::words::Count;
use palladion_plan::workload::words::TemplateChange;

palladion_plan::sentences! {
    /// What is waited for while objects are created, grown and deleted.
    pub enum Waiting {
        Address { member: MemberName } => CreatingObjects,
            "member {member} is waiting for the address of its Service and for the StatefulSet of its rack";
        Resizing { claim: String, member: MemberName, from: String, to: String } => VolumeGrowing,
            "PersistentVolumeClaim {claim} of member {member} is being resized from {from} to {to}";
        MembersStop => Deleting, "the members are being stopped";
        ClaimDeleted { claim: String } => Deleting,
            "PersistentVolumeClaim {claim} is being deleted";
    }

    /// Events.
    pub enum Happened {
        RackCreated { rack: RackName } => Synced, "Rack {rack} created";
        RackStopped { rack: RackName, members: Count } => Synced,
            "Rack {rack} is being stopped; the volumes of {members} are kept";
        RackStarts { rack: RackName, members: Count } => Synced,
            "Rack {rack} starts with {members}";
        RackScaledUp { rack: RackName, members: Count } => Synced,
            "Rack {rack} scaled up to {members}";
        RackRemoved { rack: RackName } => Synced, "Rack {rack} was removed";
        SetRecreated { rack: RackName } => Synced,
            "The StatefulSet of rack {rack} is being recreated with the new volume claim template; its pods keep running";
        ClaimGrows { claim: String, size: String } => Synced,
            "PersistentVolumeClaim {claim} is being expanded to {size}";
        ClaimDeleted { claim: String } => Synced,
            "PersistentVolumeClaim {claim} was deleted with its data";
    }

    /// What needs a person.
    pub enum Problem {
        ClaimTerminating { claim: String, member: MemberName } => ClaimTerminating,
            "PersistentVolumeClaim {claim} of member {member} is being deleted, and its data will be lost as soon as the pod terminates; copy the data or replace the member before then";
        CannotGrow { claim: String, size: String, class: String } => VolumeCannotGrow,
            "PersistentVolumeClaim {claim} cannot be expanded to {size}: storage class `{class}` does not allow volume expansion; set its `allowVolumeExpansion` to true";
        RackUnknown { member: MemberName, rack: RackName } => RackNotInSpec,
            "member {member} holds data, but its rack {rack} is not in the spec and has no StatefulSet; add the rack to the spec";
        ClaimTemplate { rack: RackName, change: TemplateChange } => ClaimTemplateKept,
            "rack {rack}: {change}, but existing PersistentVolumeClaims are not changed; revert the template";
    }

    /// An object of a cluster.
    pub enum What {
        ClientService => "the client Service";
        RoleBinding => "the RoleBinding of the members";
        ServiceAccount => "the ServiceAccount of the members";
        DisruptionBudget => "the PodDisruptionBudget";
        MemberService { member: MemberName } => "the Service of member {member}";
        Configuration { rack: RackName } => "the ConfigMap of rack {rack}";
        StatefulSet { rack: RackName } => "the StatefulSet of rack {rack}";
        Member { member: MemberName } => "CassandraMember {member}";
    }

    /// Steps.
    pub enum Doing {
        RecordOnClaim { claim: String } =>
            "record on PersistentVolumeClaim {claim} which member it belongs to";
        ScaleDropped { rack: RackName } => "adjust the replicas of rack {rack}, which is no longer in the spec";
        DeleteEmptySet { rack: RackName } =>
            "delete the StatefulSet of rack {rack}, which has no members";
        DeleteConfiguration { config_map: String } => "delete the unused ConfigMap {config_map}";
        SetFinalizer => "set the teardown finalizer";
        RemoveFinalizer => "remove the teardown finalizer";
        DeleteSet { set: String } => "delete the StatefulSet {set}";
        DeleteClaim { claim: String } => "delete PersistentVolumeClaim {claim} with its data";
    }
}
