//! Who may speak to a ring, and how: authentication of its clients and of the
//! agents, and TLS.

use crate::rules::security as rules;
use kube_derive::KubeSchema;
use serde::{Deserialize, Serialize};

/// Authentication of clients, people and agents.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Auth {
    /// `Password`: servers ask for a user and a password (PasswordAuthenticator, CassandraAuthorizer, CassandraRoleManager). The agents use the Secret `<cluster>-agents`. `Off`: nobody is asked. A new ring without `auth` has `Password`; a ring that was created before Palladion had this default keeps `Off`: `status.security` shows which.
    pub mode: AuthMode,
    /// Secret of type `kubernetes.io/basic-auth` with the superuser for people, whose role is created together with that of the agents. Default: `<cluster>-superuser`, which the operator creates for a new ring if it does not exist. Later changes of this Secret change nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub superuser_secret_name: Option<String>,
}

/// Whether servers ask who is there.
#[derive(
    Serialize,
    Deserialize,
    schemars::JsonSchema,
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
)]
pub enum AuthMode {
    /// Nobody is asked.
    #[default]
    Off,
    /// User and password.
    Password,
}

/// What applies to a ring where `spec.auth` and `spec.tls` say nothing. It is settled when the
/// ring is new, so that no newer operator changes a ring that runs, and rises with what all
/// members run with: leaving out a field lowers nothing.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Settled {
    /// Where `spec.auth` is absent.
    #[serde(default)]
    pub auth: AuthMode,
    /// Where `spec.tls.client` is absent; the operator signs the certificates.
    #[serde(default)]
    pub client_tls: ClientTlsMode,
    /// Where `spec.tls.internode` is absent; the operator signs the certificates.
    #[serde(default)]
    pub internode_tls: InternodeTlsMode,
}

/// Authentication and TLS of a ring as they were settled when it was new.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct SecurityStatus {
    /// What applies where the spec says nothing.
    #[serde(default)]
    pub defaults: Settled,
    /// The Secrets with the users of agents and people that the operator has created, or found, before the ring was initialized. It never creates them again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 8))]
    pub secrets: Vec<String>,
}

/// TLS of a ring.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Tls {
    /// TLS between members (port 7000). A new ring without it has `Require`, with certificates that the operator signs; a ring that was created before Palladion had this default keeps `Off`: `status.security` shows which.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub internode: Option<InternodeTls>,
    /// TLS for clients (port 9042). A new ring without it has `Require`, with certificates that the operator signs; a ring that was created before Palladion had this default keeps `Off`: `status.security` shows which.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<ClientTls>,
}

/// TLS between members.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[x_kube(crates(kube_core = "::kube_core"))]
#[x_kube(
    validation = rules::internode_tls_has_certificates(),
    validation = rules::trust_needs_tls()
)]
#[serde(rename_all = "camelCase")]
pub struct InternodeTls {
    /// `Require`: members speak to each other with TLS alone, and each shows a certificate of this ring. `Accept`: they speak in the clear and take TLS. `Prefer`: they speak with TLS and take both. `Off`: in the clear. A ring that runs is taken there one step after the other, in this order and by one rolling restart each: `Off`, `Accept`, `Prefer`, `Require`; `status.internodeTls` shows the step.
    pub mode: InternodeTlsMode,
    /// Where keys and certificates come from. Required unless `mode` is `Off`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certificates: Option<InternodeCertificates>,
    /// Authorities of members of this ring that another CassandraCluster describes, or that run elsewhere: what they sign is accepted on port 7000 like a certificate of this cluster's own authority. Each side needs that of the other. At most 6. Servers read a change within ten minutes, without a restart. Not with `mode: Off`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(
        length(max = MOST_ADDITIONAL),
        extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"])
    )]
    pub additional_trust: Vec<AdditionalTrust>,
}

/// Most authorities of others that members trust.
pub const MOST_ADDITIONAL: usize = 6;

/// An authority of other members of the ring.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[x_kube(crates(kube_core = "::kube_core"))]
#[serde(rename_all = "camelCase")]
pub struct AdditionalTrust {
    /// What it is called here, such as the name of the other datacenter.
    #[schemars(length(min = 1, max = 48))]
    pub name: String,
    /// The certificate of the authority (PEM; one certificate, of an authority that may sign others). Another CassandraCluster has it in `status.authorities`, under the name that begins with `internode-`. Never a private key.
    #[x_kube(validation = rules::trust_is_one_certificate())]
    #[schemars(length(min = 1, max = 2048))]
    pub certificate: String,
}

/// How members speak to each other. Each can speak to those that are at most one step away.
#[derive(
    Serialize,
    Deserialize,
    schemars::JsonSchema,
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
)]
pub enum InternodeTlsMode {
    /// In the clear.
    #[default]
    Off,
    /// In the clear; TLS is taken.
    Accept,
    /// With TLS; others are taken.
    Prefer,
    /// With TLS alone.
    Require,
}

impl InternodeTlsMode {
    /// All, one step after the other.
    pub const STEPS: [Self; 4] = [Self::Off, Self::Accept, Self::Prefer, Self::Require];

    /// As the API writes it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Off => "Off",
            Self::Accept => "Accept",
            Self::Prefer => "Prefer",
            Self::Require => "Require",
        }
    }

    /// The one that the API writes so.
    pub fn read(text: &str) -> Option<Self> {
        Self::STEPS.into_iter().find(|mode| mode.as_str() == text)
    }

    /// One step further.
    #[must_use]
    pub fn next(self) -> Self {
        Self::STEPS.into_iter().find(|mode| *mode > self).unwrap_or(self)
    }

    /// One step back.
    #[must_use]
    pub fn previous(self) -> Self {
        Self::STEPS.into_iter().rev().find(|mode| *mode < self).unwrap_or(self)
    }
}

/// Where keys and certificates of members come from, for each other.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct InternodeCertificates {
    /// The operator signs: each member makes a key of its own on its volume, and the operator keeps an authority for the members of this ring alone. It signs for nobody else: no client of the ring can speak to port 7000.
    pub operator: SignedByOperator,
}

/// TLS for clients.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[x_kube(crates(kube_core = "::kube_core"))]
#[x_kube(validation = rules::client_tls_has_certificates())]
#[serde(rename_all = "camelCase")]
pub struct ClientTls {
    /// `Require`: clients connect with TLS. `Optional`: with TLS or without. `Off`: without.
    pub mode: ClientTlsMode,
    /// Where key and certificate come from. Required unless `mode` is `Off`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certificates: Option<CertificateSource>,
}

/// Whether clients use TLS.
#[derive(
    Serialize,
    Deserialize,
    schemars::JsonSchema,
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
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
