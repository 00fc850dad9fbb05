//! Operations of a member, and what the agent fails at while the server runs.

use palladion_api::ids::{HostId, VolumeId};
use palladion_api::words::Names;

palladion_api::sentences! {
    /// How an operation ended well.
    pub enum Done {
        Removed { host_id: HostId } => "removed host ID {host_id}";
        Keyspaces { keyspaces: Names } => "done for {keyspaces}";
        NoKeyspaces => "no keyspace needs it";
        Replicated { keyspaces: Names, factors: Names } => "set the replication of {keyspaces} to {factors}";
        Repaired { keyspaces: Names } => "repaired {keyspaces}";
    }

    /// How an operation ended otherwise.
    pub enum Failed {
        Interrupted => "the agent restarted while the operation was running";
        OtherVolume { named: VolumeId, found: VolumeId } => "the operation is for volume {named}, and this is volume {found}; nothing was done";
        OtherHostId { named: HostId, found: HostId } => "the operation is for host ID {named}, and this is host ID {found}; nothing was done";
        NoTarget => "the operation names no host ID to remove";
        NoReplication => "the operation names no keyspaces or no replication";
        RepairFailed { keyspace: String, why: String } => "repair of keyspace {keyspace} failed: {why}";
        RepairForgotten { keyspace: String } => "repair of keyspace {keyspace}: the server no longer knows about it";
    }

    /// Why key and certificate for clients cannot be used.
    pub enum BadCertificate {
        Missing { key: &'static str } =>
            "the Secret with the certificate for clients does not exist or lacks `{key}`; create it";
        NotPkcs8 =>
            "`tls.key` of the Secret with the certificate for clients is not an unencrypted PKCS#8 key, and servers read no other; convert it with `openssl pkcs8 -topk8 -nocrypt`";
        Unusable { why: String } =>
            "`tls.crt` and `tls.key` of the Secret with the certificate for clients cannot be used: {why}; correct it";
    }

    /// What the agent could not do; the server runs on.
    pub enum Trouble {
        Seeds { why: String } => "cannot reload the seeds: {why}";
        RuntimeSettings { why: String } => "cannot change runtime settings: {why}";
        Operation { why: String } => "cannot record the operation: {why}";
        Certificate { why: String } => "clients are served with the former certificate: {why}";
        OtherPlace { mounted: String, member: String } => "the mounted configuration is for {mounted}, but the member is for {member}";
    }
}
