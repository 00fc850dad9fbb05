//! About a node that runs, is being stopped or has ended.

use jiff::Timestamp;
use palladion_api::rabbitmq::NodeName;
use palladion_api::words::Names;

palladion_api::sentences! {
    /// Why the node is being stopped.
    pub enum Stopping {
        StaleTwin => StaleTwin, "the data of this member is on another volume; the node on this volume is being stopped";
        BySpec => StoppedByIntent, "the node is being stopped, as `spec.run` requests";
        Restart => RollingOut, "the node is being restarted because `spec.restartToken` changed";
        PermitWithdrawn => WaitingForPermit, "the permit was withdrawn; the node is being stopped";
        Left => Decommissioned, "the member has left the cluster; its node is being stopped";
        MarkedAsLost => VolumeLost, "the volume of this member is marked as lost; its node is being stopped";
        Opening => Starting, "the node has joined its cluster and is being started again, open for clients";
        WithContainer => StoppedByIntent, "the container is shutting down";
    }

    /// On its way to a full member.
    pub enum Starting {
        Silent => Starting, "the node is not responding yet";
        SettingUp => Starting, "the node is being set up: its virtual host and its users are being created";
        Joining { nodes: Names } => Starting, "the node is joining the cluster through {nodes}";
        NamedWithoutData => NamedWithoutData, "the other nodes name this node as a member of the cluster, and it has none of its data; it joins once they have forgotten it";
        Opening => Starting, "the node has joined its cluster and is being opened for clients";
        NotMember => Starting, "the node does not run as a member of its cluster yet";
        Closed => Starting, "the node accepts no clients yet";
        NotAllSeen { missing: Names } => Starting, "the node waits to see other members of its cluster run; it does not see {missing}";
        ForTables => WaitingForTables, "the node waits for the tables of other nodes, which ran longer than it";
        ForTablesOf { nodes: Names } => WaitingForTables, "the node waits for the tables of {nodes}, which ran longer than it; bring them back";
        Denied => Starting, "the node does not accept the password of the agent's user; the agent sets it again";
        CookieDiffers => CookieDiffers, "the node is not responding yet, and the Secret has another Erlang cookie than the volume, which keeps its own; set `erlang-cookie` of the Secret back";
        JoinsWithOther => CookieDiffers, "the node was started with another Erlang cookie than the Secret has now, and nodes with different cookies do not reach each other; it takes that of the Secret with the next try to join, at once if its pod is deleted";
    }

    /// What is not as it should be while the node runs.
    pub enum Running {
        Silent => Running, "the node is not responding";
        Paused => Running, "the node sees no majority of its cluster, so it has stopped serving until it does";
        NotMember => Running, "the node does not run as a member of its cluster";
        Closed => Running, "the node accepts no clients";
        Drained => Running, "the node is drained: it accepts no clients";
        Denied => Running, "the node does not accept the password of the agent's user; the agent sets it again";
        AppStopped => StoppedByIntent, "the application of the node is stopped, as the intent `StopApp` requests; its virtual machine runs";
        StoppingApp => StoppedByIntent, "the application of the node is being stopped, as the intent `StopApp` requests";
        StartingApp => Starting, "the intent `StopApp` was withdrawn; the application of the node is being started again";
        CookieDiffers => CookieDiffers, "the Secret has another Erlang cookie than the volume, which keeps its own; set `erlang-cookie` of the Secret back";
        Unknown { fields: Names, version: &'static str } => Running, "this agent (version {version}) does not support the values of these fields and ignores them: {fields}; a rollout upgrades the agent";
        LedgerUnreadable => VolumeForeign, "the node is running, but the agent cannot read the marker or the ledger on its volume";
    }

    /// A node that exited; its reason is that of its last words.
    pub enum Exited {
        TriedAgain { earliest: Timestamp } => "the node exited unexpectedly and will be restarted at {earliest}";
        TriedAgainAfter { earliest: Timestamp, words: String } => "the node exited unexpectedly: {words}; it will be restarted at {earliest}";
    }

    /// About names.
    pub enum Named {
        NoHost { node: NodeName } => "`{node}` names no host";
        Late { node: NodeName } => "the name of node {node} was not resolved in time";
        Unresolved { node: NodeName, why: String } => "the name of node {node} cannot be resolved: {why}";
        Elsewhere { node: NodeName, found: Names } => "the name of node {node} leads to {found}, which is not the address of this pod";
    }
}
