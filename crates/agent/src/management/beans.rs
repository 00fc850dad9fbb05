//! The server's MBeans, attributes and operations that the agent uses: every
//! one of them, because Jolokia's policy allows these and no other.

pub(crate) const STORAGE_SERVICE: &str = "org.apache.cassandra.db:type=StorageService";
pub(crate) const FAILURE_DETECTOR: &str = "org.apache.cassandra.net:type=FailureDetector";
pub(crate) const GOSSIPER: &str = "org.apache.cassandra.net:type=Gossiper";
pub(crate) const LOAD: &str = "org.apache.cassandra.metrics:type=Storage,name=Load";
pub(crate) const PENDING_COMPACTIONS: &str =
    "org.apache.cassandra.metrics:type=Compaction,name=PendingTasks";
pub(crate) const MESSAGING_SERVICE: &str = "org.apache.cassandra.net:type=MessagingService";
/// Messages by kind that came too late to be worked at.
pub(crate) const DROPPED: &str = "DroppedMessages";
pub(crate) const CLIENT_WRITES: &str =
    "org.apache.cassandra.metrics:type=ClientRequest,scope=Write,name=Latency";
pub(crate) const CLIENT_READS: &str =
    "org.apache.cassandra.metrics:type=ClientRequest,scope=Read,name=Latency";
pub(crate) const P99: &str = "99thPercentile";
pub(crate) const CLIENTS: &str =
    "org.apache.cassandra.metrics:type=Client,name=connectedNativeClients";
pub(crate) const STREAMED_IN: &str =
    "org.apache.cassandra.metrics:type=Streaming,name=TotalIncomingBytes";
pub(crate) const STREAMED_OUT: &str =
    "org.apache.cassandra.metrics:type=Streaming,name=TotalOutgoingBytes";
/// Repair that the server does by itself (5.0.8 with a system property, 6.0); before there is none.
pub(crate) const AUTO_REPAIR_SERVICE: &str = "org.apache.cassandra.db:type=AutoRepairService";
/// Is its scheduler not enabled?
pub(crate) const AUTO_REPAIR_DISABLED: &str = "AutoRepairDisabled";
/// The same the other way round, in later versions of the MBean.
pub(crate) const AUTO_REPAIR_ENABLED: &str = "Enabled";
pub(crate) const COMPACTION_MANAGER: &str = "org.apache.cassandra.db:type=CompactionManager";
pub(crate) const COMMIT_LOG: &str = "org.apache.cassandra.db:type=Commitlog";
/// What streams now.
pub(crate) const STREAM_MANAGER: &str = "org.apache.cassandra.net:type=StreamManager";
pub(crate) const STREAMS: &str = "CurrentStreams";
pub(crate) const MEMORY: &str = "java.lang:type=Memory";

/// What a look reads. All of it can be asked of a server at any time: one
/// attribute that throws an error would take the whole answer with it.
pub(crate) const LOOK: [(&str, &str); 25] = [
    (STORAGE_SERVICE, "OperationMode"),
    (STORAGE_SERVICE, "NativeTransportRunning"),
    (STORAGE_SERVICE, "GossipRunning"),
    (STORAGE_SERVICE, "ReleaseVersion"),
    (STORAGE_SERVICE, "LocalHostId"),
    (STORAGE_SERVICE, "SchemaVersion"),
    // What gossip says of schemas; StorageProxy's own answer asks every member
    // and takes ten seconds where one of them is silent.
    (FAILURE_DETECTOR, "AllEndpointStatesWithPort"),
    (GOSSIPER, "Seeds"),
    (STORAGE_SERVICE, "LiveNodesWithPort"),
    (STORAGE_SERVICE, "UnreachableNodesWithPort"),
    (STORAGE_SERVICE, "JoiningNodesWithPort"),
    (STORAGE_SERVICE, "LeavingNodesWithPort"),
    (STORAGE_SERVICE, "MovingNodesWithPort"),
    (STORAGE_SERVICE, "EndpointWithPortToHostId"),
    (LOAD, "Count"),
    (PENDING_COMPACTIONS, "Value"),
    (MEMORY, "HeapMemoryUsage"),
    (CLIENTS, "Value"),
    (MESSAGING_SERVICE, DROPPED),
    // Not there before the first write, or read, of a client.
    (CLIENT_WRITES, P99),
    (CLIENT_READS, P99),
    // Not there before the first stream.
    (STREAMED_IN, "Count"),
    (STREAMED_OUT, "Count"),
    (AUTO_REPAIR_SERVICE, AUTO_REPAIR_DISABLED),
    (AUTO_REPAIR_SERVICE, AUTO_REPAIR_ENABLED),
];

