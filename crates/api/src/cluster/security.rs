//! Who may speak to a ring, and how: authentication of its clients and of the
//! agents, and TLS.

use crate::rules::security as rules;
use kube_derive::KubeSchema;
use serde::{Deserialize, Serialize};

/// Authentication of clients, people and agents.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Auth {
    /// `Password`: servers ask for a user and a password (PasswordAuthenticator, CassandraAuthorizer, CassandraRoleManager). The agents use the Secret `<cluster>-agents`. Default `Off`: nobody is asked.
    #[serde(default)]
    pub mode: AuthMode,
    /// Secret of type `kubernetes.io/basic-auth` with the superuser for people, created together with the role of the agents. Default: `<cluster>-superuser`. Later changes of this Secret change nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub superuser_secret_name: Option<String>,
}

/// Whether servers ask who is there.
#[derive(
    Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq,
)]
pub enum AuthMode {
    /// Nobody is asked.
    #[default]
    Off,
    /// User and password.
    Password,
}

/// TLS of a ring.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Tls {
    /// TLS for clients (port 9042).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<ClientTls>,
}

/// TLS for clients.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[x_kube(crates(kube_core = "::kube_core"))]
#[x_kube(validation = rules::client_tls_has_certificates())]
#[serde(rename_all = "camelCase")]
pub struct ClientTls {
    /// `Require`: clients connect with TLS. `Optional`: with TLS or without. Default `Off`: without.
    #[serde(default)]
    pub mode: ClientTlsMode,
    /// Where key and certificate come from. Required unless `mode` is `Off`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certificates: Option<CertificateSource>,
}

/// Whether clients use TLS.
#[derive(
    Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq,
)]
pub enum ClientTlsMode {
    /// Without.
    #[default]
    Off,
    /// With or without.
    Optional,
    /// With.
    Require,
}

/// Where key and certificate of the servers come from.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[x_kube(crates(kube_core = "::kube_core"))]
#[x_kube(validation = rules::certificates_have_one_source())]
#[serde(rename_all = "camelCase")]
pub struct CertificateSource {
    /// The operator signs: each member makes a key of its own on its volume, and the operator keeps an authority for this ring alone. Clients find the authority in the ConfigMap `<cluster>-client-ca`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operator: Option<SignedByOperator>,
    /// Secret of type `kubernetes.io/tls` with `tls.crt`, `tls.key` (PKCS#8) and `ca.crt`, used by all members.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub secret_name: Option<String>,
}

/// Certificates that the operator signs. There is nothing to set.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
pub struct SignedByOperator {}
