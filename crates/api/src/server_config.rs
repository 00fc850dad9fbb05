//! What the operator tells the agent about the server, through the immutable
//! ConfigMap that the pod template mounts: all that is the same for a rack.
//! The agent adds only what is local to its pod (addresses, CPU, memory).

use crate::cluster::{
    Audit, AuthMode, CdcOnFull, ClientAddresses, ClientTlsMode, InternodeTlsMode, Mode,
};
use crate::ids::RackName;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// File name (and ConfigMap key) of the serialised [`ServerConfig`].
pub const SERVER_CONFIG_FILE: &str = "server.json";
/// File name (and ConfigMap key) of the JMX exporter's configuration, if the exporter is on.
pub const JMX_EXPORTER_FILE: &str = "jmx_exporter_config.yaml";
/// Where the pod template mounts the ConfigMap.
pub const CONFIG_DIR: &str = "/etc/palladion";
/// Where the pod template mounts Secrets, each in a folder of its own.
pub const SECRETS_DIR: &str = "/etc/palladion-secrets";
/// Folder of user and password of the agents.
pub const AGENTS_FOLDER: &str = "agents";
/// Folder of user and password of the people's superuser.
pub const SUPERUSER_FOLDER: &str = "superuser";
/// Folder of key, certificate and authorities for clients.
pub const CLIENT_TLS_FOLDER: &str = "client-tls";
/// User of JMX, where it asks for one.
pub const JMX_USER: &str = "palladion";
/// File of that user and its password in the run directory; `nodetool -pwf` reads it.
pub const JMX_PASSWORD_FILE: &str = "jmx.password";
/// Where the init container puts the agent and its jars, as in Rook's Cassandra operator.
pub const SHARED_DIR: &str = "/mnt/shared";

/// Directory of a volume, below its root, in which a server keeps segments of its commit log for
/// readers of changes.
pub const CDC_DIRECTORY: &str = "cdc_raw";
/// In the environment of the init container: that directory, where a reader mounts it.
pub const CDC_DIRECTORY_VARIABLE: &str = "PALLADION_CDC_DIRECTORY";

/// Configuration of a rack's servers.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ServerConfig {
    /// Cassandra or Scylla.
    pub mode: Mode,
    /// Version as the spec has it; the agent picks the capability table by it.
    pub version: String,
    /// Name of the ring.
    pub ring: String,
    /// Datacenter.
    pub datacenter: String,
    /// Rack.
    pub rack: RackName,
    /// Tokens per member.
    pub num_tokens: u32,
    /// Heap in MiB, where the person set one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heap_mib: Option<u64>,
    /// Overrides for `cassandra.yaml` or `scylla.yaml`: cluster's, then rack's.
    #[serde(default)]
    pub config: BTreeMap<String, serde_json::Value>,
    /// Further JVM options, in order.
    #[serde(default)]
    pub jvm_options: Vec<String>,
    /// Scylla in developer mode.
    #[serde(default)]
    pub developer_mode: bool,
    /// Run the JMX exporter with the file [`JMX_EXPORTER_FILE`].
    #[serde(default)]
    pub jmx_exporter: bool,
    /// Authentication, where the spec says it; otherwise `config` decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auth: Option<AuthMode>,
    /// TLS for clients, where the spec says it; otherwise `config` decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_tls: Option<ClientTlsMode>,
    /// How members speak to each other, where it is not in the clear; otherwise `config` decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub internode_tls: Option<InternodeTlsMode>,
    /// Who signs the certificates for clients, where it is not the Secret that is mounted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_certificates: Option<ClientCertificates>,
    /// Whom JMX lets in on the loopback address, where that is not everybody.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jmx: Option<JmxAccess>,
    /// What is logged of what clients do, where the spec says it; otherwise `config` decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audit: Option<Audit>,
    /// What happens to a segment of the commit log that is full, where that is anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub archive: Option<CommitLogArchive>,
    /// What is kept of the commit log for readers of changes, where that is anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cdc: Option<ServerCdc>,
    /// When a member takes clients, where that is not as soon as its server runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opens: Option<Opens>,
    /// Under which address clients find a member, where that is not its static address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_addresses: Option<ClientAddresses>,
}

