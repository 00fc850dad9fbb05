//! What was done with a node that runs, and why something was not.

use palladion_agent_core::words::operation;
use palladion_api::rabbitmq::NodeName;
use palladion_api::words::{Count, Names};

palladion_api::sentences! {
    /// What was being done; the cause follows after a colon.
    pub enum Doing {
        WaitForBoot => "waiting for the node to boot";
        ReadCluster => "reading which nodes the cluster has";
        StopApp => "stopping the application of the node";
        Join { node: NodeName } => "joining the cluster through {node}";
        StartApp => "starting the application of the node";
        Open => "opening the listeners of the node";
        EnablePlugins => "enabling the plugins of the node";
        MakeUser { name: String } => "creating the user `{name}`";
        MakeVhost { name: String } => "creating the virtual host `{name}`";
        DeleteGuest => "deleting the user `guest`";
        ImportDefinitions => "importing the definitions";
        SetUpDefinitions => "setting the new cluster up with its definitions";
        Drain => "draining the node";
        EndDrain => "ending the drain of the node";
        ReadQueues => "reading the queues";
        ReadReplicas => "reading how far the replicas are";
        AddReplica { queue: String, node: NodeName } => "adding a replica of {queue} on {node}";
        DeleteReplica { queue: String, node: NodeName } => "deleting the replica of {queue} on {node}";
        HandCoordinatorOver => "moving the leader of the coordinator of streams to another node";
        ReadCoordinator => "reading which nodes the coordinator of streams has";
        Forget { node: NodeName } => "forgetting {node}";
        Rebalance => "spreading the leaders of the queues";
        ReadFlags => "reading the feature flags";
        EnableFlag { name: String } => "enabling the feature flag `{name}`";
    }

    /// What is not so although a command said that it was done.
    pub enum NotSo {
        NotReached { nodes: Names } => "the node reaches none of {nodes}; they may be away, or have another Erlang cookie";
        NamedWithoutData { by: Names } => "this node is named as a member of the cluster by {by}, and has none of its data; it joins once the others have forgotten it";
        NotJoined { node: NodeName } => "`rabbitmqctl join_cluster` ended, but the cluster does not contain {node}";
        NotStarted => "`rabbitmqctl start_app` ended, but the application does not run";
        NotStopped => "`rabbitmqctl stop_app` ended, but the application runs";
        NotOpen => "the node accepts no clients although its listeners were opened";
        NoUser { name: String } => "RabbitMQ does not list the user `{name}`";
        NoVhost { name: String } => "RabbitMQ does not list the virtual host `{name}`";
        GuestIsThere => "RabbitMQ still lists the user `guest`";
        NoReplica { queue: String, node: NodeName } => "{queue} has no replica on {node}";
        StillReplica { queue: String, node: NodeName } => "{queue} still has a replica on {node}";
        NotCaughtUp { queue: String } => "the replicas of {queue} on the nodes that stay have not caught up in time";
        Behind { queues: Names } => "replicas of these queues on this node have not caught up in time: {queues}";
        StillMember { node: NodeName } => "`rabbitmqctl forget_cluster_node` ended, but the cluster still contains {node}";
        NoCoordinator => "the coordinator of streams does not run on this node yet";
        LeadsCoordinator => "this node still leads the coordinator of streams; no other node was elected";
        InCoordinator { node: NodeName } => "the coordinator of streams still has a member on {node}";
        FlagsDisabled { flags: Names } => "these stable feature flags are still disabled: {flags}";
        NoQueue { queues: Names } => "these queues of the definitions do not exist: {queues}";
        OtherCluster { members: Names } => "the node is in a cluster with {members}, which the permit does not name";
    }

    /// How an operation ended well.
    pub enum Done {
        Moved => "moved all replicas";
        MovedAllBut { queues: Count } => "moved the replicas that can be moved; {queues} could not be changed";
        Forgotten { node: NodeName } => "{node} is no member of the cluster";
        Grown { queues: Count } => "gave {queues} a replica on this node; all have caught up";
        GrownAllBut { queues: Count } => "gave each queue a replica on this node that takes one; {queues} refused it";
        Rebalanced { leaders: String } => "spread the leaders of the queues: {leaders}";
        FlagsEnabled => "all stable feature flags are enabled";
        Imported { hash: String } => "imported the definitions with hash {hash}";
    }

    /// How an operation ended otherwise.
    pub enum Failed {
        Of { why: operation::Failed } => "{why}";
        NotOfRabbitmq { kind: String } => "the operation requests `{kind}`, which a node of RabbitMQ does not support; nothing was done";
        NoNode => "the operation does not name a node; nothing was done";
        OwnNode { node: NodeName } => "the operation is to forget {node}, which is this node; nothing was done";
        Runs { node: NodeName } => "{node} runs, so it is not forgotten";
        Named { node: NodeName, queues: Names } => "queues still name {node}, so it is not forgotten: {queues}";
        NoDefinitionsHash => "the operation does not name the hash of the definitions; nothing was done";
        OtherDefinitions { named: String, found: String } => "the operation is for definitions with hash {named}, but the pod mounts those with hash {found}; nothing was done";
        NoDefinitions => "the pod mounts no definitions; nothing was done";
        /// A chain of what was being done and why it failed.
        Chain { why: String } => "{why}";
    }
}

impl From<operation::Failed> for Failed {
    fn from(why: operation::Failed) -> Self {
        Self::Of { why }
    }
}
