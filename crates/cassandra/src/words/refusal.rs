//! Why a spec is not carried out: which field, why, and how to comply.

use super::leave::Bytes;
use palladion_api::ids::RackName;
use palladion_api::member::Word;
use palladion_plan::words::{Count, Names, Quoted};

palladion_plan::sentences! {
    /// A spec that is not carried out. What runs goes on running.
    pub enum Refusal {
        Name { problem: BadName } => InvalidSpec, "{problem}";
        NoAgentImage => InvalidSpec,
            "no agent image is configured; set `sidecarImage` in the spec, or `agentImage` in OperatorConfig default";
        NegativeMembers { rack: RackName, members: i32 } => InvalidSpec,
            "`members` of rack {rack} is {members}; set it to 0 or more";
        NoMembers => InvalidSpec,
            "`members` is 0 in every rack; set it to 1 or more in at least one rack, or delete the CassandraCluster to delete the ring";
        Zero { field: &'static str } => InvalidSpec,
            "`{field}` is 0; set it to 1 or more, or omit it to use the default";
        Version { version: Quoted, supported: Supported } => InvalidSpec,
            "`version` {version} is not supported; {supported}";
        OlderLine { version: String, line: String } => InvalidSpec,
            "`version` {version} belongs to an older release line than {line}, which a member has run; servers cannot read data written by a newer release line, so set a version of release line {line} or newer";
        NotAQuantity { field: String, rack: RackName, text: Quoted } => InvalidSpec,
            "`{field}` of rack {rack}: {text} is not a valid quantity; use a value such as `500m`, `2` or `4Gi`";
        NotMemory { field: MemoryField, text: Quoted } => InvalidSpec,
            "{field}: {text} is not a valid amount of memory; use a value such as `4Gi`";
        RequestAboveLimit { rack: RackName, request: String, resource: String, limit: String } => InvalidSpec,
            "`resources.requests.{resource}` of rack {rack} is {request}, more than the limit of {limit}; lower the request or raise `resources.limits.{resource}`";
        HeapOfScylla => InvalidSpec, "`heapSize` applies to Cassandra only, since ScyllaDB has no JVM; remove it";
        ExporterOfScylla { rack: RackName } => InvalidSpec,
            "rack {rack}: `jmxExporterConfigMapName` applies to Cassandra only, since ScyllaDB exports metrics itself; remove it";
        RuntimeSettingsOfScylla => InvalidSpec,
            "`runtimeSettings` applies to Cassandra only; use `config` instead";
        TlsOfScylla => InvalidSpec, "`tls` applies to Cassandra only; use `config` instead";
        ClientTlsOf40 => InvalidSpec,
            "`tls.client` requires Cassandra 4.1 or newer; upgrade first, or remove it";
        NoCertificates => InvalidSpec,
            "`tls.client` needs a server certificate that clients can verify; set `tls.client.certificates.operator: {{}}` or `tls.client.certificates.secretName`";
        TwoSources => InvalidSpec,
            "`tls.client.certificates` has two sources; set either `operator: {{}}` or `secretName`";
        InternodeTlsOf40 => InvalidSpec,
            "`tls.internode` requires Cassandra 4.1 or newer; upgrade first, or remove it";
        NoInternodeCertificates => InvalidSpec,
            "`tls.internode` needs certificates; set `tls.internode.certificates.operator: {{}}`";
        TooMuchTrust { all: Count, most: usize } => InvalidSpec,
            "`tls.internode.additionalTrust` has {all}; at most {most} are possible";
        Trust { name: Quoted, why: BadTrust } => InvalidSpec,
            "`tls.internode.additionalTrust` {name}: {why}";
        BackupOfScylla => InvalidSpec,
            "`backup` applies to Cassandra only; use Scylla Manager instead";
        Stores => InvalidSpec,
            "`backup.store` needs exactly one of `s3`, `gcs`, `azure` and `volume`";
        BackupRates => InvalidSpec,
            "`backup.limits.minimumBytesPerSecond` is more than `bytesPerSecond`; lower it, or raise `bytesPerSecond`";
        StoreTransport => InvalidSpec,
            "`backup.store.s3`: `transport: Plain` and an `endpoint` that begins with `http://` go together; for TLS, use `https://` and `transport: Tls`";
        StoreName { field: &'static str, text: Quoted } => InvalidSpec,
            "`backup.store`: {text} is not a valid {field}; use letters and digits, with `.`, `-` or `_` between them, and in a prefix `/` between its parts";
        CredentialsOfVolume => InvalidSpec,
            "`backup.credentialsSecretName` does not apply to `backup.store.volume`; remove it";
        MaxLoss { seconds: u32 } => InvalidSpec,
            "`backup.archive.maxLossSeconds` is {seconds}; set it to a value from 20 to 3600";
        MaxLocal { text: Quoted } => InvalidSpec,
            "`backup.archive.maxLocal`: {text} is not a valid amount, or less than `64Mi`; use a value such as `16Gi`";
        ArchivePeriodic { key: &'static str } => InvalidSpec,
            "`backup.archive` needs a commit log that has a write before it is acknowledged; remove `{key}` from `config`, or set `backup.archive.mode: Off`";
        ArchiveBeside { key: &'static str } => InvalidSpec,
            "`backup.archive` cannot follow a commit log that is compressed, encrypted or written with direct I/O; remove `{key}` from `config`, or set `backup.archive.mode: Off`";
        DatacentersOfScylla => InvalidSpec,
            "`ring` and `externalSeeds` apply to Cassandra only; remove them";
        LeaveOfScylla => InvalidSpec,
            "`datacenter.leave` applies to Cassandra only; remove it";
        ExistingWithoutSeeds => InvalidSpec,
            "`ring.origin: Existing` needs `externalSeeds`; list the seeds of the ring that this datacenter joins";
        SeedsNotRouted => InvalidSpec,
            "members broadcast the ClusterIPs of their Services, so members elsewhere must reach those; route the Service networks to each other, then set `network.clusterIPsAreRouted: true`";
        InternodeTlsElsewhere => InvalidSpec,
            "with `externalSeeds`, TLS between members needs the authorities of the other datacenters; list their certificates in `tls.internode.additionalTrust`, and the authority of this cluster in theirs, or set `tls.internode.mode: Off`";
        OneStepAtATime { wanted: &'static str, next: &'static str } => InvalidSpec,
            "`tls.internode.mode: {wanted}` is more than one step away from what members have, and with `externalSeeds` nobody here sees how far the other datacenters are; set {next} in every datacenter first";
        ExistingIsNotRestored => InvalidSpec,
            "a datacenter of a ring that exists begins empty; remove `backup.restore`, or `ring.origin: Existing`";
        SeedPlaces => InvalidSpec,
            "names of `externalSeeds` must be unique, and each of them has at least one of `addresses`; correct them";
        SeedNetworks => InvalidSpec,
            "list the `networks` of each of the `externalSeeds` with `network.policy: Managed`, and only then";
        SeedNetwork { text: Quoted } => InvalidSpec,
            "`externalSeeds[].networks`: {text} is not a valid range of addresses; use a range such as `10.4.0.0/16`";
        SeedAddress { text: Quoted } => InvalidSpec,
            "`externalSeeds[].addresses`: {text} is neither an IP address nor a DNS name; write one without a port";
        NetworkOfScylla => InvalidSpec,
            "`network` applies to Cassandra only; create a NetworkPolicy of your own instead";
        PeersWithoutPolicy => InvalidSpec,
            "`network.clientsFrom` and `network.metricsFrom` take effect with `network.policy: Managed` only; set it, or remove them";
        Peer { field: PeerField } => InvalidSpec,
            "{field}: each peer is either an `ipBlock`, or pods by `podSelector`, `namespaceSelector` or both; correct it";
        PeerBlock { field: PeerField, text: Quoted } => InvalidSpec,
            "{field}: {text} is not a valid range of addresses, or as an exception is not within its `cidr`; use a range such as `10.0.0.0/8`";
        RangesAndLoadBalancers => InvalidSpec,
            "`network.broadcast.clients: LoadBalancer` and `network.broadcast.sourceRanges` need each other; list the ranges of addresses from which clients connect, or remove `sourceRanges`";
        SourceRange { text: Quoted } => InvalidSpec,
            "`network.broadcast.sourceRanges`: {text} is not a valid range of addresses; use a range such as `203.0.113.0/24`";
        SidecarsOfScylla => InvalidSpec,
            "`sidecars` applies to Cassandra only, since they would reach the REST API of ScyllaDB, which has no authentication; remove them";
        SidecarsOf40 => InvalidSpec,
            "`sidecars` requires Cassandra 4.1 or newer; upgrade first, or remove them";
        Sidecar { name: Quoted, problem: BadSidecar } => InvalidSpec, "sidecar {name}: {problem}";
        CdcOfScylla => InvalidSpec,
            "`cdc` applies to Cassandra only, since ScyllaDB writes its changes to tables; remove it";
        DroppingOf40 => InvalidSpec,
            "`cdc.onFull: DropOldest` requires Cassandra 4.1 or newer; upgrade first, or set `Block`";
        CdcSpace { text: Quoted } => InvalidSpec,
            "`cdc.totalSpace`: {text} is not a valid amount; use a value such as `4Gi`";
        CdcSpaceSmall { space: Bytes, least: Bytes, segment: Bytes } => InvalidSpec,
            "`cdc.totalSpace` is {space}, less than the eight segments of {segment} that a commit log needs there; set it to {least} or more";
        CdcSpaceLarge { space: Bytes, rack: RackName, size: String } => InvalidSpec,
            "`cdc.totalSpace` is {space}, more than half of the {size} that each volume of rack {rack} has; lower it, or request larger volumes";
        CdcWithoutReader => InvalidSpec,
            "`cdc.mode: On` requires a sidecar with `cdc: ReadWrite` that reads the changes, and sidecars require Cassandra 4.1 or newer; add one, or set `cdc.mode: Off`";
        CdcPeriodic { key: &'static str } => InvalidSpec,
            "`cdc` needs a commit log that has a write before it is acknowledged, or a server that is killed keeps writes from the reader; remove `{key}` from `config`, or set `cdc.mode: Off`";
        AuditOfScylla => InvalidSpec, "`audit` applies to Cassandra only; use `config` instead";
        AuditCategoryTwice { category: &'static str } => InvalidSpec,
            "`audit.categories`: {category} is listed twice; remove one of them";
        AuditKeyspace { name: Quoted } => InvalidSpec,
            "`audit.excludedKeyspaces`: {name} is not the name of a keyspace; use letters, digits and `_`, without quotes";
        AuthOfScylla => InvalidSpec, "`auth` applies to Cassandra only; use `config` instead";
        NotALogger { name: Quoted } => InvalidSpec,
            "`runtimeSettings.logLevels`: {name} is not a valid logger name; use the name of a class or a package, or ROOT";
        NotALevel { level: Word, name: Quoted } => InvalidSpec,
            "`runtimeSettings.logLevels`: level `{level}` of logger {name} is not valid; use TRACE, DEBUG, INFO, WARN, ERROR or OFF";
        OurVariable { name: String } => InvalidSpec,
            "environment variable {name} is reserved; remove it from `env`, and set `jvmOptions`, `config` or another field of the spec instead";
        VariableTwice { name: String } => InvalidSpec,
            "environment variable {name} is listed twice in `env`; remove one of the entries";
        OurAnnotation { key: String, place: Place } => InvalidSpec,
            "annotation {key} in `annotations` of {place} is reserved for the operator; remove it";
        Claim { rack: RackName, problem: BadClaim } => InvalidSpec, "rack {rack}: {problem}";
        StorageClass { rack: RackName, problem: NoStorageClass, existing: Classes } => StorageClassMissing,
            "rack {rack}: {problem}; {existing}";
        TooLittleMemory { field: MemoryField, limit: String, least: u64 } => NotEnoughMemory,
            "{field} is {limit}, but Cassandra needs at least {least}Mi; raise it";
        HeapTooLarge { heap: u64, share: u64, field: MemoryField, limit: String } => NotEnoughMemory,
            "`heapSize` is {heap}Mi, more than {share}% of {field} ({limit}); raise the limit or lower `heapSize`";
        Setting { problem: BadSetting } => InvalidSpec, "{problem}";
        ConfigMapSetting { problem: BadSetting } => ConfigMapInvalid, "{problem}";
        ConfigMapKey { key: String, name: String, rack: RackName, used: Names } => ConfigMapInvalid,
            "key {key} of ConfigMap {name} of rack {rack} would be ignored; rename or remove it (supported keys: {used})";
        ConfigMapEmpty { name: String, rack: RackName, used: Names } => ConfigMapInvalid,
            "ConfigMap {name} of rack {rack} has no settings; add at least one key (supported keys: {used})";
        ConfigMapNoKey { name: String, rack: RackName, key: &'static str } => ConfigMapInvalid,
            "ConfigMap {name} of rack {rack} has no key {key}; add it";
        ConfigMapUnreadable { key: &'static str, name: String, rack: RackName, why: String } => ConfigMapInvalid,
            "key {key} of ConfigMap {name} of rack {rack} cannot be parsed: {why}; correct it";
        ConfigMapMissing { name: String, rack: RackName } => ConfigMapMissing,
            "ConfigMap {name} of rack {rack} does not exist; create it, or remove the reference to it from the spec";
        ConfigMapUnknown { name: String, rack: RackName, why: String } => FactUnknown,
            "ConfigMap {name} of rack {rack} could not be read: {why}; the operator will retry";
    }

    /// What is wrong with an authority of others.
    pub enum BadTrust {
        NotPem => "`certificate` is not one certificate in PEM format; copy it from `status.authorities` of the other CassandraCluster";
        Unreadable { why: String } => "`certificate` cannot be read ({why}); copy it again from `status.authorities` of the other CassandraCluster";
        NotAnAuthority => "`certificate` does not belong to a certificate authority; use the certificate of the authority, not the one of a member";
        Twice => "its name or its certificate is in the list twice; remove one of them";
    }

    /// Names that no object, label or ring could bear.
    pub enum BadName {
        Cluster { name: String } =>
            "name {name} cannot be used as the prefix of Service names; recreate the CassandraCluster with a name that starts with a letter and contains only a-z, 0-9 and `-`";
        EmptyRing =>
            "`ringName` is empty; set it, or omit it to use the name of the CassandraCluster";
        Datacenter { name: Quoted } =>
            "`datacenter.name` {name} is not valid; use letters, digits, `_`, `.` and `-`, and start and end with a letter or digit";
        Zones =>
            "`zones`, `rackTemplate` and `zoneNodeLabel` belong together and take the place of `racks`; correct the datacenter";
        NoRacks => "`datacenter.racks` is empty; add at least one rack";
        Rack { name: Quoted } =>
            "rack name {name} is not valid; use letters, digits, `_`, `.` and `-`, and start and end with a letter or digit";
        RackTwice { rack: RackName } =>
            "rack {rack} is listed twice, or differs from another rack only in case or in `_`, `.` and `-`; rename one";
        TooLong { rack: RackName, set: String, length: usize, most: usize } =>
            "the StatefulSet of rack {rack} would be named {set}, which has {length} characters, but the maximum is {most}; shorten the name of the CassandraCluster, the datacenter or the rack";
    }

    /// Versions that can be run.
    pub enum Supported {
        Scylla => "use a version of ScyllaDB such as 6.2.0";
        Cassandra { lines: String } => "use a version such as 5.0.5 (supported release lines: {lines})";
    }

    /// Where peers are listed.
    pub enum PeerField {
        Clients => "`network.clientsFrom`";
        Metrics => "`network.metricsFrom`";
    }

    /// A container that no pod can have beside the server.
    pub enum BadSidecar {
        Named { ours: Names } =>
            "its name is not valid; use a-z, 0-9 and `-`, start and end with a letter or digit, and use no name of another container ({ours})";
        Twice => "another one has the same name; rename one";
        NothingToRead => "`cdc: ReadWrite` needs `cdc`; set `cdc.mode: On`, or remove `cdc` from the sidecar";
        PortName { port: Quoted } =>
            "port name {port} is not valid or used twice; use a-z, 0-9 and single `-` between them, and start with a letter";
        Port { port: i32 } =>
            "port {port} is used by the server, by its agent or by another sidecar; choose another one";
        VariableTwice { variable: String } =>
            "environment variable {variable} is listed twice; remove one of the entries";
        NotAQuantity { field: String, text: Quoted } =>
            "`{field}`: {text} is not a valid quantity; use a value such as `500m`, `2` or `4Gi`";
        RequestAboveLimit { resource: String, request: String, limit: String } =>
            "`resources.requests.{resource}` is {request}, more than the limit of {limit}; lower the request or raise the limit";
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
            "setting {key} in {place} is managed by the operator; remove it ({instead})";
        SetByField { key: String, place: Place, field: &'static str } =>
            "setting {key} in {place} is already set by `{field}`, or by what was settled for the ring where the spec says nothing of it (`status.security`); remove it, or say with `{field}` what you want";
        TlsByHand { key: String, place: Place } =>
            "setting {key} in {place} cannot be used with password authentication (`auth`), because the agents would be unable to log in; remove it and set `tls.client` instead";
        OptionsOfScylla { place: Place } =>
            "{place} has JVM options, but ScyllaDB has no JVM; remove them";
        NoDash { option: String, place: Place } =>
            "JVM option {option} in {place} does not start with `-`; correct it";
        ReservedOption { option: String, place: Place, instead: &'static str } =>
            "JVM option {option} in {place} is managed by the operator; remove it ({instead})";
    }

    /// A claim template that is not one member's alone.
    pub enum BadClaim {
        Several { templates: Count } => "`volumeClaimTemplates` lists {templates}, but a member has only one volume; keep one";
        Named { name: Quoted, most: usize, ours: Names } =>
            "volume claim template name {name} is invalid or reserved; use at most {most} characters of a-z, 0-9 and `-`, starting and ending with a letter or digit (reserved names: {ours})";
        Size { size: Quoted } =>
            "`resources.requests.storage` of the volume claim template is {size}, which is not a valid size; use a value such as `10Gi`";
        Label { label: String } =>
            "label {label} of the volume claim template is reserved for the operator; remove it";
        Field { field: &'static str } =>
            "the volume claim template cannot set `{field}`, because each member starts on its own empty volume; remove it";
        VolumeMode { mode: String } =>
            "the volume claim template has volume mode {mode}, but a server needs a file system; use Filesystem";
        AccessMode { mode: String, ours: &'static str } =>
            "access mode {mode} of the volume claim template is not supported; use {ours}";
    }

    /// Why a claim has no storage class.
    pub enum NoStorageClass {
        Missing { name: String } =>
            "storage class {name} does not exist";
        NoDefault =>
            "`storageClassName` is not set, and there is no default storage class";
    }

    /// The storage classes of the Kubernetes cluster.
    pub enum Classes {
        CreateNamed => "create it (the Kubernetes cluster has no storage classes)";
        CreateDefault => "create one (the Kubernetes cluster has no storage classes)";
        Some { names: Names } => "set `storageClassName` to an existing storage class (available: {names})";
    }

    /// Why a ConfigMap is not known.
    pub enum Unread {
        Unwatched => "it is not being watched yet";
    }
}