/// What is kept of the commit log for readers of changes.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ServerCdc {
    /// Most of it, in MiB.
    pub total_mib: u64,
    /// What the server does when there is that much.
    pub on_full: CdcOnFull,
}

/// When a member takes clients.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opens {
    /// When it has the data of the ring: its datacenter was added to a ring that had others.
    WhenRebuilt,
}

/// What happens to a segment of the commit log that is full.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommitLogArchive {
    /// It is linked, so that it stays until it is sent.
    Linked,
}

/// Whom JMX lets in on the loopback address.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
pub enum JmxAccess {
    /// Who has the password, which the agent makes at each start: the pod has other containers.
    Password,
}

/// Who signs the certificates for clients.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientCertificates {
    /// The operator: the member makes its key, and finds certificate and authorities in its `CassandraMember`.
    Operator,
}

/// How servers take clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientEncryption {
    /// In the clear, perhaps with TLS too.
    Plain,
    /// With TLS, with key and certificate of the Secret that the spec names.
    OfSecret,
    /// With TLS, with a key of the member's own and a certificate that the operator signed.
    OfOperator,
    /// With TLS alone, set up by hand in `config`.
    ByHand,
}

/// The authenticator that asks nobody.
const ALLOW_ALL: &str = "AllowAllAuthenticator";

impl ServerConfig {
    /// How do servers take clients?
    pub fn client_encryption(&self) -> ClientEncryption {
        match self.client_tls {
            Some(ClientTlsMode::Require | ClientTlsMode::Optional) => {
                match self.client_certificates {
                    Some(ClientCertificates::Operator) => ClientEncryption::OfOperator,
                    None => ClientEncryption::OfSecret,
                }
            }
            Some(ClientTlsMode::Off) => ClientEncryption::Plain,
            None => {
                let options = self.config.get("client_encryption_options");
                let says = |name| options.and_then(|o| o.get(name)?.as_bool());
                match (says("enabled"), says("optional")) {
                    // A server that is to encrypt takes no others unless it says so.
                    (Some(true), Some(false) | None) => ClientEncryption::ByHand,
                    (Some(true), Some(true)) | (Some(false) | None, _) => ClientEncryption::Plain,
                }
            }
        }
    }

    /// Does a server have a certificate to speak to other members with?
    pub fn speaks_tls_to_members(&self) -> bool {
        self.internode_tls.is_some_and(|mode| mode != InternodeTlsMode::Off)
    }

    /// Do servers ask who logs in?
    pub fn asks_who_logs_in(&self) -> bool {
        match self.auth {
            Some(AuthMode::Password) => true,
            Some(AuthMode::Off) => false,
            None => {
                self.config.get("authenticator").is_some_and(|a| !class_of(a).ends_with(ALLOW_ALL))
            }
        }
    }
}

/// A class is named as it is, or since 5.0 with parameters.
fn class_of(value: &serde_json::Value) -> &str {
    value.as_str().or_else(|| value.get("class_name")?.as_str()).unwrap_or(ALLOW_ALL)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_is_to_encrypt_takes_no_others_unless_it_says_so() {
        use ClientEncryption::{ByHand, Plain};
        let of = |options: serde_json::Value| {
            let config = serde_json::json!({
                "mode": "cassandra", "version": "5.0.5", "ring": "r", "datacenter": "dc1",
                "rack": "a", "numTokens": 16,
                "config": { "client_encryption_options": options },
            });
            serde_json::from_value::<ServerConfig>(config)
                .expect("should be a configuration")
                .client_encryption()
        };
        assert_eq!(of(serde_json::json!({ "enabled": true })), ByHand);
        assert_eq!(of(serde_json::json!({ "enabled": true, "optional": false })), ByHand);
        assert_eq!(of(serde_json::json!({ "enabled": true, "optional": true })), Plain);
        assert_eq!(of(serde_json::json!({ "optional": false })), Plain);
    }
}
