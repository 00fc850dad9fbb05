//! Why no server is started.

use jiff::Timestamp;
use palladion_api::ids::{HostId, StaticAddress, VolumeId};
use palladion_api::member::Word;
use palladion_api::words::Names;

palladion_api::sentences! {
    /// What a start waits for.
    pub enum Waiting {
        ProcessUnknown { why: String } => FactUnknown, "cannot determine whether the server is running: {why}";
        VolumeUnreadable { why: String } => VolumeForeign, "cannot determine the state of the volume: {why}";
        NoSpec => WaitingForMember, "the agent has not read its CassandraMember yet";
        NoAddress => WaitingForMember, "the member has no address yet";
        NoClientAddress => WaitingForAddress, "the member is to announce the address of its load balancer to clients, and has none yet; its server starts as soon as the operator has recorded one";
        PermitNotLive => WaitingForMember, "the agent cannot use the start permit until it has read its CassandraMember from the API server";
        NoHostId => VolumeForeign, "the ledger on the volume records that the member has joined, but contains no host ID";
        OtherHostId { recorded: HostId, found: HostId } => StaleTwin, "the agent does not start the server: this member has host ID {recorded}, but the volume holds the data of host ID {found}";
        OtherVolume { recorded: VolumeId, found: VolumeId } => StaleTwin, "the agent does not start the server: the data of this member is on volume {recorded}, but this is volume {found}";
        NewAddress { address: StaticAddress } => WaitingForPermit, "the ledger on the volume records no address, but the member now has {address}; its server needs a permit to start";
        OtherAddress { before: StaticAddress, now: StaticAddress } => AddressChanged, "the member's address changed from {before} to {now}; its server needs a permit to start";
        DataLost => VolumeLost, "the data of this member is gone; its server needs a permit to start on an empty volume";
        TooOld { at: Timestamp, hours: i64 } => DataTooOld, "the server last ran at {at}, more than {hours} hours ago, so deleted rows could reappear; if the other members are up, replace this one (`kubectl palladion terminate`, then `kubectl palladion replace`), or set `spec.allowStaleStart` of the CassandraMember to that time to start it anyway";
        NotRepaired { at: Timestamp, hours: i64 } => DataTooOld, "the member went down at {at}, more than {hours} hours ago, and has not been repaired since, so deleted rows could reappear; if the other members are up, replace this one (`kubectl palladion terminate`, then `kubectl palladion replace`), or set `spec.allowStaleStart` of the CassandraMember to that time to start it anyway";
        ClockBehind { at: Timestamp, clock: Timestamp, later: Timestamp } => DataTooOld, "the clock of this Node is behind: it shows {clock}, but {later} has passed already; how long ago the server last ran (at {at} by that clock) cannot be determined, so deleted rows could reappear; set the clock of the Node right, or set `spec.allowStaleStart` of the CassandraMember to {at} to start the server anyway";
        Leaving => WaitingForPermit, "the server exited while the member was leaving; it must not start again until the operator has asked the other members whether the member has left";
        NotJoined => WaitingForPermit, "the member has not joined the ring yet and is waiting for a permit to start";
        PermitRefused { why: String } => WaitingForPermit, "the agent refused the start permit: {why}";
        RetiringRefused { why: String } => RetainedVolumeInTheWay, "the agent refused the start permit: {why}";
        BeingRemoved { host_id: HostId } => WaitingForPermit, "another member is removing host ID {host_id}, whose data is on this volume, from the ring; until the removal has ended, no server may start on this volume";
        UnknownRun { run: Word, version: &'static str } => WaitingForMember, "the spec sets `run: {run}`, which this agent (version {version}) does not support, so it does not start the server; a rollout of the rack upgrades the agent";
        Unreadable { why: String, version: &'static str } => WaitingForMember, "this agent (version {version}) cannot read its CassandraMember: {why}";
        NoCertificate => WaitingForCertificate, "the member has no certificate for clients yet: its agent has made a key and waits for the operator to sign";
        NoInternodeCertificate => WaitingForCertificate, "the member has no certificate to speak to other members with yet: its agent has made a key and waits for the operator to sign";
        SecurityLowered { missing: Names } => SecurityLowered, "the configuration of this pod lacks what the servers of this member had by {missing}; none is started without it. Run the operator that knows what was settled for the ring, or set `auth` and `tls` in the spec of the CassandraCluster explicitly: as they were, or to `Off` if that is intended";
        NoAgentsSecret => CredentialsMissing, "the Secret with the user of the agents (`<cluster>-agents`) does not exist, or lacks `username` or `password`; the agent creates that user before anybody can connect, so the ring starts once the Secret is there";
        NoSuperuserSecret => CredentialsMissing, "the Secret with the superuser (`auth.superuserSecretName`, by default `<cluster>-superuser`) does not exist, or lacks `username` or `password`; the agent creates that user before anybody can connect, so the ring starts once the Secret is there";
        NamesDefault => CredentialsRefused, "a Secret of this ring names the user `cassandra`, which the agent closes; the ring starts once both Secrets name other users";
        OtherAuthority => WaitingForCertificate, "the certificate on the volume is from a certificate authority that the ring no longer uses; the agent waits for the operator to sign another one";
        NoSeedAnswers { seeds: Names } => SeedsUnreachable, "no server of the ring answers on port 7000 of its `externalSeeds` ({seeds}); the server of this member starts as soon as one does. Check the addresses, the routes between the Service networks and the NetworkPolicies on both sides";
        AsksBack => WaitingForRegion, "the permit was given under a region lock; the agent asks the operator whether that still holds before it starts the server";
        NotReleased { revision: String, released: Names } => WaitingForRevision, "this pod has revision {revision}, which is not allowed to start yet; allowed revisions: {released}";
    }

    /// What forbids every start.
    pub enum Forbidden {
        Terminated => StoppedByIntent, "the spec sets `run: Terminated`, so no server will start on this data again";
        GivenUp => MemberTerminated, "a user has terminated this volume for good, so no server will start on it again; replace the member";
        Banned => StoppedByIntent, "the server was stopped permanently; no server will start on this data again";
        Left => Decommissioned, "the member has left the ring; no server will start on this data again";
        BySpec => StoppedByIntent, "the spec sets `run: Stopped`";
        WithContainer => StoppedByIntent, "the container is shutting down";
    }
}
