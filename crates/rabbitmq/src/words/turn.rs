//! The one turn of the cluster: what is said of it, whatever it is for.

use palladion_api::ids::MemberName;
use palladion_api::rabbitmq::NodeName;
use palladion_plan::words::members::Server;

palladion_plan::sentences! {
    /// Why a turn ends before its work is done.
    pub enum Ended {
        MemberGone => "the member does not exist";
        PodGone => "its pod is gone";
        OtherVolume => "it has another volume";
        VolumesFirst => "all volumes are looked at again first";
        AgentRefused { why: String } => "its agent refused: {why}";
        NotLost => "its volume does not count as lost any more";
        LostToo => "the volume that came in the place of the lost one is lost, too";
        ReplacementFirst => "the volume of a member is lost, and its replacement comes first";
        RestartFirst => "a member that does not serve is restarted first";
        JoinFirst => "another node ended while the others took it in, and goes on with its join first";
        OthersFirst => "the new node does not come up, and others go on meanwhile";
        NotWanted => "the spec does not ask for it any more";
        NotTakenIn => "its node ended while the others took it in, and goes on with its join first";
        Failed { server: Server } => "the start failed: {server}";
        ForUser => "a user decides about it first";
        QueuesNeedNode => "queues need its node, and others go on meanwhile";
        QueuesNotMoved => "queues cannot be moved off its node, and others go on meanwhile";
        QueueNamesNode => "a queue names its node, and others go on meanwhile";
        AlarmFirst => "an alarm forbids it, and others go on meanwhile";
        FlagsFirst => "stable feature flags are enabled first";
        NotForRabbitmq => "there is no such work with RabbitMQ";
    }

    /// What a member is ordered to do.
    pub enum Order {
        MoveReplicas { node: NodeName } => "move replicas off node {node}";
        Forget { node: NodeName } => "forget node {node}";
        Grow => "take replicas of queues";
        Rebalance => "spread the leaders of queues";
        EnableFeatureFlags => "enable the stable feature flags";
        ImportDefinitions => "import the definitions";
    }

    /// Waiting for an order.
    pub enum Waiting {
        ForOperation { executor: MemberName, order: Order } => WaitingForQueues,
            "waiting for member {executor} to {order}";
        Again { executor: MemberName, order: Order, why: String } => WaitingForQueues,
            "member {executor} could not {order}, and will try again: {why}";
    }

    /// Steps.
    pub enum Doing {
        Order { executor: MemberName, order: Order } => "have member {executor} {order}";
        WithdrawOrder { executor: MemberName } => "withdraw the order to member {executor}, which nothing asks for any more";
    }
}
