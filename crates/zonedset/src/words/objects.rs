//! Sets, claims and zones: what is created, recreated, grown or deleted.

use palladion_plan::words::Names;
use palladion_plan::workload::words::{PodState, TemplateChange};

palladion_plan::sentences! {
    /// What is waited for while sets are created and deleted.
    pub enum Waiting {
        BeingDeleted { set: String } => CreatingObjects,
            "StatefulSet {set} is being deleted and will be recreated";
        Created { set: String } => CreatingObjects, "StatefulSet {set} is being created";
        Recreated { set: String } => CreatingObjects,
            "StatefulSet {set} is being recreated; its pods keep running";
        Deleted { set: String } => RollingOut, "StatefulSet {set} is being deleted";
        Superseded { set: String, cause: Superseded } => RollingOut,
            "StatefulSet {set} is being deleted: {cause}";
        NewVersion { set: String, version: i64, newest: Newest } => VersionNotRunning,
            "StatefulSet {set} of version {version} is kept until the StatefulSet that replaces it has a ready pod: {newest}";
    }

    /// Events.
    pub enum Happened {
        Created { set: String, version: i64 } => Synced,
            "StatefulSet {set} created with version {version}";
        Recreated { set: String } => Synced,
            "StatefulSet {set} is being recreated; its pods keep running";
        Deleted { set: String, version: i64, cause: Superseded } => Synced,
            "StatefulSet {set} of version {version} deleted: {cause}";
        ClaimGrows { claim: String, size: String } => Synced,
            "PersistentVolumeClaim {claim} is being expanded to {size}";
    }

    /// What needs a person.
    pub enum Problem {
        ClaimTemplate { set: String, change: TemplateChange } => VolumeClaimTemplatesWarning,
            "StatefulSet {set}: {change}, but this cannot be applied to an existing StatefulSet; revert the change";
        ZoneWithoutNodes { label: String, zone: String, known: KnownZones } => ZoneWithoutNodes,
            "no node has the label {label}={zone}; label the nodes of this zone, or correct `zones` or `zoneNodeLabel` ({known})";
    }

    /// Why a set is no longer needed.
    pub enum Superseded {
        ZoneRemoved { zone_index: usize } => "the spec no longer has a zone with index {zone_index}";
        NewestReady { pod: String } => "pod {pod} of the newest version is ready";
        OtherServes { version: i64 } => "version {version} is serving, and a newer version is being rolled out";
        NoneServes { version: i64 } => "version {version} is newer, and neither StatefulSet has a ready pod";
    }

    /// How the newest version is.
    pub enum Newest {
        NoPod => "the newest version has no pod yet";
        Pod { state: PodState } => "{state}";
    }

    /// Which zones the nodes have.
    pub enum KnownZones {
        NoNode { label: String } => "no node has a label with the key {label}";
        Some { zones: Names } => "zones found on nodes: {zones}";
    }

    /// Steps.
    pub enum Doing {
        Delete { what: String } => "delete {what}";
        LabelPod { pod: String } => "update the labels and annotations of pod {pod}";
    }
}
