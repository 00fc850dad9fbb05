//! The catalogue of reasons: every `reason` of a condition, event or member
//! status, with what it means and what to do next. The troubleshooting page is
//! generated from here, so a reason cannot be used and stay undocumented.

macro_rules! reasons {
    ($($(#[doc = $doc:literal])+ $name:ident => $next:literal;)+) => {
        /// A documented reason.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Reason { $($(#[doc = $doc])+ $name,)+ }

        impl Reason {
            /// All reasons, in the order of the catalogue.
            pub const ALL: &'static [Reason] = &[$(Reason::$name,)+];

            /// The reason of this word. What only a newer release says is not known.
            pub fn read(word: &str) -> Option<Reason> {
                Self::ALL.iter().copied().find(|reason| reason.as_str() == word)
            }

            /// Does an agent whose server waits, or has failed, say by this that none runs? One
            /// that cannot ask about the process waits as well, and says that it does not know.
            pub fn is_of_no_process(word: &str) -> bool {
                Self::read(word).is_some_and(|reason| reason != Reason::FactUnknown)
            }

            /// The reason as it stands in conditions and events.
            pub fn as_str(self) -> &'static str {
                match self { $(Reason::$name => stringify!($name),)+ }
            }

            /// What it means.
            pub fn meaning(self) -> &'static str {
                match self { $(Reason::$name => concat!($($doc,)+).trim_ascii(),)+ }
            }

            /// What to do next.
            pub fn next_step(self) -> &'static str {
                match self { $(Reason::$name => $next,)+ }
            }
        }
    };
}

