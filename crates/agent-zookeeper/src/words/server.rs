//! About a server that runs, is being stopped or has ended.

use jiff::Timestamp;
use palladion_api::words::Names;
use palladion_api::zookeeper::{ServerId, Zxid};

palladion_api::sentences! {
    /// Why the server is being stopped.
    pub enum Stopping {
        StaleTwin => StaleTwin, "the data of this member is on another volume; the server on this volume is being stopped";
        BySpec => StoppedByIntent, "the server is being stopped, as `spec.run` requests";
        Restart => RollingOut, "the server is being restarted because `spec.restartToken` changed";
        PermitWithdrawn => WaitingForPermit, "the permit was withdrawn; the server is being stopped";
        Left => Decommissioned, "the member has left the ensemble; its server is being stopped";
        Missing { id: ServerId, version: Zxid } => NotInEnsemble, "the configuration with version {version} does not contain server {id}, so others are the ensemble now; the server is being stopped";
        MarkedAsLost => VolumeLost, "the volume of this member is marked as lost; its server is being stopped";
        Rescue => MajorityLost, "the server is being stopped to continue without the lost majority";
        WithContainer => StoppedByIntent, "the container is shutting down";
    }

    /// On its way to a full member.
    pub enum Starting {
        Silent => Starting, "the server is not responding yet";
        NoQuorum => Starting, "the server is not serving yet: it has not found a quorum";
        Observes => Starting, "the server follows the ensemble and is not a member yet";
    }

    /// What is not as it should be while the server runs.
    pub enum Running {
        Silent => Running, "the server is not responding";
        NoQuorum => Running, "the server has no quorum, so it serves nobody";
        Standalone => Running, "the server runs standalone and accepts no reconfiguration";
        OtherMode { mode: String } => Running, "the server is in mode {mode}";
        Observer => Running, "the configuration lists the server as an observer, so it does not vote";
        ConfigurationUnknown => Running, "the agent has not read the configuration of the ensemble yet";
        Unknown { fields: Names, version: &'static str } => Running, "this agent (version {version}) does not support the values of these fields and ignores them: {fields}; a rollout upgrades the agent";
        LedgerUnreadable => VolumeForeign, "the server is running, but the agent cannot read the marker or the ledger on its volume";
    }

    /// A server that exited; its reason is that of its last words.
    pub enum Exited {
        TriedAgain { earliest: Timestamp } => "the server exited unexpectedly and will be restarted at {earliest}";
        TriedAgainAfter { earliest: Timestamp, words: String } => "the server exited unexpectedly: {words}; it will be restarted at {earliest}";
    }
}