/// What is read only of a full member: the server asserts that it has tokens.
pub(crate) const READ_WHEN_NORMAL: [(&str, &str); 3] = [
    (STORAGE_SERVICE, "Tokens"),
    (STORAGE_SERVICE, "NonLocalStrategyKeyspaces"),
    (STORAGE_SERVICE, OWNERS),
];

/// All tokens of the ring, each with the address of the member that owns it or joins with it.
pub(crate) const OWNERS: &str = "TokenToEndpointWithPortMap";
/// All members of the ring, each with its host ID.
pub(crate) const HOST_IDS: &str = "EndpointWithPortToHostId";
/// The version of the schema.
pub(crate) const SCHEMA_VERSION: &str = "SchemaVersion";

/// Where a server notes what it has streamed in a decommission.
pub const STREAMED: &str = "transferred_ranges_v2";

/// What a server has noted of ranges that decommissions have streamed: entries,
/// and files of them. A full member that has never tried to leave has none.
pub(crate) const STREAMED_RANGES: [&str; 2] = [
    "org.apache.cassandra.metrics:type=Table,keyspace=system,scope=transferred_ranges_v2,name=EstimatedPartitionCount",
    "org.apache.cassandra.metrics:type=Table,keyspace=system,scope=transferred_ranges_v2,name=LiveSSTableCount",
];

/// What these say where nothing is noted. Without files the server counts entries
/// from -1 (`getApproximateKeyCount`): 0 is one entry that is still in memory.
pub(crate) const NOTHING_STREAMED: [i64; 2] = [-1, 0];

/// Levels by logger, of those that have one of their own.
pub(crate) const LOGGING_LEVELS: &str = "LoggingLevels";

/// What of its data a server compacts, cleans up or otherwise rewrites now.
pub(crate) const COMPACTIONS: &str = "Compactions";
/// The size of every table, and so which tables there are: a pattern, under which
/// Jolokia asks its policy of each MBean that it finds.
pub(crate) const TABLES: &str =
    "org.apache.cassandra.metrics:type=Table,keyspace=*,scope=*,name=LiveDiskSpaceUsed";

/// Every attribute that Jolokia's policy must allow to be read, and no more.
pub fn reads() -> impl Iterator<Item = (&'static str, &'static str)> {
    let streamed = STREAMED_RANGES.map(|mbean| (mbean, "Value"));
    let jobs = [(COMPACTION_MANAGER, COMPACTIONS), (TABLES, "Count"), (STREAM_MANAGER, STREAMS)];
    let others = [(STORAGE_SERVICE, LOGGING_LEVELS)].into_iter().chain(streamed).chain(jobs);
    LOOK.into_iter().chain(READ_WHEN_NORMAL).chain(others)
}

pub(crate) const COMPACTION_THROUGHPUT: &str = "CompactionThroughputMbPerSec";
pub(crate) const STREAM_MEGABITS: &str = "StreamThroughputMbPerSec";
pub(crate) const STREAM_MEBIBYTES: &str = "StreamThroughputMebibytesPerSec";
pub(crate) const STREAM_WHOLE_TABLES: &str = "EntireSSTableStreamThroughputMebibytesPerSec";

/// Every attribute of the storage service that the policy must allow to be
/// read and written.
pub const WRITES: [(&str, &str); 4] = [
    (STORAGE_SERVICE, COMPACTION_THROUGHPUT),
    (STORAGE_SERVICE, STREAM_MEGABITS),
    (STORAGE_SERVICE, STREAM_MEBIBYTES),
    (STORAGE_SERVICE, STREAM_WHOLE_TABLES),
];

pub(crate) const DRAIN: &str = "drain()";
pub(crate) const DECOMMISSION: &str = "decommission(boolean)";
pub(crate) const TRUNCATE: &str = "truncate(java.lang.String,java.lang.String)";
pub(crate) const CLEANUP: &str = "forceKeyspaceCleanup(int,java.lang.String,[Ljava.lang.String;)";
pub(crate) const FLUSH: &str = "forceKeyspaceFlush(java.lang.String,[Ljava.lang.String;)";
pub(crate) const UPGRADE: &str =
    "upgradeSSTables(java.lang.String,boolean,int,[Ljava.lang.String;)";
pub(crate) const UPGRADE_BY_AGE: &str =
    "upgradeSSTables(java.lang.String,boolean,long,int,[Ljava.lang.String;)";