reasons! {
    /// The object is as its spec says.
    UpToDate => "Nothing.";
    /// The spec is valid.
    Valid => "Nothing.";
    /// The spec is not valid; the message names the field and the cause.
    InvalidSpec => "Correct the field that the message names and apply again.";
    /// The object or the operator is paused; only status is written, and what is aborted is stopped.
    Paused => "Set `spec.paused` to false (in the `OperatorConfig` `default`, if the message names it).";
    /// The CassandraCluster that a CassandraTask or a CassandraTaskSchedule names does not exist in its namespace.
    ClusterNotFound => "Create the CassandraCluster, or delete the object and create it with the right `spec.cluster`.";
    /// An object with the name that the operator needs belongs to another owner; the operator does not touch it.
    ForeignObject => "Rename or delete the object that the message names, or rename the cluster.";
    /// Objects of the cluster are being created.
    CreatingObjects => "Wait; the message names the object.";
    /// The operator cannot read something that the next step depends on, and does not guess.
    FactUnknown => "Look for the failing read in the operator's log; the operator goes on when the read succeeds.";
    /// Another region holds the lock of the ring, or it is being taken; nothing joins, leaves, is replaced or restarted here meanwhile. The message names the region and since when it has it.
    WaitingForRegion => "Wait; it ends when the other region's work does. If that region is gone for good, check that no operator runs there and annotate the CassandraCluster with `palladion.dev/break-region-lock: <token>`, with the token from the message.";
    /// The store of the region lock does not answer. Servers go on, and members that have joined start by themselves; what needs the lock waits.
    RegionLockUnavailable => "The message quotes the store; check `regionLock` of the OperatorConfig, the Secret that the chart mounts, and the way to the store. If the store is lost for good, set `ring.lock: None` in one region and pause the operators of the others.";
    /// The region lock was lost in the middle of a member's turn. The server goes on, and no further step is taken until this region has the lock again.
    LockLost => "Wait; the turn goes on when the lock is free. If it happens often, look at the way to the store and at `palladion_region_lock_lost_total`.";
    /// The ring is shared with other regions, and this operator has no region lock for it.
    RegionLockMissing => "The message names what is missing: `ring.lock` of the cluster, `regionLock` of the OperatorConfig, or `region` of the chart. Set it; if nobody else manages members of the ring, set `ring.lock: None`.";
    /// Another cluster object, perhaps in another region, has initialized a ring of this name, or is about to; two rings of one name must never meet.
    InitializedElsewhere => "If the ring is to be one with that, create this CassandraCluster with `ring.origin: Existing`. If the other one no longer exists, run the command from the message.";
    /// A ConfigMap that the spec names does not exist.
    ConfigMapMissing => "Create the ConfigMap that the message names, or remove its name from the spec.";
    /// A ConfigMap that the spec names lacks a key or cannot be parsed.
    ConfigMapInvalid => "Correct the ConfigMap; the message quotes the error.";
    /// A pod has its Node, and its containers do not start before its volumes are mounted and its network is there. Which of them is missing only the pod's events show; the operator reads no Secrets.
    WaitingForVolumes => "Look at the events of the pod that the message names: `kubectl describe pod`. Create what is missing, or make the volume available; the pod goes on by itself, some two minutes later at the most.";
    /// The storage class of a rack, or the default storage class, does not exist.
    StorageClassMissing => "Create the storage class, or name one that exists: `kubectl get storageclass`.";
    /// No node satisfies the placement, resources or volume of a member.
    Unschedulable => "The message quotes the scheduler; change the placement or the resources in the spec, or add nodes.";
    /// An image cannot be pulled.
    ImagePullFailed => "Check the name and the version of the image in the spec, and `imagePullSecrets`.";
    /// A PersistentVolumeClaim that a pod uses is being deleted; the operator keeps the pod until you decide.
    ClaimTerminating => "Kubernetes deletes the data when the pod ends. Copy the data; then delete the pod, or have its member replaced; see troubleshooting.";
    /// The server exits soon after its start.
    ServerFailed => "The message quotes the server's last lines and its exit code; correct `config`, `jvmOptions` or `resources`.";
    /// The server rejects its configuration.
    ConfigurationRefused => "The message quotes the server; correct `config` or the ConfigMap of the rack.";
    /// The memory of the container is too small for the server.
    NotEnoughMemory => "Raise the memory limit of the rack in `resources`, or lower `heapSize`.";
    /// A container of the member's pod crashes, and the server is not the cause.
    PodFailing => "Look at the pod that the message names: `kubectl describe pod`.";
    /// The node of a member is unreachable.
    NodeUnreachable => "Bring the node back. Nothing is replaced as long as it may return. Delete the Node object only if the machine is gone for good.";
    /// The agent of a member does not answer, although its pod runs and its Node is ready: it has lost the API server, or is not let in.
    AgentSilent => "Look at the agent's log: `kubectl logs MEMBER`. Check that NetworkPolicies let the pod reach the API server, and that its ServiceAccount has its token and the rights of the chart. The server of the member runs on; the ring waits until the agent answers.";
    /// The first member initializes a new ring.
    Initializing => "Wait.";
    /// The ring is not initialized: a volume of its members holds data, or cannot be looked at.
    InitializationRefused => "If that data is no longer needed, run the command from the message: it allows the start with `palladion.dev/allow-initialization`, or deletes the PersistentVolumeClaim that cannot be looked at.";
    /// The first server of an ensemble, or the first node of a RabbitMQ cluster, failed to start three times, or its agent refuses to start it. Nobody is served. It is tried again, with pauses of one to ten minutes.
    InitializationFailed => "The message quotes the last failure. Correct the cause: `config`, `resources`, the image or the storage. The next try is made by itself; to have it at once, delete the member's pod: `kubectl delete pod MEMBER`.";
    /// A member is joining the ring.
    Joining => "Wait; members join one at a time.";
    /// A join failed three times; other members may go on.
    JoinFailed => "The message quotes the last failure. Correct the cause, then delete the member's pod to try again.";
    /// A member waits until the members report that every known member is up and normal.
    WaitingForRing => "Wait; if it lasts, bring back the member that the message names.";
    /// A member of a ZooKeeper ensemble waits until the other servers agree on the configuration of the ensemble and serve.
    WaitingForEnsemble => "Wait; if it lasts, bring back the member that the message names.";
    /// A member of a RabbitMQ cluster waits until all nodes run, see each other and agree on who is a member.
    WaitingForNodes => "Wait; if it lasts, bring back the member that the message names.";
    /// A member of a RabbitMQ cluster waits for queues: until their replicas have caught up, or until their quorum does not need the node any more.
    WaitingForQueues => "Wait; if it lasts, look at the queues that the message names: `rabbitmq-queues quorum_status NAME`.";
    /// A RabbitMQ node waits for another one that ran longer than it and has newer tables. It waits as long as it takes.
    WaitingForTables => "Bring back the node that the message names. If its volume is lost, do not force the node to boot: what was confirmed on the lost node alone would be gone; see troubleshooting.";
    /// No majority of the servers of an ensemble or a cluster is ready, so it accepts no writes and the operator changes nothing.
    QuorumLost => "Bring the servers back: `kubectl get servicemembers`. They go on by themselves as soon as a majority runs.";
    /// The volumes of so many servers are lost that the rest is no majority.
    MajorityLost => "Bring back the volumes that the message names, if they still exist. Otherwise do what the message says: of ZooKeeper it has a command that lets the server with the newest data that is left go on alone.";
    /// The configuration of an ensemble contains a server that no member accounts for.
    UnknownServer => "Find out who added it. If nobody needs it, run the command from the message: it allows the operator to remove it. Until then no server joins, leaves or is restarted.";
    /// A server was removed from the configuration of its ensemble, but not by the operator.
    NotInEnsemble => "If it should serve again, replace it: annotate the `ServiceMember` with `palladion.dev/replace` and its `spec.volumeID`. Until then no other server joins, leaves or is restarted.";
    /// A node of a RabbitMQ cluster is a member by the word of the others, but no member of the operator's accounts for it.
    UnknownNode => "Find out what it is. If nobody needs it, stop it, and forget it on a node that runs: `rabbitmqctl forget_cluster_node NAME`. Until then no member joins, leaves or is restarted.";
    /// A RabbitMQ node was taken out of its cluster, but not by the operator.
    NotInCluster => "If it should serve again, replace it: annotate the `ServiceMember` with `palladion.dev/replace` and its `spec.volumeID`. Until then no other member joins, leaves or is restarted.";
    /// A queue names a node that is about to join under that name: the empty node would vote for data that it does not have.
    QueueNamesNode => "The message names the queues. Take the replica out of each: `rabbitmq-queues delete_member QUEUE NODE`. Only a queue that has lost the majority of its replicas refuses that, and has to be deleted with its messages. The member joins as soon as no queue names it.";
    /// A member cannot leave: queues that exist on it alone would be deleted with it.
    QueuesWouldBeLost => "The message names the queues. Move their messages, or delete the queues. If they are not needed, run the command from the message: it allows the operator to go on without them (`palladion.dev/allow-forget`). Or set `nodes` back.";
    /// A member cannot leave: queues with replicas on its node could not be moved to other nodes. Other work goes on, and the move is tried again every ten minutes.
    QueuesNotMoved => "The message names the queues. Look which of their replicas are not online: `rabbitmq-queues quorum_status QUEUE`, of a stream `rabbitmq-streams stream_status QUEUE`. Bring back the members that hold those; the leave then goes on by itself. Or set `nodes` back. Only a queue that has lost the majority of its replicas for good has to be deleted, with its messages and as the last resort: `rabbitmqctl delete_queue QUEUE`. If the message says why the move fails, correct that.";
    /// An operation that a change of an ensemble or a RabbitMQ cluster needs has failed each time that it was tried. In a RabbitMQ cluster others were ordered to carry it out as well where they can, other work goes on where that is safe, and it is tried again every ten minutes.
    OperationFailed => "The message says which member could not do what, and why. Look at the log of its agent, and correct the cause; it is tried again by itself.";
    /// A server that runs does not answer the questions of the operator in full, so that nothing can be changed.
    NotAnswered => "The message names the member. Look at the log of its agent. If all others serve, delete its pod: its server starts again with its data. Until it answers in full, no member joins, leaves, is replaced or restarted.";
    /// A member is not replaced: queues have no majority of their replicas on other nodes that run, so they could never be repaired.
    QueuesWouldLoseQuorum => "Bring back the nodes that hold the other replicas. If they are lost, too, run the command from the message: it allows the operator to go on (`palladion.dev/allow-forget`) and leaves those queues to you.";
    /// The other nodes of a RabbitMQ cluster name a node as a member that has none of their data: its server ended while it was being taken in. They refuse it as long as they do.
    NamedWithoutData => "Wait; the operator has the others forget the node, and its join is tried again. If it lasts, look at what the operator waits for: all other nodes must run and agree, and no queue may name the node.";
    /// Nodes of a RabbitMQ cluster have lost touch with each other, or have not been in touch since a partition.
    Partitioned => "Look at the network between the nodes that the message names. With `PauseMinority` the cluster goes on by itself when they reach each other; no member joins, leaves or is restarted before.";
    /// Nodes of a RabbitMQ cluster hold up publishers, because memory or disk run short.
    AlarmRaised => "The message names the node and what runs short: raise `resources`, enlarge the volume, or have the queues consumed.";
    /// With `partitionHandling: Autoheal` one side's changes are thrown away after a partition.
    ChangesMayBeLost => "Set `partitionHandling` to `PauseMinority`, if confirmed messages in classic queues must outlive a partition.";
    /// A RabbitMQ node does not see all members of its cluster run.
    NodesUnseen => "Look at the members that the message names: `kubectl get servicemembers`.";
    /// The Secret of a RabbitMQ cluster has another Erlang cookie than the volume of the node, which keeps its own.
    CookieDiffers => "Set `erlang-cookie` of the Secret back. A node that joins with another cookie could not reach the others.";
    /// The name of a RabbitMQ node does not lead to the address of its pod, so it does not start.
    NameUnresolved => "Wait; if it lasts, check the cluster's DNS. `clusterDomain` can be corrected until the first node has served.";
    /// The nodes keep their membership in Khepri (feature flag `khepri_db`), which this operator does not know. What runs keeps running; no member joins, leaves or is restarted.
    KhepriUnsupported => "Nothing brings the nodes back to Mnesia. Run them by hand, or move to a new cluster.";
    /// Stable feature flags of a RabbitMQ cluster are not enabled, so that it cannot be upgraded to the next line.
    FeatureFlagsDisabled => "Wait; the operator enables them when all nodes run the same version. If it lasts, look at `rabbitmqctl list_feature_flags`.";
    /// The Secret that `definitionsSecretName` names does not exist, or has no `definitions.json`.
    DefinitionsMissing => "Create the Secret with the key `definitions.json`, or remove `definitionsSecretName`. The kubelet brings it into the pods within two minutes.";
    /// Definitions are being imported, or could not be. The first node of a new cluster waits for them before it serves.
    DefinitionsPending => "Wait; if it lasts, run the command in the message to read what RabbitMQ says, and correct `definitions.json` in the Secret.";
    /// The volume of a member is an old copy: servers have been started on a newer one since. A server on it would have forgotten what it has acknowledged.
    VolumeRolledBack => "Mount the newer volume and delete the pod. If it does not exist any more, replace the member: annotate the `ServiceMember` with `palladion.dev/replace` and its `spec.volumeID`.";
    /// A member waits until `bootstrapGraceSeconds` have passed since the last start.
    WaitingForGrace => "Wait.";
    /// A member waits for its pod.
    WaitingForPod => "Wait, or look at the pod: `kubectl describe pod`.";
    /// The operator waits for members to report how they see the ring.
    WaitingForEvidence => "Wait; if it lasts, look at the members that the message names.";
    /// A member waits for a permit to start.
    WaitingForPermit => "Wait; the condition `Progressing` of the cluster says what comes first.";
    /// The agent waits for its CassandraMember or for the address of the member.
    WaitingForMember => "Wait; the operator creates it. If it lasts, look at the operator's log.";
    /// A member waits for the certificate that the operator signs for it.
    WaitingForCertificate => "Wait; if it lasts, the condition `Degraded` of the cluster and the operator's log say why the operator does not sign.";
    /// Members are being restarted to speak to each other with TLS, or without, one step after the other.
    InternodeTlsChanging => "Wait; the message names the step. If a member is not ready, look at it.";
    /// A member does not take the certificate that the operator signed for it, or it is not valid by the clock of its Node.
    CertificateUnusable => "The message names the member and the cause.";
    /// The certificate that a member presents to clients or to other members expires within 60 days, or has expired, and the operator has not renewed it.
    CertificateExpiring => "The message names the members, the time, and what keeps the operator from signing. Clients that verify certificates, and other members, cannot connect once they have expired.";
    /// The operator signs no certificates, because nothing protects the requests of members.
    SigningOff => "Set the chart values `policies.status` and `policies.members` to true, or use certificates of a Secret.";
    /// The server may not start in this pod revision yet.
    WaitingForRevision => "Wait; another member is proving the newer revision first.";
    /// The server has been started and is not a full member yet.
    Starting => "Wait; the message says what the server is doing.";
    /// The ring of the member begins with a backup, and its server takes no clients until all of the backup is there.
    Restoring => "Wait; the `CassandraRestore` of the ring says how far it is: `kubectl describe cassandrarestore NAME`.";
    /// The datacenter of the member was added to a ring that had others, and the member takes no clients before it has the data of the keyspaces that name its datacenter: they would find no rows, without an error.
    RebuildOwed => "Wait; the operator rebuilds one member after the other once keyspaces name the datacenter, then repairs and opens them. Name it with a `CassandraTask` with `replication` in a datacenter that takes clients. To open a datacenter that no keyspace of clients names: `kubectl annotate cassandracluster NAME palladion.dev/open-datacenter=$(date +%s)`.";
    /// Keyspaces name the datacenter since it was opened to clients, and some of its members do not have their data yet: reads at `LOCAL_` levels may find too few rows of these keyspaces.
    KeyspacesBehind => "Read these keyspaces in another datacenter, or at `QUORUM`, until the operator has rebuilt them here; the message names them and the member that is being rebuilt.";
    /// The datacenter leaves its ring (`datacenter.leave`): its members are closed to clients, repaired, and leave one after the other.
    DatacenterLeaving => "Wait; the message names the step, or what it needs of you. While no member has left, `datacenter.leave: false` opens the datacenter again.";
    /// All members of the datacenter have left the ring.
    DatacenterLeft => "Delete the CassandraCluster. The volumes are kept under the rules of `deletionPolicy`; the message says what else may be deleted.";
    /// Keyspaces have SimpleStrategy, which places copies without regard to datacenters: members of another datacenter that join would take ranges of them.
    SimpleStrategyInTheWay => "Change each keyspace that the message names while the ring has one datacenter: a `CassandraTask` with `replication` and `simpleStrategy: Convert`, or `ALTER KEYSPACE`.";
    /// The server runs and is a full member.
    Running => "Nothing.";
    /// The server of a member is stopped as its spec says. Until it runs again, no other member joins, leaves or is restarted.
    StoppedByIntent => "To start it, set `spec.wanted.run` of the member to `Running`: `kubectl patch cassandramember NAME --type=merge -p '{\"spec\":{\"wanted\":{\"run\":\"Running\"}}}'`.";
    /// The server was drained, as a CassandraTask requested: its memtables are on disk, its process runs, and it serves nobody.
    Drained => "When it should serve again, restart it: `kubectl palladion restart MEMBER`.";
    /// A member is being stopped because a user wants it, or waits to be stopped.
    MemberStopping => "Wait; the message says what it waits for. To stop the member although other members are down, set `spec.wanted.when` of it to `Now`; to keep it running, set `spec.wanted.run` to `Running`.";
    /// A member is being started because a user wants it, or waits to be started.
    MemberStarting => "Wait; the message says what it is doing or waiting for.";
    /// A member was terminated because a user wants it: no server starts on its volume any more.
    MemberTerminated => "Replace the member: `kubectl palladion replace NAME`, or a `CassandraTask` with `spec.replace`. Until then no other member joins, leaves or is restarted. A member that is to join on such a volume needs another one: the message names the PersistentVolumeClaim.";
    /// The agent of a member is too old for what is asked of it.
    AgentTooOld => "Roll out a newer agent: change `spec.sidecarImage` if it is set, or otherwise an annotation in `spec.annotations`.";
    /// A member is the last seed that is up and normal, so it stays one.
    LastSeed => "Start another seed, or make another member one: `spec.wanted.seed: Always`.";
    /// The ring is not initialized yet, so it has no seeds.
    SeedsNotComplete => "Wait until the first member has joined.";
    /// All members of the other datacenters of the ring are up and normal, as the members of this one see them.
    RegionsNormal => "Nothing.";
    /// A member of another datacenter is down, joins, leaves or moves, so nobody joins or leaves here.
    RegionNotNormal => "Bring back the member that the message names, or wait until it has joined or left. Whoever runs that datacenter sees why.";
    /// All members of another datacenter are down, so nobody joins, leaves, restarts or is replaced here.
    RegionDown => "Bring the datacenter back, or the network between the datacenters. What runs here serves on.";
    /// It is not known how the members of other datacenters are.
    RegionsUnknown => "Wait; if it lasts, compare `nodetool status` of the members that the message names, and check `externalSeeds`.";
    /// A member that is to join a ring with members elsewhere reaches none of the seeds in `externalSeeds`, so its server does not start.
    SeedsUnreachable => "Check the addresses in `externalSeeds`, the routes between the Service networks and the NetworkPolicies on both sides. The server starts as soon as port 7000 of one of them answers.";
    /// A member that is to be replaced is to be a seed always (`spec.wanted.seed`).
    MemberIsPinnedSeed => "Set `spec.wanted.seed` of the member to `Auto`: `kubectl palladion seed NAME auto`, then request the replacement again.";
    /// What a user wants of a member waits until another change of the ring has finished.
    WaitingForTurn => "Wait; the message names the change. If it does not finish, the condition `Progressing` of the cluster says why.";
    /// The member was decommissioned; its server never starts again on this volume.
    Decommissioned => "Nothing; the operator removes the pod.";
    /// The member has another volume on record, so this pod does nothing: it is a stale twin.
    StaleTwin => "See troubleshooting. Delete no volume before you know which one holds the data.";
    /// The recorded volume of the member is not mounted; another file system is in its place.
    VolumeNotMounted => "Mount the volume on the node and delete the pod.";
    /// The data on the member's volume is gone.
    VolumeLost => "Wait; the operator replaces the member. If it does not, the conditions `Degraded` and `Progressing` of the cluster say why.";
    /// The server was down for longer than tombstones are kept (`gc_grace_seconds`); deleted rows would come back with it, so it is not started.
    DataTooOld => "If the other members are up, replace this one: `kubectl palladion terminate NAME`, then `kubectl palladion replace NAME`. To start it all the same, for example because nothing was deleted meanwhile, set `spec.allowStaleStart` of the `CassandraMember` to the time in the message; the operator repairs the member then. Where all members of a ring were down, the operator starts those that ended together, once each member has reported and if they are a majority that lacked nothing. Otherwise `Degraded` of the `CassandraCluster` names the member to start first, and the next one: terminate none of them before as many are up as copies are kept.";
    /// The volume of a member lacks files that the server of a full member has, so no server is started on it: it would enter the ring as a new member, without the data.
    VolumeDamaged => "Mount the expected volume or, where no server came up with another host ID, restore the files of this one from a copy that is not older than `gc_grace_seconds`; then delete the pod. Otherwise replace the member: `kubectl label cassandramember NAME palladion.dev/replace=`.";
    /// The volume holds data of another ring or of another member, or data without a ledger; the agent does not use it.
    VolumeForeign => "Give the member an empty volume, or attach the right one.";
    /// The volume holds data of a member that has left, and the agent cannot move it aside.
    RetainedVolumeInTheWay => "Free space on the volume, or delete the PersistentVolumeClaim.";
    /// Every check of the ring passes.
    AllChecksPass => "Nothing.";
    /// Check: every member that the spec asks for has joined the ring, and no other one is in it. It fails while a ring grows or shrinks, and where a member is lost for good.
    MembersExist => "Wait while the ring grows or shrinks; the condition `Progressing` says what is under way. If it lasts, `kubectl palladion plan NAME` shows what it waits for.";
    /// Check: a seed is live. Without one no member can join the ring.
    SeedsLive => "Look at the members that the message names: `kubectl palladion members NAME`. If they stay away, make another member a seed: `kubectl palladion seed MEMBER always`.";
    /// Check: the newest result in `status.health` of every member is Healthy: its server answers, is in mode NORMAL, gossips and accepts clients.
    MembersHealthy => "The message names the member and the cause. Look at its server: `kubectl palladion logs MEMBER`. A stopped member is started with `kubectl palladion start MEMBER`; gossip and native transport that somebody has disabled are enabled with `nodetool enablegossip` and `nodetool enablebinary`.";
    /// Check: every member reports the mode NORMAL.
    MembersNormal => "Wait while members join, leave or restart; otherwise look at the servers of the members that the message names: `kubectl palladion logs MEMBER`.";
    /// Check: the agent of every member reports, from a Node that is ready.
    AgentsSpeak => "Look at the pods and Nodes of the members that the message names: `kubectl describe pod MEMBER`.";
    /// Check: the server of every member runs and has been NORMAL since its start.
    ServersRun => "Wait while members start. A stopped member is started with `kubectl palladion start MEMBER`; of one that fails, `kubectl palladion logs MEMBER` shows why.";
    /// Check: members see each other up, as many as are recorded, at their recorded addresses.
    ViewsAgree => "The message names the members; the condition `Degraded` has the next step.";
    /// Check: all members agree on one version of the schema.
    SchemaAgrees => "Wait after a change of the schema. If it lasts for five minutes, the condition `Degraded` has the next step.";
    /// Check: no member joins, leaves, moves, or is replaced or removed.
    TopologyStill => "Wait; the message names the member. A move that somebody began with nodetool ends by itself.";
    /// Check: all servers run one release line.
    LinesSame => "Wait for the upgrade. If it is stuck, look at the condition `Progressing`.";
    /// Members of the ring are down or not normal.
    MembersDown => "The message names them; look at their reasons: `kubectl get cassandramembers`.";
    /// Members do not see the ring alike: one that serves is seen down by others, or one sees another number of members than are recorded.
    MembersDisagree => "Compare `nodetool status` of the members that the message names, and check the network between their pods (storage port, 7000 by default). Until they agree, nobody joins, leaves, restarts or is replaced.";
    /// Members have more than one version of the schema. That is normal for some seconds after a change of the schema; it needs a person after five minutes.
    SchemasDisagree => "Compare `nodetool describecluster` of the members that the message names. Stop schema changes by clients, then restart a member that differs from most (`kubectl palladion restart`). If it still differs, or a member that is lost keeps it from restarting, run `nodetool resetlocalschema` on it. Until the members agree, nobody joins, leaves, restarts for a rollout or is replaced.";
    /// The address of a member differs from the recorded one, so other members may not reach it.
    AddressChanged => "Wait, if other members are up: the member starts under its new address when they see it down. A member that is leaving does not; the message says what to do. If the message asks for it, confirm with the annotation that it shows. To get the recorded address back instead, delete the member's Service: the operator creates it with that address if nobody else has it.";
    /// Another Service has the recorded address of a member, or it is outside of the range of this Kubernetes cluster, so the Service of the member cannot be recreated and its server does not start.
    AddressTaken => "Find the Service that has the address: `kubectl get services --all-namespaces --field-selector spec.clusterIP=ADDRESS`. Delete it, or recreate it with another address; the operator then recreates the Service of the member with the recorded one, and the member starts. If the address cannot be had again, let the member take another one: `kubectl annotate cassandracluster NAME palladion.dev/give-up-addresses=ADDRESS`. The other members go on meanwhile.";
    /// A member is to announce the address of its load balancer to clients (`network.broadcast.clients: LoadBalancer`), and its Service of type LoadBalancer has none. A member that has never had one is not started.
    WaitingForAddress => "Wait; the controller of load balancers of the Kubernetes cluster gives the address. If it lasts, look at its events: `kubectl describe service MEMBER-lb`. Without such a controller, set `network.broadcast.clients` to `ServiceClusterIP`.";
    /// The load balancer of a member has a name and no address. Servers announce addresses alone, so the member is not started with it.
    AddressIsAName => "Have the controller of load balancers give addresses, with an annotation of the Service that it knows for example; or set `network.broadcast.clients` to another value.";
    /// The operator sets the replication of the system keyspaces.
    SystemKeyspaces => "Wait.";
    /// Servers ask for a user and a password, and the agents have none; or the Secret with the credentials of a RabbitMQ cluster, or a key of it, does not exist. The operator creates that one once, before the first start, and never again: nodes with another cookie could not reach each other.
    CredentialsMissing => "Create the Secret that the message names: `kubectl create secret generic NAME --type=kubernetes.io/basic-auth --from-literal=username=palladion --from-literal=password=...`. If no role exists yet, restart one member afterwards. Of RabbitMQ, correct `secretName` if no node has served yet; otherwise restore the Secret: a node that runs has the cookie in `/var/lib/rabbitmq/.erlang.cookie`, and the passwords can be set to others with `rabbitmqctl change_password`.";
    /// The configuration of a member's pod lacks authentication or TLS that its servers had before, so none is started: an older operator, or one that has lost its records, would open the ring.
    SecurityLowered => "Run the operator that knows what was settled for the ring, or set `auth` and `tls` in the spec of the CassandraCluster explicitly: as they were, or to `Off` if that is intended.";
    /// A server rejects the user and password that its agent has.
    CredentialsRefused => "Log in as a superuser and create the role, or give it the password of the Secret that the message names; or correct the Secret. If no role exists yet, restart one member; otherwise no restart is needed.";
    /// Anybody can log in to the ring as its superuser `cassandra`, with the password that servers create it with, because a Secret of the ring names this user.
    DefaultUserOpen => "Name another user in both Secrets that the message names: the agents create it and close `cassandra`. To keep the user `cassandra`, change its password at once: `ALTER ROLE cassandra WITH PASSWORD = '...'`.";
    /// A server's certificate was not signed by the authority in `ca.crt`, has expired, or there is no `ca.crt`.
    CertificateRefused => "Correct the Secret that the message names: `ca.crt` must be the authority of the certificate that servers use.";
    /// Members are being restarted into the newest revision.
    RollingOut => "Wait; the message names the member.";
    /// The rollout stopped at a member that does not come back. A task that waits for it says so too.
    RolloutStuck => "Correct the spec; the new spec replaces the broken one at once.";
    /// The ring is being stopped as `spec.run` says.
    Stopping => "Wait; the message names the members that are being drained, or what must finish first. To keep the ring running, set `spec.run` to `Running`.";
    /// The ring is stopped and has no pods; its volumes, members and addresses are kept.
    Stopped => "Nothing. To start it: `kubectl patch cassandracluster NAME --type=merge -p '{\"spec\":{\"run\":\"Running\"}}'`.";
    /// Members run different release lines; joins, leaves, replacements and repairs wait until all run the same one.
    MixedVersions => "Wait for the upgrade. If it is stuck, look at the member that the message names.";
    /// A PersistentVolumeClaim is being expanded.
    VolumeGrowing => "Wait; if it lasts, look at the claim: `kubectl describe pvc`.";
    /// A PersistentVolumeClaim should be expanded, but its storage class does not allow it.
    VolumeCannotGrow => "Set `allowVolumeExpansion: true` on the storage class if its driver supports it, or set the storage request back.";
    /// A rack that is not in the spec has no StatefulSet, but its members hold data.
    RackNotInSpec => "Add the rack to the spec again with `members: 0`; its members then start and leave the ring.";
    /// The cluster is being deleted.
    Deleting => "Wait.";
    /// A member is leaving the ring, or waits to leave it.
    MemberLeaving => "Wait; the message says what it is doing or waiting for.";
    /// A server has not answered for three hours, or joins or leaves and has streamed nothing for as long; or the removal of a member has not completed for six hours. The operator does not abort it.
    NoProgress => "Look at the server's log, and at `nodetool netstats` and `nodetool compactionstats` of the member and of those it streams with. If nothing moves, delete the member's pod, or that of the member that carries out the removal; the start, the join, the leave or the removal then begins again.";
    /// A lost member has waited for an hour to be replaced until another one is repaired, which did not end or was interrupted each time.
    RepairOverdue => "Look at the repair with `nodetool compactionstats` and `nodetool netstats` on the member that the message names. As long as it moves, wait. If nothing moves, remove the repair from `spec.pendingMaintenance` of that `CassandraMember`, so that the lost member is replaced without it, and run `nodetool repair --full` there afterwards: until then reads can miss what the member missed. The operator does not see that repair: should the member be down later on, it adds both absences up, and may ask before it starts (`DataTooOld`).";
    /// A member was decommissioned, but not by the operator; its place in the ring is empty.
    LeftByHand => "The message shows the command that fills its place with a new member.";
    /// A member cannot leave: data would lose copies or find no room.
    LeaveRefused => "The message names the keyspace or the cause; change it, or set `members` back.";
    /// A member that lost its data is being replaced, or waits to be replaced.
    MemberReplacing => "Wait; the message says what it is doing or waiting for.";
    /// The Node with the local volume of a member was deleted.
    NodeGone => "If the machine comes back, register its Node within `nodeGoneGraceSeconds`. Otherwise wait; the operator replaces the member.";
    /// The member is alive, or the ring cannot prove that it is dead, so it is not replaced.
    ReplaceRefused => "The message names the cause.";
    /// A replacement names a member that does not exist, or that is not in the ring.
    NoSuchMember => "Name one of the members that the message lists, and request the replacement again.";
    /// A member that is to be replaced lives, or another member still sees it up.
    MemberIsLive => "Only a dead member is replaced. If it is down, request the replacement again when all others see it down. To replace a living one, terminate it first: `kubectl palladion terminate NAME`, then request the replacement again.";
    /// The agent of a member that is to be replaced reports, and would start the member again on its data.
    MemberNotTerminated => "Terminate the member first, which is final for its volume: `kubectl palladion terminate NAME`, then request the replacement again.";
    /// Something is under way on a member that is to be replaced.
    MemberBusy => "Wait until what the message names has ended, and request the replacement again.";
    /// Another task replaces the member already.
    AlreadyReplacing => "Wait for the task that the message names, or abort it first.";
    /// A rotation is of an authority that the ring does not have: its certificates for this purpose are of a Secret, or it has none.
    NoAuthority => "Let the operator sign the certificates first (`tls.client` or `tls.internode` of the CassandraCluster), or replace what the Secret holds.";
    /// Another task rotates the authorities of this purpose already.
    AlreadyRotating => "Wait for the task that the message names: every key is new when it is done.";
    /// A rotation waits for a member that does not trust the new authority yet, has no certificate of it, or still trusts the former one.
    CertificatesBehind => "Wait; servers read what changed within 11 minutes. If the message says that the agent does not report, look at the member; one that is lost counts no more once it is marked for replacement.";
    /// A replacement names another volume than the member has.
    VolumeDiffers => "Compare `spec.volumeID` of the CassandraMember, and create a task that names it.";
    /// A task has not begun: it waits for its place in the queue of the ring, or for its first member.
    TaskWaiting => "Wait; the message says what comes first.";
    /// A task waits in the queue of its ring: one task at a time runs.
    WaitingInQueue => "Wait; the message names the task that comes first. `kubectl palladion task list` shows the queue.";
    /// A task waits for a change to the ring, such as a join, a restart or a replacement, or is interrupted for it.
    YieldsToTurn => "Wait; the task goes on afterwards at the members that are not done yet.";
    /// A task, or one of its members, was not done in time.
    DeadlineExceeded => "Look at the server of the member for what takes so long. Create a new task with a longer `memberDeadlineSeconds` or `activeDeadlineSeconds`.";
    /// A member was left out of a task.
    SkippedMember => "The message names the cause. Create a new task for the member when it is up.";
    /// The server, the agent or the pod of a member ended while it worked for a task.
    Interrupted => "Nothing, if it is tried again. If it was interrupted twice, look at the server of the member, and create a new task.";
    /// A member did not come back while it worked for a task, or its volume is marked for replacement.
    MemberLost => "Bring the member back or replace it, and create a new task for it if it is still needed.";
    /// A part of a task, or of pending maintenance, was given to a member that has another host ID since. It was not begun.
    OtherHostID => "Nothing, if it is tried again. Otherwise create a new task for the member.";
    /// A part of a task, or of pending maintenance, was given to a member that is on another volume since. It was not begun.
    OtherVolume => "Nothing, if it is tried again. Otherwise create a new task for the member.";
    /// The agent refused a part of a task that an earlier leader of the operator gave. It was not begun.
    OldEpoch => "Nothing, if it is tried again. Otherwise create a new task for the member.";
    /// The agent or the server of a member does not know the work, or an option of it.
    NotSupported => "Compare the versions of agent and Cassandra with what the task asks for. An agent that is older than the operator is replaced by the next rollout of the ring; then create a new task.";
    /// The server of a member ended while it worked for a task.
    ServerEnded => "Nothing, if it is tried again. If it was interrupted twice, look at the log of the server, and create a new task.";
    /// The pod of a member ended while it worked for a task.
    PodEnded => "Nothing, if it is tried again. If it was interrupted twice, look at the events of the pod, and create a new task.";
    /// The agent of a member ended while it worked for a task, and the work of the server cannot be followed any more.
    AgentEnded => "Nothing, if it is tried again. If it was interrupted twice, look at why the agent ended (`kubectl describe pod`), and create a new task.";
    /// The server of a member answered with an error; the entry of the member in `status.members` quotes it.
    ServerError => "Look at the log of the server, remove the cause, and create a new task for the member.";
    /// The server of a member does not answer, or did not answer a call in time.
    NoAnswer => "Look at the log and the pauses of the server, and create a new task for the member.";
    /// Other work of the server on the same table did not end in time.
    TableBusy => "Look at `nodetool compactionstats` of the member; create a new task when what runs has ended.";
    /// Somebody stopped the work at the server itself, for example with `nodetool stop`.
    StoppedByOther => "Nothing, if it was stopped on purpose. Otherwise create a new task for the member.";
    /// A table needs more free disk space for the work than the volume of the member has. Nothing of that table was begun.
    NotEnoughDisk => "Free space or enlarge the volume of the member, and create a new task for it.";
    /// The member has a snapshot of this name already, from before the task.
    SnapshotExists => "Choose another name, or clear that snapshot first: `kubectl palladion task run clear-snapshot`.";
    /// The agent of a member cannot write its record of jobs to the volume. Without that record nothing is begun.
    VolumeError => "Look at the volume of the member: full, read-only or failing. Then create a new task for it.";
    /// A part of a task was to stop, and the server goes on: it has not ended its repair, not begun its rewrite, or not responded to its flush or snapshot.
    LeftRunning => "Look at `nodetool compactionstats` and `nodetool netstats` of the member. A restart of the member ends it.";
    /// A repair left out ranges because members that have copies of them are down.
    ReplicasDown => "Bring these members back or replace them; the ranges stay due, and the next task of a covering schedule repairs them. Otherwise create a new task.";
    /// The agent of a member could not reach the Kubernetes API server, and ended its part of a repair, so that others can go on.
    ApiServerUnreachable => "Nothing, if it is tried again. If it lasts, look at the network between the Node and the API server.";
    /// A task is in progress.
    TaskRunning => "Wait; the conditions of the cluster say what is being done.";
    /// A task is complete.
    TaskDone => "Nothing; you can delete the task.";
    /// A task was refused; nothing was changed.
    TaskRefused => "The message names the cause. Remove it, or correct the task, and create a new task: a finished task is not tried again.";
    /// A task was aborted; no further member was begun.
    TaskAborted => "Nothing; you can delete the task. Its status says what was done until then.";
    /// A task has ended, but some of its members failed or were left out.
    TaskPartial => "The status of the task names the members and the causes. Remove the cause, and create a new task for those members.";
    /// A task failed: its purpose was lost or reached in another way.
    TaskFailed => "The message names the cause. Look at the member, and create a new task if you still need it.";
    /// A backup has not begun, or waits for a member.
    BackupPending => "Wait, or remove what the message names. `kubectl describe cassandrabackup NAME` shows each member.";
    /// The members look at the store of a backup, at the keys and at their free space.
    BackupPreparing => "Wait.";
    /// The members take the snapshots of a backup.
    BackupSnapshotting => "Wait; this takes seconds once all members are up.";
    /// The members send the snapshots of a backup.
    BackupUploading => "Wait; `spec.backup.limits` of the CassandraCluster sets how fast. `kubectl palladion backup list` shows what the repository has.";
    /// What the members have sent is checked in the store.
    BackupVerifying => "Wait.";
    /// A backup is being abandoned: its snapshots on the volumes of the members are cleared.
    BackupDiscarding => "Wait; the message names the cause.";
    /// A backup is complete: all that it names was checked in the store.
    BackupComplete => "Nothing. Try a restore from time to time.";
    /// A backup has ended and is not complete.
    BackupFailed => "Remove the cause that the message names, and create a new backup: it uses what was sent.";
    /// A backup was aborted.
    BackupAborted => "Nothing; create a new backup when you want one.";
    /// No member leaves the ring while a backup needs the snapshots of all members.
    BackupUnderWay => "Wait for the backup that the message names, or abort it: set `spec.abort` of the CassandraBackup to true.";
    /// The commit log of a member is not archived in time: what the ring acknowledged since the time in the message is lost with the volumes of its members.
    ArchiveBehind => "Remove the cause that the message names. What waits on the volume is sent then; `palladion_archive_local_bytes` shows how much that is, and `spec.backup.archive.maxLocal` how much may be.";
    /// The archive of a member's commit log has a gap: no backup before it leads to a point in time after it.
    ArchiveGap => "Take a backup (`kubectl create -f` a CassandraBackup of all keyspaces): from its end on the ring can be restored to a point in time again. Look at the cause in the message, so that it does not come again.";
    /// Readers of changes lag behind on a member: complete segments use half of `spec.cdc.totalSpace`, or one has waited for ten minutes, or `cdc.mode` is `Off` and some were not read.
    CdcLagging => "Look at the sidecar of the member that reads changes (`kubectl logs POD -c NAME`): it must delete each complete segment and its index when it has read them. `palladion_cdc_segments` shows how many wait.";
    /// `spec.cdc.totalSpace` of a member is used up. With `onFull: Block` it refuses writes to tables with `cdc = true`; with `DropOldest` its server deletes the oldest segments, read or not.
    CdcFull => "Start the reader of the member: writes go on within seconds after it has deleted segments. Where its reader keeps up, flush the tables of the member (`nodetool flush`), which lets go of the segments that its server holds. For more room, set a larger `spec.cdc.totalSpace`, which restarts the members.";
    /// A member is to leave the ring, or has left it, and a reader has not read all of its changes.
    CdcUndelivered => "Start the reader of the member. If nobody is to read them, run the command that the message shows: the member leaves without them.";
    /// The store of backups does not answer, or refuses.
    StoreUnreachable => "Look at the address, the credentials in the Secret and the rights that they have; the message quotes the store. The backup goes on by itself.";
    /// The store of backups overwrites an object that it should refuse to create a second time.
    StoreUnsuited => "Use a store with conditional writes (`If-None-Match`); Amazon S3, Google Cloud Storage and Azure have them.";
    /// The place of the backups has the repository of another ring.
    RepositoryForeign => "Give each ring its own `prefix`. If it is this ring's own repository, from before its volumes were lost, restore from it, and use another prefix for new backups.";
    /// An object in the store is not what was written.
    RepositoryDamaged => "Look at who else writes to the store. Take a new backup: it uploads the objects that are known to be damaged again; then expire those that name them.";
    /// A key that seals backups is not in its Secret.
    EncryptionKeyMissing => "Add the key that the message names to the Secret `<cluster>-backup-key`; the backup goes on by itself.";
    /// A volume is too full for the snapshot of a backup.
    NotEnoughSpace => "Expand the volume, or remove snapshots and data that are not needed, and create a new backup.";
    /// Members, tokens or schema of the ring changed while the snapshots of a backup were taken.
    TopologyChanged => "Create the backup again when no member joins or leaves and no schema is changed.";
    /// A backup that is to expire stays for now.
    ExpiryWaits => "Nothing: it expires by itself when what the message names is no longer so.";
    /// A backup expires: nothing is restored from it any more, and its objects are deleted a day after it was condemned, or later.
    BackupExpiring => "Wait. `status.retention` of the CassandraCluster has what is done now, and when objects are deleted.";
    /// A backup has expired: it is deleted in the store, but for the objects that other backups need.
    BackupExpired => "Nothing. Its object can be deleted.";
    /// What was condemned in the repository is not deleted: somebody reads it, or another backup needs it.
    RetentionVetoed => "Nothing is lost, and it is asked again each day. End what reads the backup that the message names (a pin that nobody renews counts for 7 days), or let the backup expire that needs its objects.";
    /// The store does not let the members delete objects.
    StoreRefused => "Run `kubectl palladion backup sweep` with credentials that may delete, regularly; or give the credentials of the members that right. Backups are taken all the same.";
    /// A restore has not begun, or waits for a member.
    RestorePending => "Wait, or remove what the message names. `kubectl describe cassandrarestore NAME` shows each member.";
    /// A member reads what the backup of a restore has, and compares it with the ring.
    RestoreComparing => "Wait.";
    /// Tables of a restore have rows, and it was not confirmed what happens to them.
    ConfirmationNeeded => "Read `status.tables` of the CassandraRestore. To go on, set its `spec.confirm` to its `status.nonce`. To keep the tables as they are, delete the restore.";
    /// A member creates, or truncates, the tables of a restore.
    RestoreCreating => "Wait.";
    /// The members load the rows of a restore.
    RestoreLoading => "Wait. `kubectl describe cassandrarestore NAME` shows who loads what.";
    /// The members of a ring that is restored to a point in time replay the archived commit logs.
    RestoreReplaying => "Wait. No client is let in meanwhile.";
    /// The archived commit logs do not reach the point in time that a ring is to be restored to.
    PointNotCovered => "Restore to a time that the message names, or from another backup: create another CassandraRestore, and delete this one.";
    /// All rows of a restore are loaded; a member creates indexes and views.
    RestoreFinishing => "Wait.";
    /// A restore is being abandoned: its tables get their own `gc_grace_seconds` back.
    RestoreAbandoning => "Wait; the message names the cause.";
    /// A restore is complete: every file of its tables was loaded.
    RestoreComplete => "Nothing. Compare what matters to you, then delete the restore.";
    /// A restore cannot be done as it is asked for; no table was touched.
    RestoreRefused => "The message names the cause. Create another restore.";
    /// A table of a restore has rows.
    TableNotEmpty => "Restore it under another name (`spec.tables[].to`), or create a restore with `existing: Truncate` or `existing: Merge`.";
    /// A table of a restore has an index beside which rows cannot be loaded.
    IndexInTheWay => "Drop the index that the message names, create another restore, and create the index again when that is complete.";
    /// A restore has ended and is not complete.
    RestoreFailed => "Remove the cause that the message names, and create another restore: loading the same rows twice is the same as once.";
    /// A restore was aborted.
    RestoreAborted => "Nothing; tables that it has created keep the rows that were loaded until then.";
    /// A ring begins with a restore, which is not there or has not begun.
    WaitingForRestore => "Create the CassandraRestore that `spec.backup.restore` names, with `mode: WholeRing`, or look at its conditions: the message names what it waits for.";
    /// The ring that is to begin with a backup has other racks, members or tokens than the backup.
    TopologyDiffers => "Create the ring as the message describes it, and change it when it is restored; or create it empty, and restore its tables with `mode: Tables`.";
    /// The members of a ring that is restored get the tokens of the backup, and start.
    RestoreStarting => "Wait. No client is let in meanwhile.";
    /// The members of a ring that is restored are started again, and let clients in.
    RestoreOpening => "Wait.";
    /// A ring is restored and takes clients; its members repair what they have.
    RestoreRepairing => "Wait. `kubectl get cassandramember NAME -o yaml` shows pending maintenance of a member.";
    /// The restore of a ring has ended, and is not complete: no client is let in.
    RingNotRestored => "Delete the CassandraCluster and its PersistentVolumeClaims, and create both it and its CassandraRestore again. The backup was only read.";
    /// Rows are not loaded while a member joins, leaves or is down: it would miss them.
    RingUnsettled => "Wait, or look at the member that the message names; the restore goes on by itself.";
    /// A schedule did not create a task in time: it would have been later than `startingDeadlineSeconds`.
    ScheduleMissed => "The message names the schedule and the time. Look why: no operator ran, the cluster was paused, or an earlier task took too long. To make up for it now: `kubectl palladion schedule run NAME`.";
    /// An older schedule covers this ring already.
    AnotherCovers => "Delete one of the two schedules. The message names the one that counts.";
    /// The servers of a ring repair themselves (`auto_repair` of Cassandra), so a schedule that covers the ring stands still: both would repair everything.
    RepairedByServer => "Decide for one of the two: set `auto_repair.enabled` to false in `spec.config`, or delete the schedule. While the servers repair themselves, nobody reports whether that is in time.";
    /// Ranges have used up 90% of the time after which deletions in them are forgotten (`gc_grace_seconds`).
    RepairBehind => "The message names the member and the time. Look what keeps its repair from ending: a member that is down, a task in the queue (`kubectl palladion task list`), or too little time; raise `gc_grace_seconds` of the tables if it cannot be done in time.";
    /// Ranges were not repaired within `gc_grace_seconds`: rows that were deleted may come back.
    RepairTooLate => "Remove what keeps the repair from ending; it goes on by itself. Check data that was deleted since the time in the message.";
    /// Nothing has more than one copy, so there is nothing to repair from.
    NothingToRepair => "Nothing.";
    /// A member has been down, or cut off, for longer than deletions are kept: what it holds still may come back with it.
    ReturnsTooLate => "Where tables keep deletions for a day or more, replace the member rather than start it: `kubectl palladion terminate NAME`, then `kubectl palladion replace NAME`. Where they keep them for less, its start is not refused: start it and repair it.";
    /// Tables keep deletions for less than ten minutes, so that no repair comes in time.
    GraceTooShort => "Raise `gc_grace_seconds` of the tables that the message names, or name them in `excludeTables`. They are repaired every seven days.";
    /// A repair or cleanup of a member is pending and comes first.
    MaintenancePending => "Wait; the operator runs pending maintenance on one member at a time.";
    /// Pending maintenance was removed from a member before the operator carried it out; nothing waits for it any more.
    MaintenanceWaived => "Nothing, if you ran it yourself. Otherwise run it now: `kubectl palladion task run repair` (or `cleanup`) for the member that the message names. A member that lacks deletions and is not repaired within `gc_grace_seconds` can bring deleted rows back.";
    /// Pods are not ready.
    PodsNotReady => "The message names a pod and what it waits for: `kubectl describe pod`.";
    /// A service does not start, or keeps its configuration, until a service that it depends on is there.
    WaitingForDependency => "The message names the dependency and how many of its members are ready; look at that object. Pods that run are not stopped meanwhile.";
    /// Pods wait at their gates until all pods of their service exist and have started their init container.
    WaitingForPods => "Wait; if it lasts, the message names a pod: `kubectl describe pod`.";
    /// Pods wait at their gates until all pods of their service have addresses.
    WaitingForAddresses => "Wait; if it lasts, look at the pod that the message names: `kubectl describe pod`.";
    /// Services depend on each other in a circle, so that none of them starts.
    DependencyCycle => "Remove an entry of `dependsOn` from one of the Components that the message names.";
    /// Another init container was put before the gate of a pod, so that the gate may be skipped when the pod's sandbox is recreated.
    GateNotFirst => "Exempt the pods from the webhook that adds the init container, for example by the label that switches off injection.";
    /// A template of the configuration cannot be rendered.
    TemplateInvalid => "The message names the file, the line and the error; correct the template.";
    /// The texts of all pods do not fit into one ConfigMap.
    ConfigTooLarge => "Shorten the templates, or run fewer pods.";
    /// A profile that a group of node agents names does not exist or cannot be read.
    ProfileMissing => "Create the NodeAgentProfile that the message names, or remove it from `configuration.profiles`.";
    /// Two profiles of a group of node agents give a key different values.
    ProfileConflict => "Change one of the profiles, or set `override: true` in the group.";
    /// The profiles of a group of node agents have packets forwarded in user space and in the kernel.
    ModesExclusive => "Remove one of the two profiles from `configuration.profiles`.";
    /// A node is in more than one group of an agent; it runs one of them only.
    GroupsOverlap => "Correct the `nodeSelector` of one of the groups, or the labels of the node.";
    /// A service of a Stack is active and does not exist.
    ChildAbsent => "Create the object that the message names, or set `create: true` in the Stack.";
    /// The API server or the operator rejects the spec that a Stack has for one of its services.
    ChildRefused => "The message quotes who rejects it; correct the `spec` of the service in the Stack.";
    /// A service of a Stack is not available.
    ServicesNotReady => "The message quotes the service; look at that object.";
    /// A service of a Stack serves, and reports that something is wrong with it.
    ServiceDegraded => "The message quotes the service; `kubectl describe` shows all its conditions.";
    /// A pod was signalled to reload its configuration and has not confirmed it, or has no process to be signalled.
    ReloadUnconfirmed => "Look at the container that the message names, and whether `reload.process` is the name of a running process.";
    /// Pods of a group with `upgradeStrategy: onDelete` run with an earlier spec of it, and get no changes of the services that it depends on.
    WaitingForDeletion => "Delete the pods that the message names, when it suits you: each comes back with the newest spec.";
    /// An object that a Stack names exists, and the Stack neither created it nor was given it.
    NotOfThisStack => "To let the Stack write the object, label it as the message says; otherwise rename the service in the Stack.";
    /// A service whose pods a Registration is to register does not exist.
    SelectedAbsent => "Create the service that the message names, or correct `select`.";
    /// Pods are not registered, because the service that is called is not active, or does not exist.
    WaitingForTarget => "Look at the Component that the message names.";
    /// Pods are being registered, or taken out.
    Registering => "Wait; `status.entries` shows each pod.";
    /// Calls to the API of a service have no answer.
    ApiUnreachable => "Allow the operator's pods to reach the port that the message names in the NetworkPolicies of both namespaces; look at the log of the service.";
    /// The Secret or ConfigMap for calls to a service cannot be read.
    CredentialsUnreadable => "Create or correct the object that the message names, and a Role that lets the operator's service account `get` it by name.";
    /// A service does not accept the calls that register pods.
    RegistrationFailed => "The message quotes the service; correct the templates or `accept` of the Registration.";
    /// A Registration selects more pods than a status can hold.
    TooManyEntries => "Make a second Registration for some of the services.";
    /// No node carries the label of a zone, so the pods of that zone cannot be scheduled.
    ZoneWithoutNodes => "Correct `zones` or `zoneNodeLabel`, or label nodes: `kubectl get nodes --show-labels`.";
    /// The canary or the rest of a rollout was not ready in time; the other pods keep their template.
    RolloutFailed => "Correct the template; a new template replaces the failed one at once. The message names the pod.";
    /// The new version has no ready pod yet; the old version keeps serving.
    VersionNotRunning => "If it lasts, correct the template; the message names the pod.";
    /// The requested replicas are outside `scaling`; the nearest allowed number is used.
    ReplicasLimited => "Nothing, or change `scaling`.";
    /// A change of a volume claim template cannot be applied to an existing StatefulSet.
    VolumeClaimTemplatesWarning => "Set the claim template back, or create a new object and move the data. Only a larger storage request can be applied.";
    /// A ConfigMap or Secret that the template needs does not exist.
    ConfigMissing => "Create the object that the message names.";
    /// The operator cannot read a ConfigMap or Secret of the template, so it does not roll out configuration changes.
    ConfigUnreadable => "Allow the operator to get, list and watch the object that the message names; see the how-to page on configuration.";
    /// Configuration changed; the operator collects further changes for a few seconds.
    GatheringConfig => "Wait.";
    /// No pod passes its active probe, so no pod is labelled active.
    NoActivePod => "The message quotes the probes; correct the pods or the probe.";
    /// A pod became active, or is no longer active.
    ActivePod => "Nothing.";
    /// An active probe could not be run; the labels stay as they are.
    ProbeUnanswered => "For exec probes set the chart value `zonedStatefulSet.allowExec: true`; otherwise look at the operator's log.";
    /// The API server rejected a new StatefulSet.
    CreateStatefulSetError => "The message quotes the API server; correct the template.";
    /// The API server rejected a change of a StatefulSet.
    UpdateError => "The message quotes the API server; correct the template.";
    /// The volume claim template of a rack was changed, which a StatefulSet does not allow; StatefulSet and claims stay as they were created.
    ClaimTemplateKept => "Set the claim template back. Only a larger storage request can be applied.";
    /// The operator refused its own plan because a destructive step lacked proof; nothing was changed.
    PlanVetoed => "This is a bug in Palladion. Please report it with the operator's log.";
    /// The operator's decision about this object panicked; nothing was changed.
    MindPanicked => "This is a bug in Palladion. Please report it with the operator's log. The object is tried again by itself.";
    /// The operator's decision about this object took longer than 30 s; nothing was changed.
    DecisionTimeout => "Simplify the spec, such as templates that build or compare large values. Each change of the spec is decided at once; the same spec is tried again a few minutes later.";
    /// A request of the operator failed; it is retried.
    ErrSyncFailed => "The message quotes the API server.";
    /// A step is complete.
    Synced => "Nothing.";
}

impl std::fmt::Display for Reason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// As it stands in conditions and events.
impl serde::Serialize for Reason {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}
