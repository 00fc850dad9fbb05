//! Objects, claims and volumes: what is created, recreated, grown or deleted.

use palladion_api::ids::{MemberName, RackName};
use palladion_plan::words::Count;
use palladion_plan::workload::words::TemplateChange;

palladion_plan::sentences! {
    /// What is waited for while objects are created, grown and deleted.
    pub enum Waiting {
        Address { member: MemberName } => CreatingObjects,
            "member {member} waits for the address of its Service and the StatefulSet of its rack";
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
            "Rack {rack} is stopped; the volumes of {members} are kept";
        RackStarts { rack: RackName, members: Count } => Synced,
            "Rack {rack} starts with {members}";
        RackScaledUp { rack: RackName, members: Count } => Synced,
            "Rack {rack} scaled up to {members}";
        RackRemoved { rack: RackName } => Synced, "Rack {rack} is removed";
        SetRecreated { rack: RackName } => Synced,
            "The StatefulSet of rack {rack} is being recreated with the new claim template; its pods keep running";
        ClaimGrows { claim: String, size: String } => Synced,
            "PersistentVolumeClaim {claim} grows to {size}";
        ClaimDeleted { claim: String } => Synced,
            "PersistentVolumeClaim {claim} is deleted with its data";
    }

    /// What needs a person.
    pub enum Problem {
        ClaimTerminating { claim: String, member: MemberName } => ClaimTerminating,
            "PersistentVolumeClaim {claim} of member {member} is being deleted: its data is lost as soon as the pod ends";
        CannotGrow { claim: String, size: String, class: String } => VolumeCannotGrow,
            "PersistentVolumeClaim {claim} should grow to {size}, and storage class `{class}` does not allow volume expansion";
        RackUnknown { member: MemberName, rack: RackName } => RackNotInSpec,
            "member {member} holds data; its rack {rack} is not in the spec and has no StatefulSet";
        ClaimTemplate { rack: RackName, change: TemplateChange } => ClaimTemplateKept,
            "rack {rack}: {change}; existing claims are not changed, set it back";
    }

    /// An object of a cluster.
    pub enum What {
        ClientService => "the client Service";
        RoleBinding => "the RoleBinding of the members";
        ServiceAccount => "the ServiceAccount of the members";
        DisruptionBudget => "the PodDisruptionBudget";
        MemberService { member: MemberName } => "the Service of member {member}";
        Configuration { rack: RackName } => "the configuration of rack {rack}";
        StatefulSet { rack: RackName } => "the StatefulSet of rack {rack}";
        Member { member: MemberName } => "member {member}";
    }

    /// Steps.
    pub enum Doing {
        RecordOnClaim { claim: String } =>
            "record on PersistentVolumeClaim {claim} whose data it holds";
        ScaleDropped { rack: RackName } => "scale rack {rack}, which is no longer in the spec";
        DeleteEmptySet { rack: RackName } =>
            "delete the StatefulSet of rack {rack}, which has no members";
        DeleteConfiguration { config_map: String } => "delete the unused ConfigMap {config_map}";
        SetFinalizer => "set the teardown finalizer";
        RemoveFinalizer => "remove the teardown finalizer";
        DeleteSet { set: String } => "delete the StatefulSet {set}";
        DeleteClaim { claim: String } => "delete PersistentVolumeClaim {claim} with its data";
    }
}
