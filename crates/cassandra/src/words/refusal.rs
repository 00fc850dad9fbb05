//! Why a spec is not carried out: which field, why, and how to comply.

use palladion_api::ids::RackName;
use palladion_plan::words::{Count, Names, Quoted};

palladion_plan::sentences! {
    /// A spec that is not carried out. What runs goes on running.
    pub enum Refusal {
        Name { problem: BadName } => InvalidSpec, "{problem}";
        NoAgentImage => InvalidSpec,
            "no image of the agent is known; set `sidecarImage`, or `agentImage` of OperatorConfig default";
        NegativeMembers { rack: RackName, members: i32 } => InvalidSpec,
            "`members` of rack {rack} is {members}; set it to 0 or more";
        NoMembers => InvalidSpec,
            "no rack has a member; set `members` of a rack to 1 or more, or delete the cluster to end the ring";
        Zero { field: &'static str } => InvalidSpec,
            "`{field}` is 0; set it to 1 or more, or leave it out for the default";
        Version { version: Quoted, supported: Supported } => InvalidSpec,
            "`version` {version} is not supported; {supported}";
        OlderLine { version: String, line: String } => InvalidSpec,
            "`version` {version} is of an older release line than {line}, which a member has run: a server cannot read what a newer line wrote; set a version of line {line} or newer";
        NotAQuantity { field: String, rack: RackName, text: Quoted } => InvalidSpec,
            "`{field}` of rack {rack}: {text} is not a valid quantity; use for example `500m`, `2` or `4Gi`";
        NotMemory { field: MemoryField, text: Quoted } => InvalidSpec,
            "{field}: {text} is not a valid amount of memory; use for example `4Gi`";
        RequestAboveLimit { rack: RackName, request: String, resource: String, limit: String } => InvalidSpec,
            "rack {rack} requests {request} of {resource} and limits it to {limit}; raise `resources.limits.{resource}` or lower the request";
        HeapOfScylla => InvalidSpec, "`heapSize` is for Cassandra; remove it, Scylla has no JVM";
        ExporterOfScylla { rack: RackName } => InvalidSpec,
            "rack {rack}: `jmxExporterConfigMapName` is for Cassandra; remove it, Scylla exports metrics by itself";
        RuntimeSettingsOfScylla => InvalidSpec,
            "`runtimeSettings` are for Cassandra; remove them and use `config`";
        TlsOfScylla => InvalidSpec, "`tls` is for Cassandra; remove it and use `config`";
        ClientTlsOf40 => InvalidSpec,
            "`tls.client` needs Cassandra 4.1 or newer; upgrade first, or remove it";
        NoCertificates => InvalidSpec,
            "`tls.client` names no certificates; set `tls.client.certificates.secretName`";
        AuthOfScylla => InvalidSpec, "`auth` is for Cassandra; remove it and use `config`";
        NotALogger { name: Quoted } => InvalidSpec,
            "{name} in `logLevels` is not a logger; name a class, a package or ROOT";
        OurVariable { name: String } => InvalidSpec,
            "environment variable {name} is set by the operator; remove it from `env`";
        VariableTwice { name: String } => InvalidSpec,
            "environment variable {name} occurs twice in `env`, and one of them would be ignored; leave one";
        OurAnnotation { key: String, place: Place } => InvalidSpec,
            "annotation {key} in `annotations` of {place} is reserved for the operator; remove it";
        Claim { rack: RackName, problem: BadClaim } => InvalidSpec, "rack {rack} has {problem}";
        StorageClass { rack: RackName, problem: NoStorageClass, existing: Classes } => StorageClassMissing,
            "rack {rack}: {problem}; {existing}";
        TooLittleMemory { field: MemoryField, limit: String, least: u64 } => NotEnoughMemory,
            "{field} is {limit} and Cassandra needs at least {least}Mi; raise it";
        HeapTooLarge { heap: u64, share: u64, field: MemoryField, limit: String } => NotEnoughMemory,
            "`heapSize` is {heap}Mi, more than {share} % of {field}, which is {limit}; raise the limit or lower the heap";
        Setting { problem: BadSetting } => InvalidSpec, "{problem}";
        ConfigMapSetting { problem: BadSetting } => ConfigMapInvalid, "{problem}";
        ConfigMapKey { key: String, name: String, rack: RackName, used: Names } => ConfigMapInvalid,
            "key {key} of ConfigMap {name} of rack {rack} would be ignored; rename or remove it (keys that are read: {used})";
        ConfigMapEmpty { name: String, rack: RackName, used: Names } => ConfigMapInvalid,
            "ConfigMap {name} of rack {rack} has no settings; add at least one of {used}";
        ConfigMapNoKey { name: String, rack: RackName, key: &'static str } => ConfigMapInvalid,
            "ConfigMap {name} of rack {rack} has no key {key}; add it";
        ConfigMapUnreadable { key: &'static str, name: String, rack: RackName, why: String } => ConfigMapInvalid,
            "key {key} of ConfigMap {name} of rack {rack} cannot be read: {why}; correct it";
        ConfigMapMissing { name: String, rack: RackName } => ConfigMapMissing,
            "ConfigMap {name} of rack {rack} does not exist; create it, or remove its name from the spec";
        ConfigMapUnknown { name: String, rack: RackName, why: String } => FactUnknown,
            "ConfigMap {name} of rack {rack} could not be read: {why}; the operator tries again";
    }

    /// Names that no object, label or ring could bear.
    pub enum BadName {
        Cluster { name: String } =>
            "the cluster's name {name} begins the names of Services; recreate the cluster with a name of a-z, 0-9 and `-` that begins with a letter";
        EmptyRing =>
            "`ringName` is empty; give the ring a name, or leave it out for the cluster's";
        Datacenter { name: Quoted } =>
            "`datacenter.name` {name} is not a valid name; use letters, digits, `_`, `.` and `-`, and begin and end with a letter or digit";
        NoRacks => "`datacenter.racks` is empty; name at least one rack";
        Rack { name: Quoted } =>
            "the name of rack {name} is not a valid name; use letters, digits, `_`, `.` and `-`, and begin and end with a letter or digit";
        RackTwice { rack: RackName } =>
            "rack {rack} occurs twice, or differs from another only by case, `_` or `.`; give each rack a name of its own";
        TooLong { rack: RackName, set: String, length: usize, most: usize } =>
            "the StatefulSet of rack {rack} would be named {set}, {length} characters long; shorten the names of cluster, datacenter or rack so that it has at most {most}";
    }

    /// Versions that can be run.
    pub enum Supported {
        Scylla => "use a version of Scylla such as 6.2.0";
        Cassandra { lines: String } => "use one of the lines {lines}, for example 5.0.5";
    }

    /// Where an amount of memory stands.
    pub enum MemoryField {
        Heap => "`heapSize`";
        Limit { rack: RackName } => "`resources.limits.memory` of rack {rack}";
    }

    /// Where a setting stands.
    pub enum Place {
        Spec => "the spec";
        Rack { rack: RackName } => "rack {rack}";
        ConfigMap { name: String, rack: RackName } => "ConfigMap {name} of rack {rack}";
    }

    /// A setting or an option that a server cannot be given.
    pub enum BadSetting {
        Reserved { key: String, place: Place, instead: &'static str } =>
            "setting {key} in {place} is reserved for the operator: {instead}; remove it";
        SetByField { key: String, place: Place, field: &'static str } =>
            "setting {key} in {place} is set by `{field}`; remove it, or remove `{field}`";
        OptionsOfScylla { place: Place } =>
            "{place} has JVM options and Scylla has no JVM; remove them";
        NoDash { option: String, place: Place } =>
            "JVM option {option} in {place} does not begin with `-`; correct it";
        ReservedOption { option: String, place: Place, instead: &'static str } =>
            "JVM option {option} in {place} is reserved for the operator: {instead}; remove it";
    }

    /// A claim template that is not one member's alone.
    pub enum BadClaim {
        Several { templates: Count } => "{templates}; a member has one volume, leave one";
        Named { name: Quoted, most: usize, ours: Names } =>
            "a claim template named {name}; use a-z, 0-9 and `-`, at most {most} characters, and none of {ours}";
        Label { label: String } =>
            "the label {label} on its claim, which the operator sets; remove it";
        Field { field: &'static str } =>
            "`{field}` in its claim; remove it, a member starts on an empty volume of its own";
        VolumeMode { mode: String } =>
            "a claim of volume mode {mode}; a server needs a file system, use Filesystem";
        AccessMode { mode: String, ours: &'static str } =>
            "a claim of access mode {mode}; a member does not share its volume, use {ours}";
    }

    /// Why a claim has no storage class.
    pub enum NoStorageClass {
        Missing { name: String } =>
            "storage class {name} does not exist; create it, or name one that exists in `storageClassName`";
        NoDefault =>
            "no storage class is named and none is the default one; name one in `storageClassName`";
    }

    /// The storage classes of the Kubernetes cluster.
    pub enum Classes {
        None => "no storage class exists";
        Some { names: Names } => "existing storage classes: {names}";
    }

    /// Why a ConfigMap is not known.
    pub enum Unread {
        Unwatched => "it is not watched yet";
    }
}
