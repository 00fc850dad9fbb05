//! What the agent fails at, what it says to the preStop hook, and what looks at the
//! server add up to.

palladion_api::sentences! {
    /// What the agent could not do; the server runs on.
    pub enum Trouble {
        /// A chain of what was being done and why it failed.
        Step { why: String } => "{why}";
        Operation { why: String } => "cannot start or record the operation: {why}";
        OtherCluster { mounted: String, member: String } => "the mounted configuration is for cluster {mounted}, but the ServiceMember belongs to cluster {member}";
        OtherSystem { system: String } => "the pod runs ZooKeeper, but the ServiceMember is for {system}";
        Unreadable { why: String, version: &'static str } => "this agent (version {version}) cannot read its ServiceMember, so it carries out nothing that is new in it: {why}; a rollout upgrades the agent";
    }

    /// What the preStop hook is told.
    pub enum Drained {
        NothingToDo => "nothing to drain: ZooKeeper acknowledges only what is on disk; the server will not be started again in this container";
    }

    /// Why a server is not healthy.
    pub enum Health {
        NoQuorum => "the server has no quorum, so it serves nobody";
        NotMember => "the configuration of the ensemble does not contain the server";
    }
}
