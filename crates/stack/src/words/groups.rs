//! Groups of node agents.

use palladion_plan::words::Names;

palladion_plan::sentences! {
    /// What needs a person.
    pub enum Overlapping {
        Node { node: String, groups: Names, nodes: usize } => GroupsOverlap,
            "node {node} is in this group and in {groups} ({nodes} such nodes); it runs one agent only: correct the `nodeSelector` of one of them";
    }

    /// What is waited for.
    pub enum Waiting {
        Created { set: String } => CreatingObjects, "DaemonSet {set} is being created";
        Node { pods: usize, names: Names } => RollingOut,
            "{pods} pods get no change, as their nodes are not ready: {names}; each gets the newest when its node is back, or the Node is deleted";
        Deletion { pods: usize, names: Names } => WaitingForDeletion,
            "{pods} pods run with an earlier spec and get no changes of the services that they depend on: {names}; `upgradeStrategy` is `onDelete`: delete them, and each comes back with the newest spec";
    }

    /// Events.
    pub enum Happened {
        Created { set: String } => Synced, "DaemonSet {set} created";
    }

    /// How many agents run.
    pub enum Available {
        Ready { ready: u32, wanted: u32 } => UpToDate, "{ready} of {wanted} agents are ready";
        TooFew { ready: u32, wanted: u32, needed: u32 } => PodsNotReady,
            "{ready} of {wanted} agents are ready, at least {needed} must be";
        NoNodes => UpToDate, "no node is in this group";
    }
}
