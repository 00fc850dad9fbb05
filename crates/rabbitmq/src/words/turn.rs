//! The one turn of the cluster: what is said of it, whatever it is for.

use palladion_api::ids::MemberName;
use palladion_api::rabbitmq::NodeName;
use palladion_plan::words::members::Server;
use palladion_plan::words::turn::Work;

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
        OperationFails => "what it needs fails each time, and others go on meanwhile";
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

    /// What has come of an order, or of an intent.
    pub enum InVain {
        Order { executor: MemberName, order: Order, why: String } => "member {executor} could not {order}: {why}";
        Cut { executor: MemberName, order: Order } => "member {executor} could not {order}: its agent started again each time before it was done";
        StopApp { member: MemberName, server: Server } => "the application of member {member} does not stop: {server}";
    }

    /// What needs a person.
    pub enum Problem {
        OperationFails { member: MemberName, work: Work, times: u32, why: String, executor: MemberName, namespace: String } => OperationFailed,
            "the {work} of member {member} does not go on after {times} tries: {why}; correct the cause (`kubectl logs -n {namespace} {executor} -c rabbitmq`)";
    }

    /// Waiting for an order.
    pub enum Waiting {
        ForOperation { executor: MemberName, order: Order } => WaitingForQueues,
            "waiting for member {executor} to {order}";
        Again { executor: MemberName, order: Order, why: String } => WaitingForQueues,
            "member {executor} could not {order}, and will try again: {why}";
        Postponed { member: MemberName, why: String } => WaitingForQueues,
            "member {member} waits for the next try: {why}";
    }

    /// Steps.
    pub enum Doing {
        Order { executor: MemberName, order: Order } => "have member {executor} {order}";
        WithdrawOrder { executor: MemberName } => "withdraw the order to member {executor}, which nothing asks for any more";
    }
}
