//! What the agent fails at, what it says to the preStop hook, and what looks at the
//! node add up to.

palladion_api::sentences! {
    /// What the agent could not do; the node runs on.
    pub enum Trouble {
        /// A chain of what was being done and why it failed.
        Step { why: String } => "{why}";
        Operation { why: String } => "cannot start or record the operation: {why}";
        OtherCluster { mounted: String, member: String } => "the mounted configuration is for cluster {mounted}, but the ServiceMember belongs to cluster {member}";
        OtherSystem { system: String } => "the pod runs RabbitMQ, but the ServiceMember is for {system}";
        Unreadable { why: String, version: &'static str } => "this agent (version {version}) cannot read its ServiceMember, so it carries out nothing that is new in it: {why}; a rollout upgrades the agent";
    }

    /// What the preStop hook is told.
    pub enum Drained {
        NotRunning => "nothing to drain: the node is not running; it will not be started again in this container";
        Done => "drained: the queues have been handed over, and the node accepts no clients any more";
        /// A chain of what was being done and why it failed.
        NotHandedOver { why: String } => "drained without waiting for the other replicas any longer: {why}";
        Failed { why: String } => "the node could not be drained: {why}; it stops without that";
        Again => "the node is being drained already";
    }

    /// Why a node is not healthy.
    pub enum Health {
        NotMember => "the node does not run as a member of its cluster";
        Closed => "the node accepts no clients";
        Denied => "the node does not accept the password of the agent's user";
    }
}
