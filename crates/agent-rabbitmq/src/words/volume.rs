//! Parts of the data of a node.

pub use palladion_agent_core::words::service_volume::Wrong;

palladion_api::sentences! {
    /// A part of the data of a node.
    pub enum Part {
        Tables => "the tables (`schema.DAT`)";
        Membership => "the list of the cluster's nodes (`cluster_nodes.config`)";
        Quorum => "the logs of quorum queues (`quorum/`)";
        Coordination => "the logs of the coordinator of streams (`coordination/`)";
        Streams => "the streams (`stream/`)";
        Messages => "the messages of classic queues (`msg_stores/`)";
    }
}
