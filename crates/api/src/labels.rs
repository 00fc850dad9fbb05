//! Labels, annotations, the field manager and port numbers: every string that
//! more than one part of the system must spell alike. Labels that Rook's
//! Cassandra operator has keep its names under our prefix (`docs/sources.md`).

/// Marks every object that Palladion creates, so that one selector finds them.
pub const MANAGED_BY: &str = "app.kubernetes.io/managed-by";
/// The value of [`MANAGED_BY`], and the server-side apply field manager.
pub const PALLADION: &str = "palladion";
/// Kubernetes' recommended name label.
pub const APP_NAME: &str = "app.kubernetes.io/name";
/// The cluster that an object belongs to.
pub const CLUSTER: &str = "palladion.dev/cluster";
/// The ZookeeperCluster that an object belongs to. A label of its own: a
/// CassandraCluster may have the same name.
pub const ZOOKEEPER: &str = "palladion.dev/zookeeper";
/// The RabbitmqCluster that an object belongs to.
pub const RABBITMQ: &str = "palladion.dev/rabbitmq";
/// The datacenter that an object belongs to.
pub const DATACENTER: &str = "palladion.dev/datacenter";
/// The rack that an object belongs to.
pub const RACK: &str = "palladion.dev/rack";
/// The member that an object belongs to.
pub const MEMBER: &str = "palladion.dev/member";
/// On a member Service: this member is a seed. Written for people and scripts; nothing is decided by it.
pub const SEED: &str = "palladion.dev/seed";
/// On a member Service: "false" while leaving, "true" when gone. Written for people and scripts; nothing is decided by it.
pub const DECOMMISSIONED: &str = "palladion.dev/decommissioned";
/// On a CassandraTask: the schedule that created it, or whose template it has.
pub const SCHEDULE: &str = "palladion.dev/schedule";
/// On a CassandraMember or a member Service, set by users: replace this member, as in scylla-operator.
/// On a ServiceMember it is an annotation, whose value names the volume that is lost.
pub const REPLACE: &str = "palladion.dev/replace";

/// Annotation of a CassandraMember that is marked for replacement, set by
/// users: an upgrade in progress goes on without it.
pub const UPGRADE_WITHOUT: &str = "palladion.dev/upgrade-without";

/// On a CassandraMember, set by users: a new value restarts this member once, drained first.
pub const RESTART: &str = "palladion.dev/restart";

