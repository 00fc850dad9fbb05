//! Operations of a member, and what the agent fails at while the server runs.

use jiff::Timestamp;
use palladion_api::ids::{HostId, VolumeId};
use palladion_api::member::Word;
use palladion_api::words::Names;

palladion_api::sentences! {
    /// How an operation ended well.
    pub enum Done {
        Removed { host_id: HostId } => "removed host ID {host_id} from the ring";
        Keyspaces { keyspaces: Names } => "completed for keyspaces: {keyspaces}";
        NoKeyspaces => "no keyspace requires this operation";
        Replicated { keyspaces: Names, factors: Names } => "set the replication to {factors} for keyspaces: {keyspaces}";
        Rebuilt { keyspaces: Names, source: String } => "rebuilt from datacenter {source}: {keyspaces}";
        Repaired { keyspaces: Names } => "repaired keyspaces: {keyspaces}";
    }

    /// How an operation ended otherwise.
    pub enum Failed {
        Interrupted => "the agent restarted while the operation was running";
        OtherVolume { named: VolumeId, found: VolumeId } => "the operation is for volume {named}, but this is volume {found}; nothing was done";
        OtherHostId { named: HostId, found: HostId } => "the operation is for host ID {named}, but this is host ID {found}; nothing was done";
        Unknown { word: Word, version: &'static str } => "the operation requests `{word}`, which this agent (version {version}) does not support, so nothing was done; a rollout of the rack upgrades the agent";
        NoTarget => "the operation does not name the host ID to remove";
        NoSource => "the operation must name keyspaces and the datacenter whose copies are streamed";
        NoReplication => "the operation must name keyspaces and their replication";
        RepairFailed { keyspace: String, why: String } => "repair of keyspace {keyspace} failed: {why}";
        RepairForgotten { keyspace: String } => "the server no longer has a record of the repair of keyspace {keyspace}, so it is not known to be complete; it is repaired again";
    }

    /// Why key and certificate for clients cannot be used.
    pub enum BadCertificate {
        Missing { key: &'static str } =>
            "the Secret that `tls.client` refers to does not exist or has no valid `{key}`; create or correct the Secret";
        NotPkcs8 =>
            "`tls.key` in the Secret that `tls.client` refers to is not an unencrypted PKCS#8 key, the only format that servers accept; convert it with `openssl pkcs8 -topk8 -nocrypt`";
        KeyOf { algorithm: String } =>
            "`tls.key` in the Secret that `tls.client` refers to is of type {algorithm}, but servers accept only RSA and EC keys; reissue the certificate with an RSA or EC key";
        Expired =>
            "`tls.crt` in the Secret that `tls.client` refers to has expired; renew the certificate";
        Unusable { why: String } =>
            "`tls.crt` and `tls.key` in the Secret that `tls.client` refers to cannot be used: {why}; correct them";
    }

    /// Why the dates of a certificate that the operator signed do not suit the clock.
    pub enum Unsuited {
        NotYetValid { from: Timestamp, first: Timestamp } => "it is valid from {from}, and it was {first} when the agent first checked it";
        Expired { end: Timestamp, first: Timestamp } => "it was valid until {end}, and it was {first} when the agent first checked it";
        /// Another one is good.
        Kept { why: String, end: Timestamp } =>
            "{why}; meanwhile the server presents the one before, which is valid until {end}";
    }

    /// What the agent could not do; the server runs on.
    pub enum Trouble {
        Seeds { why: String } => "cannot reload the seed list: {why}";
        RuntimeSettings { why: String } => "cannot change runtime settings: {why}";
        Copies { why: String } => "cannot count copies by datacenter: {why}";
        Opening { why: String } => "cannot open the server to clients: {why}";
        Operation { why: String } => "cannot start or record the operation: {why}";
        Certificate { why: String } => "cannot update the certificate that the server presents to clients: {why}";
        /// A chain of what was being done and why it failed.
        Step { why: String } => "{why}";
        OtherPlace { mounted: String, member: String } => "the mounted configuration has ring/datacenter/rack {mounted}, but the CassandraMember has {member}";
    }
}

impl Failed {
    /// A newer operator asks for it.
    pub fn unknown(word: Word) -> Self {
        Self::Unknown { word, version: env!("CARGO_PKG_VERSION") }
    }
}
