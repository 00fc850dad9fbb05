//! Certificates of a member that the operator signs. The key never leaves the
//! member's volume: the agent makes it and asks in `status`, the operator signs
//! and answers in `spec`.

use crate::ids::{ClientAddress, PodUid};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use serde::{Deserialize, Serialize};

/// What a certificate is for. Each has authorities of its own.
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
pub enum Purpose {
    /// Clients (port 9042).
    #[default]
    Client,
    /// The other members (port 7000).
    Internode,
}

impl Purpose {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Client, Self::Internode];

    /// The name of its field, and what the names of its authorities begin with.
    pub fn name(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Internode => "internode",
        }
    }
}

/// Most addresses under which clients find a member: the one that its server announces, and the one
/// that it will after its next start.
pub const MOST_CLIENT_ADDRESSES: usize = 2;

/// Certificates that the operator signs for a member.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct MemberTls {
    /// For clients (port 9042).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<MemberCertificate>,
    /// For the other members (port 7000).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub internode: Option<MemberCertificate>,
}

impl MemberTls {
    /// The one for this purpose.
    pub fn of(&self, purpose: Purpose) -> Option<&MemberCertificate> {
        match purpose {
            Purpose::Client => self.client.as_ref(),
            Purpose::Internode => self.internode.as_ref(),
        }
    }
}

/// A certificate that is ordered, and later signed.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct MemberCertificate {
    /// The authority that signs: SHA-256 of its certificate. The agent makes a new key for another one.
    #[schemars(length(max = 64))]
    pub authority: String,
    /// The authorities that are trusted (PEM): by clients, or by the other members.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = 16384))]
    pub trust: String,
    /// SHA-256 of the request that `certificate` answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 64))]
    pub request: Option<String>,
    /// Address that `certificate` names besides the member's names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 64))]
    pub address: Option<String>,
    /// Addresses under which clients find the member that `certificate` names besides.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = MOST_CLIENT_ADDRESSES), inner(length(max = 64)))]
    pub client_addresses: Vec<ClientAddress>,
    /// The certificate (PEM). Absent until the operator has signed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 8192))]
    pub certificate: Option<String>,
    /// When the operator signed it, by its own clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signed_at: Option<Time>,
    /// When it expires. The operator renews it when two thirds of its life are over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_after: Option<Time>,
}

/// What an agent asks the operator to sign, and what it has.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct MemberTlsStatus {
    /// For clients (port 9042).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<CertificateStatus>,
    /// For the other members (port 7000).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub internode: Option<CertificateStatus>,
}

impl MemberTlsStatus {
    /// The one for this purpose.
    pub fn of(&self, purpose: Purpose) -> Option<&CertificateStatus> {
        match purpose {
            Purpose::Client => self.client.as_ref(),
            Purpose::Internode => self.internode.as_ref(),
        }
    }
}

/// Most authorities that are trusted for one purpose at a time: one that is rotated while its
/// successor is known already, the new one, those of a ring that was made anew, and those of
/// other datacenters.
pub const MOST_TRUSTED: usize = 12;

/// A request for a certificate, and what became of it on the volume.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct CertificateStatus {
    /// The authority that it asks: SHA-256 of its certificate.
    #[schemars(length(max = 64))]
    pub authority: String,
    /// The request (PKCS#10, PEM), signed with the key of the member.
    #[schemars(length(max = 4096))]
    pub request: String,
    /// uid of the pod that asks.
    #[serde(rename = "podUID")]
    pub pod_uid: PodUid,
    /// SHA-256 of the certificate on the volume.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 64))]
    pub stored: Option<String>,
    /// When that one expires.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_after: Option<Time>,
    /// The authorities whose certificates the server takes for certain: SHA-256 of each. What has changed counts after eleven minutes, as servers look every ten.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("maxItems" = MOST_TRUSTED))]
    pub trusts: Vec<String>,
    /// The authority of the certificate that the server shows: SHA-256 of its certificate. The former one for eleven minutes after a change; absent while it is not certain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 64))]
    pub issuer: Option<String>,
    /// Why the certificate of `spec.tls` was not stored. Absent if nothing is wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<CertificateProblem>,
}

/// Why an agent does not take a certificate.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct CertificateProblem {
    /// What it is.
    pub kind: CertificateProblemKind,
    /// The cause, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// Kinds of [`CertificateProblem`].
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
pub enum CertificateProblemKind {
    /// By the clock of the node it is not valid yet.
    NotYetValid,
    /// By the clock of the node it has expired.
    Expired,
    /// It is not of the key, of the authority or for the names that it should be.
    Refused,
    /// The volume does not take key or certificate.
    NotStored,
    /// What a newer agent reports and this build does not know. Never a value of the schema.
    #[serde(other)]
    #[schemars(skip)]
    Unknown,
}
