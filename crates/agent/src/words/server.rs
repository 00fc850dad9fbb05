//! About a server that runs, is being stopped or has ended.

use jiff::Timestamp;
use palladion_api::ids::HostId;
use palladion_api::words::Names;

palladion_api::sentences! {
    /// Why the server is being stopped.
    pub enum Stopping {
        StaleTwin => StaleTwin, "the data of this member is on another volume; the server on this volume is being stopped";
        BySpec => StoppedByIntent, "the server is being stopped, as `spec.run` requests";
        Restart => RollingOut, "the server is being restarted because `spec.restartToken` changed";
        PermitWithdrawn => WaitingForPermit, "the permit was withdrawn; the server is being stopped";
        JoinFailed => ServerFailed, "the join failed; the server is being stopped";
        Decommissioned => Decommissioned, "the member has left the ring; its server is being stopped";
        OtherHostId { actual: HostId, recorded: HostId } => VolumeDamaged, "the server came up with host ID {actual}, but the ledger on its volume has {recorded}, so it did not find the data of this member; it is being stopped";
        SealEnds => Starting, "the roles of the ring are made; the server is being stopped, and then starts for clients";
        Rewinds => Starting, "the server is drained and stopped, and then replays the archived commit log";
        Opens => Starting, "the ring is restored; the server is being stopped, and then starts for clients";
        SealLost => Starting, "the agent was restarted while the roles of the ring were being made, and can no longer connect to this server; it is being stopped, and starts again";
        WithContainer => StoppedByIntent, "the container is shutting down";
    }

    /// On its way to a full member.
    pub enum Starting {
        Silent => Starting, "the server is not responding yet";
        Mode { mode: String } => Starting, "the server is in mode {mode}";
        Sealed => Starting, "the server runs for its agent alone, which makes the roles of the ring; after that it starts for clients";
    }

    /// What is not as it should be while the server runs.
    pub enum Running {
        Silent => Running, "the server is not responding";
        NativeTransportDown => Running, "the native transport is down, so clients cannot connect";
        Mode { mode: String } => Running, "the server is in mode {mode}";
        Closed => Restoring, "the server takes no clients until its ring is restored";
        Sealed => Running, "the server is a full member and takes no clients: its agent makes the roles of the ring first, and then the server is restarted";
        RebuildOwed => RebuildOwed, "the server is a full member and takes no clients: its datacenter was added to the ring, and it is opened when all its members have the data of the keyspaces that name it";
        DatacenterLeaves => DatacenterLeaving, "the server is a full member and takes no clients, because its datacenter leaves the ring";
        Drained => Drained, "the server is drained and takes no requests until it is restarted";
        NotDrained { why: String } => Running, "the server could not be drained: {why}";
        NoMode => Running, "the server does not report its mode";
        Unknown { fields: Names, version: &'static str } => Running, "this agent (version {version}) does not support the values of these fields and ignores them: {fields}; a rollout of the rack upgrades the agent";
        LedgerUnreadable => VolumeForeign, "the server is running, but the agent cannot read the marker or the ledger on its volume";
    }

    /// Why a server is not healthy, or does not answer.
    pub enum Health {
        Mode { mode: String } => "the server is in mode {mode}";
        NoMode => "the server does not report its mode";
        GossipDown => "gossip is stopped, so other members see this one as down";
        NativeTransportDown => "the native transport is down, so clients cannot connect";
        Silent => "the server is not responding";
        NoServer => "the server is not running";
        NotWatched => "the agent was restarted; when this ended is not known";
        SaidNotWatched { said: String } => "{said}; the agent was restarted, and when this ended is not known";
    }

    /// A start, a join or a leave that hangs.
    pub enum Stalled {
        Silent { since: Timestamp } => NoProgress, "the server has not responded since {since}";
        Streams { mode: String, since: Timestamp } => NoProgress, "the server is in mode {mode} and has streamed no data since {since}";
    }

    /// A server that exited; its reason is that of its last words.
    pub enum Exited {
        TriedAgain { earliest: Timestamp } => "the server exited unexpectedly and will be restarted at {earliest}";
        TriedAgainAfter { earliest: Timestamp, words: String } => "the server exited unexpectedly: {words}; it will be restarted at {earliest}";
        BeforeItJoined => "the server exited before it had finished starting";
    }
}
