//! About a data volume that cannot be used as it is.

pub use palladion_agent_core::words::service_volume::Wrong;

palladion_api::sentences! {
    /// A part of the data of a server.
    pub enum Part {
        Snapshots => "snapshots";
        Logs => "transaction logs";
        CurrentEpoch => "currentEpoch";
        AcceptedEpoch => "acceptedEpoch";
        Configuration => "the configuration of the ensemble";
    }
}