pub(crate) const COMPACT: &str =
    "forceKeyspaceCompaction(boolean,java.lang.String,[Ljava.lang.String;)";
pub(crate) const GARBAGE_COLLECT: &str =
    "garbageCollect(java.lang.String,int,java.lang.String,[Ljava.lang.String;)";
pub(crate) const SCRUB: &str =
    "scrub(boolean,boolean,boolean,boolean,int,java.lang.String,[Ljava.lang.String;)";
pub(crate) const TAKE_SNAPSHOT: &str =
    "takeSnapshot(java.lang.String,java.util.Map,[Ljava.lang.String;)";
pub(crate) const CLEAR_SNAPSHOT: &str = "clearSnapshot(java.lang.String,[Ljava.lang.String;)";
pub(crate) const STOP_COMPACTION: &str = "stopCompactionById(java.lang.String)";
pub(crate) const END_REPAIRS: &str = "forceTerminateAllRepairSessions()";
pub(crate) const REMOVE_NODE: &str = "removeNode(java.lang.String)";
pub(crate) const BEGIN_REPAIR: &str = "repairAsync(java.lang.String,java.util.Map)";
pub(crate) const REPAIR_STATE: &str = "getParentRepairStatus(int)";
pub(crate) const RANGES: &str = "getRangeToEndpointWithPortMap(java.lang.String)";
pub(crate) const RELOAD_SEEDS: &str = "reloadSeeds()";
pub(crate) const BULK_LOAD: &str = "bulkLoad(java.lang.String)";
pub(crate) const LOAD_NEW: &str = "loadNewSSTables(java.lang.String,java.lang.String)";
/// Datacenter, keyspace, tokens, sources: the same in all lines.
pub(crate) const REBUILD: &str =
    "rebuild(java.lang.String,java.lang.String,java.lang.String,java.lang.String)";
pub(crate) const START_NATIVE_TRANSPORT: &str = "startNativeTransport()";
pub(crate) const STOP_NATIVE_TRANSPORT: &str = "stopNativeTransport()";
pub(crate) const SET_LOGGING_LEVEL: &str = "setLoggingLevel(java.lang.String,java.lang.String)";

/// Replays a segment of a commit log.
pub(crate) const RECOVER: &str = "recover(java.lang.String)";
/// Up to which time writes are taken: in milliseconds since 1970, or in microseconds since the
/// releases that read fractions of a second (`CommitLogArchiver.restorePointInTimeInMicroseconds`).
pub(crate) const POINT_IN_TIME: &str = "RestorePointInTime";
/// What is read of a server that replays, and of no other.
pub const REPLAY_READ: (&str, &str) = (COMMIT_LOG, POINT_IN_TIME);
/// What is called of a server that replays, and of no other.
pub const REPLAY_CALL: (&str, &str) = (COMMIT_LOG, RECOVER);

/// What the agent calls: every operation, with its signature, that Jolokia's policy must allow.
pub const CALLS: [(&str, &str); 25] = [
    (STORAGE_SERVICE, DRAIN),
    (STORAGE_SERVICE, DECOMMISSION),
    (STORAGE_SERVICE, TRUNCATE),
    (STORAGE_SERVICE, CLEANUP),
    (STORAGE_SERVICE, FLUSH),
    (STORAGE_SERVICE, UPGRADE),
    (STORAGE_SERVICE, UPGRADE_BY_AGE),
    (STORAGE_SERVICE, COMPACT),
    (STORAGE_SERVICE, GARBAGE_COLLECT),
    (STORAGE_SERVICE, SCRUB),
    (STORAGE_SERVICE, TAKE_SNAPSHOT),
    (STORAGE_SERVICE, CLEAR_SNAPSHOT),
    (STORAGE_SERVICE, END_REPAIRS),
    (COMPACTION_MANAGER, STOP_COMPACTION),
    (STORAGE_SERVICE, REMOVE_NODE),
    (STORAGE_SERVICE, BEGIN_REPAIR),
    (STORAGE_SERVICE, REPAIR_STATE),
    (STORAGE_SERVICE, RANGES),
    (STORAGE_SERVICE, BULK_LOAD),
    (STORAGE_SERVICE, LOAD_NEW),
    (STORAGE_SERVICE, SET_LOGGING_LEVEL),
    (STORAGE_SERVICE, REBUILD),
    (STORAGE_SERVICE, START_NATIVE_TRANSPORT),
    (STORAGE_SERVICE, STOP_NATIVE_TRANSPORT),
    (GOSSIPER, RELOAD_SEEDS),
];