/// On each applied object: hash of what was applied, so that a field that the
/// operator stops setting is noticed without keeping the old object.
pub const APPLIED: &str = "palladion.dev/applied";
/// On StatefulSets and pods: hash of the rendered inputs without replicas, as in Yelp's operator (`docs/sources.md`).
pub const SPEC_HASH: &str = "palladion.dev/spec-hash";
/// On pod templates of members: the template generation, see `build/release.rs` of the Cassandra mind.
pub const TEMPLATE_GENERATION: &str = "palladion.dev/template-generation";
/// On pod templates of members: the agent's image that they were rendered with.
pub const AGENT_IMAGE: &str = "palladion.dev/agent-image";
/// On pods: how their server speaks to other members, where it is not in the clear.
pub const INTERNODE_TLS: &str = "palladion.dev/internode-tls";
/// On claims: host ID of the member whose data the volume holds.
pub const HOST_ID: &str = "palladion.dev/host-id";
/// What was settled of authentication and TLS when the ring was new whose data a claim holds.
pub const SECURITY: &str = "palladion.dev/security";
/// On claims: ID of the volume, which the agent creates at first mount.
pub const VOLUME_ID: &str = "palladion.dev/volume-id";
/// On claims of ZooKeeper: the server ID that was given to the volume.
pub const SERVER_ID: &str = "palladion.dev/server-id";
/// On claims of RabbitMQ: the node name that was given to the volume.
pub const NODE_NAME: &str = "palladion.dev/node-name";
/// On claims: the member's static address.
pub const ADDRESS: &str = "palladion.dev/address";
/// On claims: the maintenance that the member with this data still needs, so that it outlives the CassandraMember.
pub const PENDING_MAINTENANCE: &str = "palladion.dev/pending-maintenance";
/// On claims: the end of the last absence for which a repair of the member with this data is owed (`spec.repairOwedUntil`).
pub const REPAIR_OWED_UNTIL: &str = "palladion.dev/repair-owed-until";
/// On claims: ID of the volume that a user has terminated. No server starts on it again.
pub const TERMINATED: &str = "palladion.dev/terminated";
/// On claims: since when the Node with the local volume is gone.
pub const NODE_GONE: &str = "palladion.dev/node-gone-since";
/// On claims: when that Node was last looked for and not found. After a time in which nobody looked the grace time begins again.
pub const NODE_GONE_SEEN: &str = "palladion.dev/node-gone-seen";
/// On a CassandraMember, and on the claim of its data: since when it does not serve. Removed when it serves again.
pub const DOWN_SINCE: &str = "palladion.dev/down-since";
/// On a CassandraMember, and on the claim of its data: from when it was down, and until when hints for that time may be on their way to it (an interval of ISO 8601). Hints of a member that is lost meanwhile are lost with it.
pub const HINTS_PENDING: &str = "palladion.dev/hints-pending";
/// On a CassandraMember: when the operator stopped it with the whole ring, while all members were up and saw each other. Removed when it is up again.
pub const STOPPED_WITH_RING: &str = "palladion.dev/stopped-with-ring";
/// On claims and members: uid of the cluster object that created them.
pub const CLUSTER_UID: &str = "palladion.dev/cluster-uid";
/// On members that have left: the proof. On their claims: the host ID whose data the volume still holds.
pub const GONE: &str = "palladion.dev/gone";
/// On a ServiceMember: that its server ran and did not join, how often that was tried with its pod, and since when the join is postponed. Removed when it has joined.
pub const POSTPONED_JOIN: &str = "palladion.dev/postponed-join";
/// On a CassandraCluster, a ZookeeperCluster or a RabbitmqCluster, set by users: allow the initialization once, with the nonce shown in status.
pub const ALLOW_INITIALIZATION: &str = "palladion.dev/allow-initialization";
/// On a CassandraCluster, set by users: take the region lock of the ring away from whoever holds it
/// by this token, which the status shows. Another token takes nothing away.
pub const BREAK_REGION_LOCK: &str = "palladion.dev/break-region-lock";
/// On a ZookeeperCluster, set by users: let the servers that are left go on without the
/// majority that is lost, with the nonce shown in status.
pub const ALLOW_RESCUE: &str = "palladion.dev/allow-rescue";
/// On a ZookeeperCluster, set by users: remove a server that no member accounts for, with
/// the nonce shown in status.
pub const ALLOW_REMOVE: &str = "palladion.dev/allow-remove";
/// On a RabbitmqCluster, set by users: forget a member although queues lose copies, or are
/// deleted with it, with the nonce shown in status.
pub const ALLOW_FORGET: &str = "palladion.dev/allow-forget";
/// On a CassandraCluster, set by users: addresses of members, separated by commas, that
/// cannot be had again. Their members may take other ones.
pub const GIVE_UP_ADDRESSES: &str = "palladion.dev/give-up-addresses";
/// On a CassandraCluster: host IDs, separated by commas, of members that leave although a reader has
/// not read all of their changes.
pub const GIVE_UP_CHANGES: &str = "palladion.dev/give-up-changes";
/// On a CassandraCluster with `ring.origin: Existing`, set by users: open its members to clients although no keyspace of clients names the datacenter.
pub const OPEN_DATACENTER: &str = "palladion.dev/open-datacenter";
/// On a CassandraCluster, set by users: `<datacenter>@<nonce>`, with the nonce that the condition `AllRegionsNormal` shows. Members here restart and are replaced although all members of that datacenter are down. It holds for this one absence.
pub const WITHOUT_DATACENTER: &str = "palladion.dev/without-datacenter";
/// On a CassandraCluster: Scylla in developer mode.
pub const DEVELOPER_MODE: &str = "palladion.dev/developer-mode";

/// The pod revision label that the StatefulSet controller sets.
pub const CONTROLLER_REVISION: &str = "controller-revision-hash";
/// The pod name label that the StatefulSet controller sets.
pub const POD_NAME: &str = "statefulset.kubernetes.io/pod-name";

/// Ports of a member.
pub mod ports {
    /// Traffic between members.
    pub const INTERNODE: i32 = 7000;
    /// Traffic between members over TLS (legacy port).
    pub const INTERNODE_TLS: i32 = 7001;
    /// JMX; the server listens on loopback only.
    pub const JMX: i32 = 7199;
    /// Native protocol.
    pub const CQL: i32 = 9042;
    /// Native protocol over TLS.
    pub const CQL_TLS: i32 = 9142;
    /// Thrift; in the Service as in Rook's, unused since Cassandra 4.0.
    pub const THRIFT: i32 = 9160;
    /// Jolokia; loopback only.
    pub const JOLOKIA: i32 = 8778;
    /// The server's metrics in Prometheus' format.
    pub const PROMETHEUS: i32 = 9180;
    /// The agent: `/healthz`, `/readyz`, `/metrics`.
    pub const AGENT: i32 = 8080;
}
